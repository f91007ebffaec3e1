"""The environment variables of the caller that reach a toolchain, and what of them its results depend on.

A toolchain sees those that say where its tools are and what code it is to make; results depend on them, so they are part of every
result's key, and for a path that of the file it leads to. It does not see those that would turn a compile into something else, or
that the worker sets itself. Which is which is said by the toolchain, for every variable that a release of it reads.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from compat import toolchains
from compat.toolchains import Toolchain

_ANY_PROGRAM = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "USER", "LOGNAME")
"""What any program may want. No result depends on it."""


def passed_on(toolchain: Toolchain | None = None) -> dict[str, str]:
    """The environment variables that a toolchain sees of the caller's; without one, those that some toolchain sees.

    Paths hold from any folder.
    """
    here = dict(os.environ)  # looking up each name costs more
    found: dict[str, str] = {name: here[name] for name in _ANY_PROGRAM if name in here}
    for each in [toolchain] if toolchain else toolchains.every():
        reads = each.variables
        found |= {name: here[name] for name in (*reads.files, *reads.folders, *reads.settings) if name in here}
        found |= {name: os.path.abspath(found[name]) for name in reads.files if name in found and os.path.exists(found[name])}
    return found


def settings(toolchain: Toolchain) -> dict[str, str]:
    """Those of them that say which code is to be made, and mean the same on every machine."""
    return {name: os.environ[name] for name in toolchain.variables.settings if name in os.environ}


def dependencies(toolchain: Toolchain, backend: str) -> dict[str, str]:
    """What of the caller's variables, and of the files they lead to, a result of this backend (``cuda``, ``hip``) depends on."""
    reads = toolchain.variables
    found = {name: value for name, value in passed_on(toolchain).items() if name not in _ANY_PROGRAM}
    paths = [path for name in reads.files if name in found for path in found[name].split(os.pathsep)]
    paths += reads.programs.get(backend, ())
    return found | {path: digest for path in paths if (digest := _digest(path))}


def _digest(path: str) -> str | None:
    """A hash over a file's content; ``None`` where there is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return _digest_of(path, status.st_ino, status.st_size, status.st_mtime_ns) if Path(path).is_file() else None


@lru_cache
def _digest_of(path: str, *_stamp: int) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
