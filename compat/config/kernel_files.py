"""Kernel files (``kernels/*.toml``): the specializations of a kernel, as data beside its source. This is their only reader.

Each file is one kernel, or several, as ``[[kernel]]`` tables that take what they do not say from the top of the file. Tables are
merged, file ← kernel ← variant ← case, into one :class:`~compat.model.Specialization` per variant and case
(:mod:`compat.config.declared_kernel`). The source is read as text (see :mod:`compat.source.closure`), never imported.
:mod:`compat.config.kernel_writer` writes such files.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from compat.config.argument_tables import check_hints
from compat.config.declared_kernel import SHARED_KEYS, DeclaredKernel
from compat.config.named_tables import named
from compat.config.toml_reader import Table, did_you_mean, read_toml
from compat.errors import ConfigError
from compat.model import Specialization
from compat.patterns import lazy_pattern

_SUFFIXES = (".py", ".toml")
"""How the files are called that kernels are named by."""
_DECLARES = lazy_pattern(r"^\s*(kernel\s*=|\[\[\s*kernel\s*\]\])", re.MULTILINE)
"""What a TOML file in a folder has that is a kernel file."""


def is_file(word: str) -> bool:
    """Whether a word names files of kernels: it is called like one, or there is such a file or folder."""
    return word.partition(":")[0].endswith(_SUFFIXES) or os.path.exists(word)


def load_kernels(
    patterns: Sequence[str],
    base: Path,
    *,
    where: str | None = "matrix.toml: kernels",
    on_bad: Callable[[ConfigError], None] | None = None,
    of: Collection[Path] | None = None,
) -> tuple[Specialization, ...]:
    """Read the kernel files that the paths or globs name, relative to ``base``; in the order of the patterns, then of the names.

    Of a folder those are read that lie in it; ``of`` leaves only kernels of these sources, which are real paths.
    ``where`` is where the patterns were written, for
    errors, ``None`` for arguments of a command. Raises ConfigError; for a file that is wrong only where ``on_bad`` is not there to
    hear of it, and the others are read.
    """
    specs: list[Specialization] = []
    owners: dict[str, str] = {}
    for path in kernel_paths(patterns, base, where):
        try:
            kernels = kernels_of(read_toml(path, base), path)
            read_here = [(kernel, kernel.specializations()) for kernel in kernels if of is None or kernel.is_of(of)]
            for read, _ in read_here:
                if read.kernel in owners:
                    read.own.fail(f"the kernel {read.kernel!r} is already declared in {owners[read.kernel]}", read.named_by)
        except ConfigError as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        owners |= {read.kernel: read.own.file for read, _ in read_here}
        specs += [spec for _, declared in read_here for spec in declared]
    return tuple(specs)


def kernel_paths(patterns: Sequence[str], base: Path, where: str | None) -> tuple[Path, ...]:
    """The kernel files that paths, folders or globs name, each once; ``where`` as in :func:`load_kernels`. Raises ConfigError."""
    paths: dict[Path, None] = {}
    for index, pattern in enumerate(patterns):
        matches = [Path(base, match) for match in sorted(glob.glob(pattern, root_dir=base, recursive=True))]
        matching = [path for match in matches for path in (kernel_files_in(match) if match.is_dir() else [match])]
        if not matching:
            hint = did_you_mean(pattern, _sources_beside(base / pattern, base)) or f"Looked from {base}."
            place = None if where is None else f"{where}[{index}]"
            raise ConfigError(f"no kernel file matches {pattern!r}", where=place, hint=hint)
        paths.update(dict.fromkeys(matching))
    return tuple(paths)


def kernels_of(top: Table, path: Path) -> tuple[DeclaredKernel, ...]:
    """The kernels that the kernel file at ``path`` declares, which says this; no source is looked at yet. Raises ConfigError."""
    if not isinstance(top.data.get("kernel"), list):
        return (DeclaredKernel.of(top, path=path),)
    top.only("schema", "kernel", *SHARED_KEYS)
    if not top.data["kernel"]:
        top.fail("declares no kernel", "kernel", hint='Say kernel = "name", or one [[kernel]] for each of several.')
    tables = named(top, "kernel").values()
    kernels = tuple(DeclaredKernel.of(table, top, path=path) for table in tables)
    arguments: dict[str, frozenset[str]] = {}
    for kernel in kernels:
        arguments |= {name: arguments.get(name, types) | types for name, types in kernel.arguments.items()}
    check_hints(top, arguments, of="this file")
    return kernels


def kernel_files_in(folder: Path) -> list[Path]:
    """The kernel files that lie in a folder, by name."""
    return sorted(path for path in folder.glob("*.toml") if _declares_kernels(path))


def _declares_kernels(path: Path) -> bool:
    try:
        return _DECLARES.search(path.read_text(encoding="utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return False


def _sources_beside(path: Path, base: Path) -> list[str]:
    """What may have been meant by the path of a file that is not there."""
    beside = (source for suffix in ("*.toml", "*.py") for source in path.parent.glob(suffix))
    return [os.path.relpath(source, base) for source in beside]
