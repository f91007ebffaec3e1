"""The Python sources that a path, a glob or a folder stands for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from compat import toolchains
from compat.config.kernel_files import paths_of
from compat.config.toml import did_you_mean

_SUFFIX = ".py"
_SEPARATOR = "::"
_SKIPPED = {
    "site-packages",
    "build",
    "dist",
    "node_modules",
    "__pycache__",
    "tests",
    "test",
    "venv",
    "env",
    "repro",
    "reduced",
    "captured",
}
"""Folders that are not searched for sources. Hidden folders and virtual environments are not
searched either. `compat` writes the last three.
"""
_OF_A_PROJECT = (".git", "pyproject.toml", "setup.py", "setup.cfg", "matrix.toml")
"""Files and folders that mark the top folder of a project."""
_MOST_IN_PROJECT = 5000
"""The most sources that are read below the top of a project. A home folder may have such a mark,
too.
"""


def split(pattern: str) -> tuple[str, str | None]:
    """Return path and function of a text such as ``a.py::kernel``; ``None`` without a function."""
    path, _, function = pattern.partition(_SEPARATOR)
    return path, function or None


def sources(path: str, base: Path) -> list[Path]:
    """Return the sources for a path, glob or folder, by name; empty if there are none."""
    return list(
        dict.fromkeys(
            source
            for place in sorted(paths_of(path, base))
            for source in (_below(place) if place.is_dir() else [place])
        )
    )


def project_sources(paths: Iterable[Path]) -> list[Path]:
    """Return sources with kernels from the projects that ``paths`` belong to.

    They are the sources in the same folders, below the folder of the package, and below that of the
    project. Of a package or project, only the first 5,000 sources are read.
    """
    below = cache(lambda top: tuple(_below(top, _MOST_IN_PROJECT)))  # of all folders of a project
    beside_or_below: dict[Path, None] = {}
    for folder in dict.fromkeys(path.absolute().parent for path in paths):
        above = (folder, *folder.parents)
        project = next(
            (folder for folder in above if any((folder / name).exists() for name in _OF_A_PROJECT)),
            None,
        )
        package = next(
            (folder for folder in above if not (folder / "__init__.py").exists()), folder
        )
        tops = (*above[: above.index(package)][-1:], *((project,) if project else ()))
        beside = (path for path in sorted(folder.glob(f"*{_SUFFIX}")) if _may_have_kernels(path))
        beside_or_below |= dict.fromkeys(
            path for group in (beside, *map(below, tops)) for path in group
        )
    return list(beside_or_below)


def where_else(path: str, base: Path) -> str:
    """Return a hint for a path without a source: similar names, or the searched folder."""
    source, colon, function = path.partition(f"{_SUFFIX}:")
    if colon and function:
        return (
            f"Did you mean {source}{_SUFFIX}{_SEPARATOR}{function}? Put two colons before the name"
            " of a kernel."
        )
    name = Path(path).name
    beside = (source_path.name for source_path in Path(base, path).parent.glob(f"*{_SUFFIX}"))
    return did_you_mean(name, beside) or f"Searched in {base}."


def _below(folder: Path, most: int | None = None) -> Iterator[Path]:
    """Yield the sources below a folder that may have kernels, by name.

    Only the first ``most`` sources are read; ``None`` sets no limit.
    """
    return filter(_may_have_kernels, islice(_all_below(folder), most))


def _all_below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(here, name)))
        yield from (Path(here, name) for name in sorted(files) if name.endswith(_SUFFIX))


def _is_skipped(folder: Path) -> bool:
    return (
        folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").exists()
    )


def _may_have_kernels(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return any(mark in content for mark in _marks())


@cache
def _marks() -> tuple[bytes, ...]:
    """Return the words that mark a source with kernels, one for each toolchain."""
    return tuple(
        guessing.mark
        for toolchain in toolchains.every()
        if (guessing := toolchain.language.guessing)
    )
