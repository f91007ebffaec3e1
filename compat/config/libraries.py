"""Libraries of the package index in several versions, named by ``--package``, and their kernels.

An example is ``fla-core==0.4.0,0.6.0``. Kernel files with kernels of a library are read as if they
named another version of it. The arguments that a kernel is compiled with stay unchanged. A kernel
that a version does not have, or that takes other arguments there, is left out and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compat.config.kernel_files import ONLY_VARIANT, kernel_paths, kernels_of
from compat.config.toml import Table, read_toml
from compat.envs.libraries import is_pinned, newest_of_minors, normal, released_versions
from compat.errors import ConfigError, EnvError, IndexUnavailable, SelectionError
from compat.model import Specialization
from compat.text import JsonMapping, lazy_pattern, split_at_commas

OPTION = "--package"
_NAME = lazy_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_HINT = "Give a name, or a name and versions: fla-core==0.4.0,0.6.0."


@frozen(kw_only=True, order=False)
class LibraryVersions:
    """One version of a library."""

    name: str
    """The name in the form in which the package index compares names: ``fla-core``."""
    version: str

    @property
    def requirement(self) -> str:
        """The requirement for kernel files and installers: ``fla-core==0.6.0``."""
        return f"{self.name}=={self.version}"

    @property
    def variant(self) -> str:
        """The name of the variant for this version, such as ``fla-core-0.6.0``."""
        return f"{self.name}-{self.version}"

    @classmethod
    def of(cls, requirement: str) -> LibraryVersions | None:
        """The library that a requirement names with a version; ``None`` for other requirements."""
        name, equal, version = (part.strip() for part in requirement.partition("=="))
        if not equal or not name:
            return None
        return cls(name=canonicalize_name(name.partition("[")[0]), version=version)


def libraries_named(texts: Sequence[str]) -> tuple[LibraryVersions, ...]:
    """The libraries that these texts mean, each once.

    A text is a name, perhaps with versions. Further versions and names follow after commas. A name
    alone means the newest release of the package index.

    Raises:
        SelectionError: A text is invalid.
        EnvError: The index has no such library, or is not asked.
        IndexUnavailable: The index does not answer.
    """
    libraries: dict[LibraryVersions, None] = {}
    for text in texts:
        name = ""
        for word in split_at_commas([text]):
            before_equal, equal, after = (part.strip() for part in word.partition("=="))
            if equal:
                name, version = _name(before_equal, text), _version(after, text)
            elif name and not _is_name(word):
                version = _version(word, text)
            else:
                name = _name(word, text)
                version = _newest(name, text)
            libraries[LibraryVersions(name=name, version=version)] = None
    return tuple(libraries)


def _is_name(word: str) -> bool:
    """Whether a word after a comma names another library instead of a further version."""
    with suppress(InvalidVersion):
        Version(word)
        return False
    return word[0].isalpha()


def _name(word: str, text: str) -> str:
    if not _NAME.fullmatch(word):
        raise SelectionError(
            f"{word!r} is not the name of a package", where=f"{OPTION} {text}", hint=_HINT
        )
    return canonicalize_name(word)


def _newest(name: str, text: str) -> str:
    """The newest version of a library in the package index."""
    try:
        (newest,) = newest_of_minors(released_versions(name), 1)
    except IndexUnavailable:
        raise
    except EnvError as error:
        hint = f"Check the name, or give a version: {name}==VERSION."
        raise EnvError(str(error), where=f"{OPTION} {text}", hint=hint) from error
    return str(newest)


def _version(word: str, text: str) -> str:
    try:
        return str(Version(word))
    except InvalidVersion:
        raise SelectionError(
            f"{word!r} is not a version", where=f"{OPTION} {text}", hint=_HINT
        ) from None


@frozen(kw_only=True)
class MissingKernel:
    """A declared kernel that a version of a library does not have in that form, and the reason."""

    library: LibraryVersions
    kernel: str
    why: str


@frozen(kw_only=True)
class AtVersions:
    """The kernels of kernel files for some versions of libraries."""

    specs: tuple[Specialization, ...]
    absent: tuple[MissingKernel, ...]


def load_at_versions(
    patterns: Sequence[str],
    base: Path,
    libraries: Sequence[LibraryVersions],
    *,
    where: str | None = None,
    unpack: Callable[[str], Path],
) -> AtVersions:
    """The kernels of these libraries in kernel files, once for each version, as variants.

    All other kernels are left out. ``unpack`` unpacks a library. Raises ConfigError for a file that
    cannot be read as a kernel file with any version.
    """
    sources: dict[tuple[LibraryVersions, str], _SourceAtVersion] = {}
    for path in kernel_paths(patterns, base, where):
        table = read_toml(path, base)
        names = {named.name for inner in _tables(table.data) if (named := _library(inner))}
        for library in libraries:
            if library.name in names:
                for source in _of_library(table, path, library, unpack):
                    earlier = sources.get((library, source.kernel))
                    if earlier is None or source.rank > earlier.rank:
                        sources[library, source.kernel] = source
    return AtVersions(
        specs=tuple(spec for source in sources.values() for spec in source.specs),
        absent=tuple(
            MissingKernel(library=library, kernel=name, why=source.why)
            for (library, name), source in sources.items()
            if source.why
        ),
    )


@frozen(kw_only=True)
class _SourceAtVersion:
    """The specializations of one kernel file for one kernel and one version."""

    kernel: str
    specs: tuple[Specialization, ...] = ()
    why: str = ""
    """Why there are none."""
    is_own: bool = False
    """Whether the kernel file names exactly this version."""

    @property
    def rank(self) -> tuple[bool, bool]:
        """The rank of a kernel file among those with the same kernel.

        A file whose kernel exists ranks higher, then a file that names this version.
        """
        return bool(self.specs), self.is_own


def _of_library(
    table: Table, path: Path, library: LibraryVersions, unpack: Callable[[str], Path]
) -> Iterator[_SourceAtVersion]:
    moved = evolve(table, data=_replace_version(table.data, library))
    is_own = moved.data == table.data
    for kernel in kernels_of(moved, path, unpack):
        try:
            declared = kernel.specializations()
        except ConfigError as error:
            yield _SourceAtVersion(
                kernel=kernel.kernel, why=str(error).removeprefix(f"{error.where}: "), is_own=is_own
            )
            continue
        specs = tuple(
            _as_variant(spec, library) for spec in declared if spec.package == library.requirement
        )
        if specs:
            yield _SourceAtVersion(kernel=kernel.kernel, specs=specs, is_own=is_own)


def _as_variant(spec: Specialization, library: LibraryVersions) -> Specialization:
    variant = (
        library.variant if spec.variant == ONLY_VARIANT else f"{spec.variant}-{library.variant}"
    )
    return evolve(spec, variant=variant)


def library_requirements(patterns: Sequence[str], base: Path) -> tuple[str, ...]:
    """The libraries, each with its version, that kernel files name in ``package`` or ``install``.

    Raises ConfigError for a file that is not TOML.
    """
    requirements = (
        requirement
        for path in kernel_paths(patterns, base, where=None)
        for requirement in _requirements(read_toml(path, base).data)
        if is_pinned(requirement)
    )
    return tuple(dict.fromkeys(map(normal, requirements)))


def _requirements(data: JsonMapping) -> Iterator[str]:
    for table in _tables(data):
        install = table.get("install")
        named = [table.get("package"), *(install if isinstance(install, list) else ())]
        yield from (text for text in named if isinstance(text, str))


def _tables(data: object) -> Iterator[JsonMapping]:
    """A table and its inner tables."""
    if isinstance(data, Mapping):
        yield data
        data = list(data.values())
    for item in data if isinstance(data, list) else ():
        yield from _tables(item)


def _library(table: JsonMapping) -> LibraryVersions | None:
    """The library that a table names in ``package``; ``None`` without one."""
    package = table.get("package")
    return LibraryVersions.of(package) if isinstance(package, str) else None


def _replace_version(data: Any, library: LibraryVersions) -> Any:
    """A copy of the data with this version of the library instead of any other."""
    if isinstance(data, list):
        return [_replace_version(item, library) for item in data]
    if not isinstance(data, Mapping):
        return data
    moved = {key: _replace_version(item, library) for key, item in data.items()}
    named = _library(data)
    return (
        {**moved, "package": library.requirement} if named and named.name == library.name else moved
    )
