"""Kernel files whose kernels are of a library, read as if they named another version of it.

The arguments that a kernel is compiled with stay as they are. A kernel that a version does not have, or that takes others there, is
left out, and told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from compat.config.declared_kernel import ONLY_VARIANT
from compat.config.kernel_files import kernel_paths, kernels_of
from compat.config.libraries import Library
from compat.config.toml_reader import Table, read_toml
from compat.errors import ConfigError
from compat.model import Specialization


@frozen(kw_only=True)
class Absent:
    """A kernel that a version of a library does not have as it is declared."""

    library: Library
    kernel: str
    why: str


@frozen(kw_only=True)
class AtVersions:
    """What kernel files come to for some versions of libraries."""

    specs: tuple[Specialization, ...]
    absent: tuple[Absent, ...]


def load_at_versions(
    patterns: Sequence[str],
    base: Path,
    libraries: Sequence[Library],
    *,
    failure_classes: Collection[str] = (),
    where: str | None = None,
) -> AtVersions:
    """The kernels of these libraries that kernel files declare, once for each version, as variants; all others are left out.

    What is no kernel file that can be read, whatever the version, is a ConfigError.
    """
    specs: list[Specialization] = []
    absent: list[Absent] = []
    for path in kernel_paths(patterns, base, where):
        table = read_toml(path, base)
        for library in libraries:
            if library.name in _names(table.data):
                for found in _of_library(table, path, library, failure_classes):
                    (specs if isinstance(found, Specialization) else absent).append(found)  # type: ignore[arg-type]
    return AtVersions(specs=tuple(specs), absent=tuple(absent))


def _of_library(table: Table, path: Path, library: Library, failure_classes: Collection[str]) -> Iterator[Specialization | Absent]:
    moved = evolve(table, data=_moved(table.data, library))
    for kernel in kernels_of(moved, path, failure_classes):
        try:
            declared = kernel.specializations()
        except ConfigError as error:
            why = str(error).removeprefix(f"{error.where}: ")
            yield Absent(library=library, kernel=kernel.kernel, why=why)
            continue
        yield from (_as_variant(spec, library) for spec in declared if spec.package == library.requirement)


def _as_variant(spec: Specialization, library: Library) -> Specialization:
    variant = library.variant if spec.variant == ONLY_VARIANT else f"{spec.variant}-{library.variant}"
    return evolve(spec, variant=variant)


def _names(data: object) -> Iterator[str]:
    """The names of the libraries that a table speaks of."""
    if isinstance(data, Mapping):
        said = data.get("package")
        if isinstance(said, str) and (library := Library.of(said)):
            yield library.name
        for each in data.values():
            yield from _names(each)
    elif isinstance(data, list):
        for each in data:
            yield from _names(each)


def _moved(data: Any, library: Library) -> Any:
    """The same with this version in the place of any other one of the library."""
    if isinstance(data, list):
        return [_moved(each, library) for each in data]
    if not isinstance(data, Mapping):
        return data
    found = {key: _moved(each, library) for key, each in data.items()}
    said = data.get("package")
    named = Library.of(said) if isinstance(said, str) else None
    return {**found, "package": library.requirement} if named and named.name == library.name else found
