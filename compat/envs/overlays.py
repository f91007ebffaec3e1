"""Releases of a toolchain that go before the one that an env has: each in a folder of its own, for ``sys.path``.

::

    ~/.cache/triton-compat/envs/overlays/
        triton-3.6.0-cp311/         the release and what it needs, without their dependencies

So one env with a PyTorch, which is large, serves every release.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from compat.envs import locks
from compat.envs.cache import EnvCache
from compat.envs.installers import InstallFailed, install_into
from compat.errors import EnvError
from compat.files import replace_file

_DONE = "overlay.txt"
"""The file in a folder that is whole: what is in it, one requirement a line."""
_DEADLINE = 600.0
"""Seconds that an installer may take."""


@frozen(kw_only=True)
class Overlay:
    """A release in a folder."""

    folder: Path
    digest: str
    """One hash over all that is in it."""


def overlaid(requirements: Sequence[str], python: str, python_version: str, cache: EnvCache) -> Overlay:
    """The folder with these requirements, the release first, for an interpreter; they are installed where they are not there yet.

    Raises EnvError with the installer's words.
    """
    minor = "".join(python_version.split(".")[:2])
    name = f"{re.sub(r'[^A-Za-z0-9.]+', '-', requirements[0])}-cp{minor}"
    folder, wanted = cache.folder / "overlays" / name, "".join(f"{requirement}\n" for requirement in requirements)
    if not _is_whole(folder, wanted):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with locks.exclusive(folder.with_name(f".{folder.name}.lock")):
                if not _is_whole(folder, wanted):
                    _make(folder, requirements, wanted, python)
        except OSError as error:
            raise EnvError(f"{requirements[0]} cannot be installed: {error.strerror or error}", where=str(folder)) from error
    return Overlay(folder=folder, digest=_digest(folder))


def _is_whole(folder: Path, wanted: str) -> bool:
    try:
        return (folder / _DONE).read_text(encoding="utf-8") == wanted
    except OSError:
        return False


def _make(folder: Path, requirements: Sequence[str], wanted: str, python: str) -> None:
    making = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        _install(requirements, making, python)
        replace_file(making / _DONE, wanted)
        making.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _install(requirements: Sequence[str], target: Path, python: str) -> None:
    try:
        install_into(target, requirements, python, deadline=_DEADLINE)
    except TimeoutError:
        hint = "Is the package index reachable?"
        raise EnvError(f"{requirements[0]} could not be had within {_DEADLINE:g} s", hint=hint) from None
    except InstallFailed as error:
        raise EnvError(f"{requirements[0]} cannot be installed: {' '.join(str(error).split())[-600:]}") from None


def _digest(folder: Path) -> str:
    """A hash over the RECORD of each distribution, which has those of its files."""
    records = sorted(folder.glob("*.dist-info/RECORD"))
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in records)).hexdigest()
