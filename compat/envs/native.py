"""C libraries that are built once and stored in the cache, and the C compiler that builds them.

An example is the library that replaces a GPU driver. The compiler is the machine's, or one from the
package index.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from compat.envs.cache import EnvCache
from compat.envs.libraries import unpack_library
from compat.errors import EnvError
from compat.files import replace_file
from compat.processes.supervisor import run
from compat.text import text_digest

_log = logging.getLogger(__name__)
ZIG = "ziglang==0.13.0"
"""The compiler for a machine without a C compiler: one program without dependencies."""
_BUILD_DEADLINE = 300.0
"""Seconds that a build may take. A new zig builds its own libraries first."""
_COMPILERS = ("cc", "gcc", "clang")


def machine_compiler(environ: Mapping[str, str] = os.environ) -> str | None:
    """The path of the C compiler of ``$CC``, or of one on ``PATH``; ``None`` if there is none.

    The program accepts gcc's arguments.
    """
    for name in filter(None, (environ.get("CC"), *_COMPILERS)):
        if program := shutil.which(name, path=environ.get("PATH")):
            return program
    return None


def find_compiler(cache: EnvCache, environ: Mapping[str, str] = os.environ) -> str:
    """Return the path of the machine's compiler, or else of zig from the package index.

    Raises EnvError if zig cannot be installed, or the cache cannot be written.
    """
    if compiler := machine_compiler(environ):
        return compiler
    try:
        folder = unpack_library(ZIG)
    except EnvError as error:
        hint = (
            "Install gcc or clang, or name a compiler in $CC. Without one, triton-compat takes zig"
            " from the package index."
        )
        raise EnvError(
            f"there is no C compiler, and zig cannot be installed: {error}", hint=hint
        ) from error
    try:
        return str(_wrapper(folder, cache))
    except OSError as error:
        raise cache.build_error(error) from error


def _wrapper(folder: Path, cache: EnvCache) -> Path:
    """Return a script that runs zig as a C compiler, for callers that need one path as ``cc``.

    Raises OSError.
    """
    zig = folder / "ziglang" / "zig"
    path = cache.folder / "native" / f"cc-{text_digest(os.fspath(zig))[:12]}"
    caches = shlex.quote(os.fspath(path.with_name("zig-cache")))
    text = f"""#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR={caches} ZIG_LOCAL_CACHE_DIR={caches}
exec {shlex.quote(os.fspath(zig))} cc "$@"
"""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
        path.chmod(0o755)
    return path


def build_library(
    source: Path, name: str, also: Sequence[str], compiler: str, cache: EnvCache
) -> Path:
    """Return the folder with a shared library, and with links to it under the names in ``also``.

    The library is built from ``source`` if it is missing. The folder's name has a hash of source,
    compiler and platform. Raises EnvError with the compiler's message.
    """
    key = hashlib.sha256(
        b"\0".join((source.read_bytes(), compiler.encode(), sys.platform.encode()))
    ).hexdigest()[:16]
    folder = cache.folder / "native" / f"{source.stem}-{key}"
    if (folder / name).is_file() and all((folder / other).exists() for other in also):
        return folder
    with EnvError.for_os_errors(f"cannot build {source.name}", where=folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as making:
            library = Path(making) / name
            _compile(compiler, source, library, name)
            folder.mkdir(exist_ok=True)
            library.replace(folder / name)
        for other in also:
            _link(folder / other, name)
    return folder


def _link(path: Path, name: str) -> None:
    with suppress(FileExistsError):  # another command was quicker
        path.symlink_to(name)


def _compile(compiler: str, source: Path, output: Path, name: str) -> None:
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-w",
        f"-Wl,-soname,{name}",
        "-o",
        str(output),
        str(source),
    ]
    _log.info("%s", " ".join(command))
    ended = run(command, timeout=_BUILD_DEADLINE)
    if ended.exit_code is None:
        raise EnvError(f"{compiler} did not build {source.name} within {_BUILD_DEADLINE:g} s")
    if ended.exit_code != 0:
        message = " ".join(ended.output.split())[-600:]
        raise EnvError(
            f"{compiler} cannot build {source.name}: {message}",
            hint="Name another compiler in $CC.",
        )
