"""Where the source of a kernel is: ``source``, or ``module`` with ``path`` or ``package``, as kernel files say it.

A source that lies in a package is imported as a part of it, from the folder above. A library from the package index is unpacked in
a cache first (:mod:`compat.envs.libraries`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from compat.config.toml_reader import Table
from compat.envs import libraries
from compat.errors import EnvError
from compat.patterns import lazy_pattern
from compat.source.closure import LIBRARY, roots_of

KEYS = ("source", "module", "path", "package", "install")
"""What a kernel file or a variant says of its source."""
_MODULE = lazy_pattern(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_PINNED_HINT = 'For example "liger-kernel==0.6.4": another version is another kernel.'


@frozen(kw_only=True)
class Place:
    """A source file, and the folders that its absolute imports are looked for in."""

    source: Path
    roots: tuple[Path, ...]
    key: str
    """The key of the kernel file that says it, for errors."""
    package: str = ""
    """The requirement of the library that its module is looked for in; empty where there is none."""

    @property
    def said(self) -> tuple[str, ...]:
        """The roots, where they are not those that the source has by itself."""
        return () if self.roots == roots_of(self.source) else tuple(map(str, self.roots))


def place_of(tables: Sequence[Table], folder: Path, library: Callable[[str], Path] = libraries.unpacked) -> Place:
    """The source that the first of the tables that names one names: a variant's, else the kernel's. Raises ConfigError.

    ``folder`` is that of the kernel file; ``library`` unpacks a requirement.
    """
    table = next((table for table in tables if "source" in table or "module" in table), tables[-1])
    if "source" in table and "module" in table:
        table.fail("there are both a source and a module", "module", hint="One of them says where the kernel is.")
    if "module" in table:
        return _of_module(table, tables, folder, library)
    for key in ("path", "package"):
        if key in table:
            table.fail(f"{key!r} says where a module is looked for, and there is none", key, hint='Say module = "mylib.ops.act".')
    source = Path(os.path.realpath(folder / table.string("source")))
    if not os.path.isfile(source):  # which takes a name that no file system has, as well
        table.fail(f"there is no file {table.string('source')!r} next to this one", "source")
    roots = (*roots_of(source), *_installed(tables, folder, library))
    return Place(source=source, roots=tuple(dict.fromkeys(roots)), key="source")


def _of_module(table: Table, tables: Sequence[Table], folder: Path, library: Callable[[str], Path]) -> Place:
    module = table.string("module")
    if not _MODULE.fullmatch(module):
        table.fail(f"{module!r} is not the name of a module", "module", hint='For example "mylib.ops.act".')
    naming = next((candidate for candidate in tables if "path" in candidate or "package" in candidate), table)
    roots = tuple(dict.fromkeys((*_roots(naming, folder, library), *_installed(tables, folder, library))))
    package = naming.string("package", "")
    for root in roots:
        place = root.joinpath(*module.split("."))
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if os.path.isfile(file):
                return Place(source=file, roots=roots, key="module", package=package)
    searched = ", ".join(map(str, roots))
    return table.fail(f"there is no module {module!r}", "module", hint=f'Looked in {searched}; path = ["src"] names other folders.')


def _roots(table: Table, folder: Path, library: Callable[[str], Path]) -> tuple[Path, ...]:
    roots: list[Path] = []
    for index, name in enumerate(table.strings("path", () if "package" in table else (".",))):
        root = Path(os.path.realpath(folder / name))
        if not root.is_dir():
            table.fail(f"there is no folder {name!r} next to this file", f"path[{index}]")
        roots.append(root)
    if "package" in table:
        roots.append(_library(table, "package", table.string("package"), library))
    return tuple(roots)


def _installed(tables: Sequence[Table], folder: Path, library: Callable[[str], Path]) -> Iterator[Path]:
    """What ``install`` adds: folders as they are, and libraries without their dependencies."""
    table = next((table for table in tables if "install" in table), tables[-1])
    for index, requirement in enumerate(table.strings("install", ())):
        local = re.fullmatch(r"(?:-e\s+|--editable[=\s])?\s*((?:\.|/|~).*)|-e\s+(.+)", requirement)
        if local:
            yield _import_root(table, f"install[{index}]", folder / os.path.expanduser(local[1] or local[2]))
        else:
            yield _library(table, f"install[{index}]", requirement, library)


def _import_root(table: Table, key: str, project: Path) -> Path:
    """The folder of a project that its packages lie in: ``src``, where it has that."""
    root = Path(os.path.realpath(project))
    if not root.is_dir():
        table.fail(f"there is no folder {str(project)!r}", key)
    return root / "src" if (root / "src").is_dir() else root


def _library(table: Table, key: str, requirement: str, library: Callable[[str], Path]) -> Path:
    if not libraries.is_pinned(requirement):
        table.fail(f"{requirement!r} is not a name and a version", key, hint=_PINNED_HINT)
    try:
        return library(requirement)
    except EnvError as error:
        table.fail(str(error), key, hint=error.hint)


def requirement_of(root: Path) -> str | None:
    """The requirement that a library was unpacked for in a folder; ``None`` where it is another folder."""
    try:
        record = json.loads((root / LIBRARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(record["requirement"]) if isinstance(record, dict) and "requirement" in record else None
