"""A small library in C, built once: by the machine's compiler, else by one from the package index."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from compat.envs.cache import EnvCache
from compat.envs.libraries import unpacked
from compat.errors import EnvError
from compat.files import replace_file
from compat.processes.supervisor import run

_log = logging.getLogger(__name__)
ZIG = "ziglang==0.13.0"
"""What is fetched where the machine has no C compiler: one program with all that it needs."""
_DEADLINE = 300.0
"""Seconds that building may take: a compiler that was just fetched makes its libraries first."""
_NAMES = ("cc", "gcc", "clang")


@frozen(kw_only=True)
class Compiler:
    """A C compiler."""

    program: str
    """Its path; it takes the arguments that gcc takes."""
    fetched: bool = False
    """Whether it comes from the package index."""


def find_compiler(cache: EnvCache, environ: Mapping[str, str] = os.environ) -> Compiler:
    """The compiler that ``$CC`` names, or one on ``PATH``, else one that is fetched. Raises EnvError where none can be had."""
    for name in filter(None, (environ.get("CC"), *_NAMES)):
        if program := shutil.which(name, path=environ.get("PATH")):
            return Compiler(program=program)
    try:
        folder = unpacked(ZIG)
    except EnvError as error:
        hint = "Install one (gcc, clang), or name it in $CC; without one, it is fetched from the package index."
        raise EnvError(f"there is no C compiler, and none can be had: {error}", hint=hint) from error
    try:
        return Compiler(program=str(_wrapper(folder, cache)), fetched=True)
    except OSError as error:
        raise cache.refused(error) from error


def _wrapper(folder: Path, cache: EnvCache) -> Path:
    """A program that takes the place of ``cc``: others start it by its path alone."""
    zig = folder / "ziglang" / "zig"
    path = cache.folder / "native" / f"cc-{hashlib.sha256(os.fspath(zig).encode()).hexdigest()[:12]}"
    caches = path.with_name("zig-cache")
    text = f"""#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='{caches}' ZIG_LOCAL_CACHE_DIR='{caches}'
exec '{zig}' cc "$@"
"""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
        path.chmod(0o755)
    return path


def built_library(source: Path, name: str, also: Sequence[str], compiler: Compiler, cache: EnvCache) -> Path:
    """The folder that has a source built into a shared library of that name, and links to it of the other names.

    It is called by the hash of source and compiler, and built where it is not there. Raises EnvError with the compiler's words.
    """
    key = hashlib.sha256(b"\0".join((source.read_bytes(), compiler.program.encode(), sys.platform.encode()))).hexdigest()[:16]
    folder = cache.folder / "native" / f"{source.stem}-{key}"
    if (folder / name).is_file() and all((folder / other).exists() for other in also):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as making:
            made = Path(making) / name
            _compile(compiler, source, made, name)
            folder.mkdir(exist_ok=True)
            os.replace(made, folder / name)
        for other in also:
            _link(folder / other, name)
    except OSError as error:
        raise EnvError(f"{source.name} cannot be built: {error.strerror or error}", where=str(folder)) from error
    return folder


def _link(path: Path, name: str) -> None:
    with suppress(FileExistsError):  # another command was quicker
        path.symlink_to(name)


def _compile(compiler: Compiler, source: Path, made: Path, name: str) -> None:
    command = [compiler.program, "-shared", "-fPIC", "-O1", "-w", f"-Wl,-soname,{name}", "-o", str(made), str(source)]
    _log.info("%s", " ".join(command))
    ended = run(command, timeout=_DEADLINE)
    if ended.exit_code is None:
        raise EnvError(f"{compiler.program} did not build {source.name} within {_DEADLINE:g} s")
    if ended.exit_code != 0:
        message = " ".join(ended.output.split())[-600:]
        raise EnvError(f"{compiler.program} cannot build {source.name}: {message}", hint="$CC names another compiler.")
