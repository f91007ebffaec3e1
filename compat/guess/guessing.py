"""The kernels of Python sources: as kernel files describe them, or else guessed.

The reader of kernel files reads the guesses. A guess is equal to the file that ``compat init``
writes, so stored results stay valid after the file is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from attrs import evolve, frozen

from compat import interruption, toolchains
from compat.config.kernel_files import kernels_of
from compat.config.libraries import LibraryVersions
from compat.config.toml import SCHEMA, Table, did_you_mean, display_path, toml_text, without_notes
from compat.errors import ConfigError
from compat.files import replace_file
from compat.guess.finding import project_sources, sources, split, where_else
from compat.model import DEFAULT_TOOLCHAIN, ONLY_CASE, Specialization
from compat.source import closure
from compat.source.closure import SourceReader, module_of
from compat.source.parsing import text_of, tree_of
from compat.text import JsonObject, read_json
from compat.toolchains.language import GuessableModule, GuessedKernel, Guessing, UnreachableKernel

HELPER = "kernels call it, or it returns a value"
"""The reason why a jit function is not a kernel."""
_WORD = re.compile(rb"[\w\x80-\xff]+")


@frozen(kw_only=True)
class GuessedSource:
    """The guessed kernels of one source, for one toolchain."""

    path: Path
    toolchain: str = DEFAULT_TOOLCHAIN
    kernels: tuple[GuessedKernel, ...]
    helpers: tuple[str, ...]
    """Jit functions that are not kernels: they return something, or other jit functions call them.
    """
    unreachable: tuple[UnreachableKernel, ...]

    def left_out(self, base: Path) -> tuple[str, ...]:
        """Each jit function that cannot be compiled by itself, with its place and the reason."""
        path = display_path(self.path, base)
        return tuple(f"{path}:{jit.line} {jit.name}: {jit.why}" for jit in self.unreachable)


def guess_sources(
    paths: Sequence[Path],
    used_names: Collection[str] = (),
    others: Iterable[Path] = (),
    *,
    skip_unreadable: bool = False,
) -> tuple[GuessedSource, ...]:
    """Guess the arguments of the kernels in Python sources, without importing them.

    A guessed kernel has the name of its function. If that name is taken or occurs in two sources,
    the source's name is put before it.

    Args:
        paths: The sources.
        used_names: Kernel names that are in use.
        others: Further sources of the project. A jit function that they call is a helper, not a
            kernel.
        skip_unreadable: Leave out sources that cannot be read or parsed.

    Returns:
        One entry per source that has kernels.

    Raises:
        OSError: A source cannot be read.
        SyntaxError: A source cannot be parsed.
    """
    guessed: list[GuessedSource] = []
    names, callers = set(used_names), list(others)
    for toolchain in toolchains.every():
        if guessing := toolchain.language.guessing:
            read = {
                path: module
                for path in paths
                if toolchain.name == DEFAULT_TOOLCHAIN or guessing.is_mentioned_in(path)
                if (module := _module_of(path, guessing, skip_unreadable)) is not None
            }
            for path, module, kernels in _guess_modules(read, callers, guessing.read):
                free = [
                    evolve(kernel, name=_free_name(kernel.name, path, names)) for kernel in kernels
                ]
                functions = {kernel.function for kernel in kernels}
                guessed.append(
                    GuessedSource(
                        path=path,
                        toolchain=toolchain.name,
                        kernels=tuple(free),
                        helpers=tuple(name for name in module.functions if name not in functions),
                        unreachable=module.unreachable,
                    )
                )
                names |= {kernel.name for kernel in free}
    return tuple(guessed)


def _module_of(path: Path, guessing: Guessing, skip_unreadable: bool) -> GuessableModule | None:
    """Return the module of a source; ``None`` if it is unreadable and skipped."""
    interruption.check()
    try:
        return guessing.read(path)
    except (OSError, SyntaxError, RecursionError) as error:
        if skip_unreadable:
            return None
        if isinstance(error, SyntaxError):  # a parser knows at most the file's own name
            error.filename = display_path(path)
        raise


def _guess_modules(
    read: Mapping[Path, GuessableModule],
    others: Iterable[Path],
    reader: Callable[[Path], GuessableModule],
) -> Iterator[tuple[Path, GuessableModule, tuple[GuessedKernel, ...]]]:
    """Yield the modules with jit functions, and their kernels.

    A jit function that another one in ``read`` or ``others`` calls is no kernel, unless one of
    these modules also launches it.
    """
    modules = {
        path: module for path, module in read.items() if module.functions or module.unreachable
    }
    functions = {name for module in modules.values() for name in module.functions}
    callers = _naming(functions, others, {os.path.realpath(path) for path in read}, reader)
    every = (*read.values(), *callers)
    helpers = frozenset(name for module in every for name in module.called_names).difference(
        *(module.launched_names for module in every)
    )
    for path, module in modules.items():
        interruption.check()
        yield path, module, module.kernels(helpers, every)


def _naming(
    functions: Collection[str],
    paths: Iterable[Path],
    known_paths: Collection[str],
    reader: Callable[[Path], GuessableModule],
) -> Iterator[GuessableModule]:
    """Yield the modules of ``paths`` that mention one of these functions.

    It leaves out those in ``known_paths``, and those that cannot be read.
    """
    if not functions:
        return
    names = frozenset(name.encode() for name in functions)
    for path in paths:
        interruption.check()
        with suppress(OSError, SyntaxError, RecursionError):
            if os.path.realpath(path) not in known_paths and not names.isdisjoint(
                _WORD.findall(path.read_bytes())  # one pattern of all names takes 16 times as long
            ):
                yield reader(path)


def _free_name(name: str, path: Path, used_names: Collection[str]) -> str:
    """Return a name that no other kernel has, with names of file and folders put before it.

    Characters that the name of a kernel may not have become ``_``.
    """
    parts = [path.stem, *(parent.name for parent in path.parents)]
    candidate = _allowed(name)
    for part in parts:
        if candidate not in used_names:
            break
        candidate = f"{_allowed(part)}.{candidate}"
    return candidate


def _allowed(name: str) -> str:
    return re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII)


def kernel_file_text(
    kernels: Sequence[GuessedKernel],
    source: str,
    *,
    toolchain: str = DEFAULT_TOOLCHAIN,
) -> str:
    """Return the TOML text of a kernel file for guessed kernels.

    Args:
        kernels: Kernels of one source.
        source: Path of the source, relative to the kernel file.
        toolchain: Name of the toolchain.
    """
    return toml_text(_kernel_file(kernels, source, "", toolchain))


def _kernel_file(
    kernels: Sequence[GuessedKernel], source: str, package: str, toolchain: str
) -> dict[str, object]:
    place: dict[str, object] = (
        {"package": package, "module": source} if package else {"source": source}
    )
    place |= {"toolchain": toolchain} if toolchain != DEFAULT_TOOLCHAIN else {}
    roots = (
        dict.fromkeys(root for kernel in kernels for root in kernel.roots) if not package else {}
    )
    place |= {"install": [_folder(source, root) for root in roots]} if roots else {}
    documents = [{**_name_fields(kernel), **kernel.tables} for kernel in kernels]
    if len(documents) == 1:
        (only,) = documents
        return {"schema": SCHEMA, "kernel": only.pop("name"), **place, **only}
    return {"schema": SCHEMA, **place, "kernel": documents}


def _folder(source: str, root: str) -> str:
    """Return the path of a source's root from the kernel file."""
    folder = os.path.normpath(Path(source).parent / root)
    return folder if folder.startswith(("/", ".")) else f"./{folder}"


def _name_fields(kernel: GuessedKernel) -> JsonObject:
    function = {} if kernel.function == kernel.name else {"function": kernel.function}
    return {"name": kernel.name, **function}


# --- sources that a user names --------------------------------------------------------------------


def load_sources(
    patterns: Sequence[str],
    base: Path,
    used_names: Collection[str] = (),
    declared: Sequence[Specialization] = (),
    on_bad: Callable[[ConfigError], None] | None = None,
    on_left_out: Callable[[str], None] = lambda _: None,
) -> tuple[Specialization, ...]:
    """Return the kernels of the sources that paths, globs and folders name, relative to ``base``.

    Functions that kernel files describe keep their ``declared`` specializations. The arguments of
    the others are guessed, and their names are not in ``used_names``. Without patterns there are no
    kernels. ``on_bad`` gets the error of each source that cannot be parsed, which is left out.
    ``on_left_out`` gets the jit functions of whole sources that cannot be compiled by themselves.

    Raises ConfigError if a source cannot be read, or has no kernel. Without ``on_bad`` also if it
    cannot be parsed.
    """
    return (
        tuple(_kernels(patterns, base, used_names, declared, on_bad, on_left_out))
        if patterns
        else ()
    )


def _kernels(
    patterns: Sequence[str],
    base: Path,
    used_names: Collection[str],
    declared: Sequence[Specialization],
    on_bad: Callable[[ConfigError], None] | None,
    on_left_out: Callable[[str], None],
) -> Iterator[Specialization]:
    functions_by_path = _functions_by_source(patterns, base)
    if on_bad:
        for path in [*functions_by_path]:
            if error := find_parse_error(path):
                on_bad(error)
                del functions_by_path[path]
    described = {
        path: [spec for spec in declared if spec.source == os.path.realpath(path)]
        for path in functions_by_path
    }
    unguessed: dict[Path, frozenset[str] | None] = {}
    """Source → the functions to guess. ``None`` stands for all of its kernels that no kernel file
    describes.
    """
    for path, functions in functions_by_path.items():
        own = [spec for spec in described[path] if not functions or functions & _names_of(spec)]
        yield from own
        if not functions or (
            rest := functions - {name for spec in own for name in _names_of(spec)}
        ):
            unguessed[path] = rest if functions else None
    guessed = read_sources(list(unguessed), {*used_names, *(spec.kernel for spec in declared)})
    if unguessed and not any(source.kernels for source in guessed) and not any(described.values()):
        _no_kernel(guessed, ", ".join(patterns))
    _check_functions(unguessed, guessed, base)
    reader = SourceReader()
    for source in guessed:
        if unguessed[source.path] is None:
            for text in source.left_out(base):
                on_left_out(text)
        described_functions = frozenset(
            name for spec in described[source.path] for name in _names_of(spec)
        )
        yield from _specializations(
            source, base, unguessed[source.path], described_functions, reader
        )


def _check_functions(
    functions_by_path: Mapping[Path, frozenset[str] | None],
    guessed: Sequence[GuessedSource],
    base: Path,
) -> None:
    """Raise ConfigError if a source does not have a kernel that is named."""
    for path, functions in functions_by_path.items():
        here = [source for source in guessed if source.path == path]
        kernels = [kernel for source in here for kernel in source.kernels]
        available = [kernel.function for kernel in kernels]
        for name in (functions or frozenset()).difference(*(kernel.names for kernel in kernels)):
            _no_such_kernel(here, name, available, f"{display_path(path, base)}::{name}")


def _functions_by_source(patterns: Sequence[str], base: Path) -> dict[Path, frozenset[str]]:
    """Return source → its named functions, or an empty set for all kernels of the source.

    Raises ConfigError if a pattern matches no source.
    """
    functions_by_source: dict[Path, set[str | None]] = {}
    for pattern in patterns:
        path, function = split(pattern)
        paths = sources(path, base)
        if not paths and Path(base, path).is_dir():
            raise ConfigError(f"no Python source here mentions {languages()}", where=path)
        if not paths:
            raise ConfigError("no such file", where=path, hint=where_else(path, base))
        for source in paths:
            functions_by_source.setdefault(source, set()).add(function)
    return {
        path: frozenset() if None in names else frozenset(filter(None, names))
        for path, names in functions_by_source.items()
    }


def _names_of(spec: Specialization) -> frozenset[str]:
    """Return the names of a kernel's function in its source.

    The kernel may be an attribute (``Holder.kernel``), or the result of a factory (``make(64)``).
    """
    return frozenset((spec.function, *re.findall(r"^\w+", spec.function)))


def read_sources(
    paths: Sequence[Path], used_names: Collection[str], callers: Iterable[Path] = ()
) -> tuple[GuessedSource, ...]:
    """Return the guessed kernels of sources.

    A jit function is not a kernel if another one in ``callers``, or in the sources' own projects,
    calls it. Raises ConfigError if a source cannot be read or parsed.
    """
    for path in paths:
        with ConfigError.for_os_errors("cannot be read", where=display_path(path)):
            path.read_bytes()
    try:
        return guess_sources(paths, used_names, dict.fromkeys([*callers, *project_sources(paths)]))
    except SyntaxError as error:
        raise _parse_error(error) from error


def find_parse_error(path: Path) -> ConfigError | None:
    """Return the error of a source that cannot be parsed; ``None`` if it can be parsed."""
    with suppress(OSError):
        try:
            tree_of(text_of(path))
        except SyntaxError as error:
            error.filename = display_path(path)
            return _parse_error(error)
    return None


def _parse_error(error: SyntaxError) -> ConfigError:
    return ConfigError(
        f"cannot be parsed as Python: {error.msg}",
        where=f"{error.filename}, line {error.lineno}" if error.lineno else error.filename,
    )


def _specializations(
    source: GuessedSource,
    base: Path,
    functions: Set[str] | None,
    described: Collection[str],
    reader: SourceReader,
) -> Iterator[Specialization]:
    for kernel in source.kernels:
        if kernel.names & functions if functions is not None else kernel.function not in described:
            origin = f"{display_path(source.path, base)}::{kernel.function}"
            document = without_notes(_kernel_file([kernel], source.path.name, "", source.toolchain))
            table = Table(file=origin, path="", data=document)
            for read in kernels_of(table, source.path, reader=reader):
                yield from (evolve(spec, guessed=True) for spec in read.specializations())


def _no_such_kernel(
    sources: Sequence[GuessedSource], name: str, available: Sequence[str], where: str
) -> NoReturn:
    why = next(
        (
            f"{kernel.why} (line {kernel.line})"
            for source in sources
            for kernel in source.unreachable
            if kernel.name == name
        ),
        None,
    )
    if any(name in source.helpers for source in sources):
        why = HELPER
    others = f"Available: {', '.join(available) or 'none'}."
    if why:
        raise ConfigError(
            f"this jit function cannot be compiled by itself: {why}", where=where, hint=others
        )
    raise ConfigError(
        "there is no such jit function",
        where=where,
        hint=did_you_mean(name, available) or others,
    )


def _no_kernel(guessed: Sequence[GuessedSource], where: str) -> NoReturn:
    """Raise ConfigError because there is no kernel, with the reasons of all jit functions."""
    reasons = [
        f"{kernel.name}: {kernel.why}" for source in guessed for kernel in source.unreachable
    ]
    reasons += [f"{name}: {HELPER}" for source in guessed for name in source.helpers]
    hint = (
        f"These functions cannot be compiled by themselves: {'; '.join(reasons[:5])}."
        if reasons
        else f"{how_kernels_look()}."
    )
    named = dict.fromkeys(toolchains.look_up(source.toolchain).title for source in guessed)
    raise ConfigError(
        f"defines no {' or '.join(named) or languages()} kernel", where=where, hint=hint
    )


# --- libraries of the package index ---------------------------------------------------------------

# A kernel has the same name in every version of a library, so that the versions are its variants.
# It has one case. For an autotuner, this case has the first configuration. Guessing takes seconds
# for a library of hundreds of kernels, and a version never changes. So the guesses are stored in
# the library's folder.

_KEPT = "compat-guessed.json"


@frozen
class _Place:
    """The place of a kernel in a library."""

    module: str
    function: str

    def may_be_called(self, name: str) -> bool:
        """Whether a name is the function's name, perhaps with the end of the module before it."""
        return f".{self.module}.{self.function}".endswith(f".{name}")

    def names(self) -> Iterator[str]:
        """The possible names, the shortest first."""
        name = self.function
        yield name
        for part in reversed(self.module.split(".")):
            name = f"{part}.{name}"
            yield name


def load_packages(
    folders: Mapping[LibraryVersions, Path], declared: Collection[Specialization] = ()
) -> tuple[Specialization, ...]:
    """Return the guessed kernels of libraries that are unpacked in these folders.

    It leaves out ``declared`` kernels, whose names are not used again, and files that cannot be
    parsed. Raises ConfigError if a library has no kernel and nothing is declared.
    """
    guessed = {library: _library_documents(library, folder) for library, folder in folders.items()}
    for library, kernels in guessed.items():
        if not (kernels or declared):
            hint = f"{how_kernels_look()}, and other kernels do not call them."
            raise ConfigError(
                f"there is no {languages()} kernel in this library",
                where=library.requirement,
                hint=hint,
            )
    names = _names(list(guessed.values()), {spec.kernel for spec in declared})
    functions = {(spec.source, spec.function) for spec in declared}
    return tuple(
        spec
        for library, kernels in guessed.items()
        for place, document in kernels.items()
        for spec in _read(document, names[place], library, folders[library])
        if (spec.source, spec.function) not in functions
    )


def _names(
    versions: Sequence[Collection[_Place]], used_names: Collection[str]
) -> dict[_Place, str]:
    """Return the names of kernels: the function, after as much of the module's name as needed.

    The name is unique in every version of the library.
    """

    def is_clear(name: str) -> bool:
        return name not in used_names and all(
            sum(place.may_be_called(name) for place in places) <= 1 for places in versions
        )

    every = dict.fromkeys(place for places in versions for place in places)
    return {
        place: next(filter(is_clear, place.names()), f"{place.module}.{place.function}")
        for place in every
    }


def _read(
    document: JsonObject, name: str, library: LibraryVersions, folder: Path
) -> Iterator[Specialization]:
    top = Table(file=library.requirement, path="", data=document)
    for kernel in kernels_of(top, folder / "guessed.toml", lambda requirement: folder):
        for spec in kernel.specializations():
            origin = f"{library.requirement}::{spec.function}"
            yield evolve(
                spec,
                kernel=name,
                variant=library.variant,
                case=ONLY_CASE,
                guessed=True,
                origin=origin,
            )


def _library_documents(library: LibraryVersions, folder: Path) -> dict[_Place, JsonObject]:
    """Return the kernel file of each kernel of a library: stored guesses, or else new ones."""
    cache_file, version = folder / _KEPT, _version()
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = read_json(cache_file.read_bytes())
        if document["version"] == version:
            return {
                _Place(module, function): dict(kernel)
                for module, function, kernel in document["kernels"]
            }
    documents = dict(_guess_library(library, folder))
    kernels = [[place.module, place.function, kernel] for place, kernel in documents.items()]
    with suppress(OSError):  # stored only to save time
        replace_file(cache_file, json.dumps({"version": version, "kernels": kernels}))
    return documents


def _guess_library(library: LibraryVersions, folder: Path) -> Iterator[tuple[_Place, JsonObject]]:
    for source in guess_sources(sources(str(folder), folder), skip_unreadable=True):
        module = module_of(source.path, [folder])
        for kernel in source.kernels:
            alone = evolve(kernel, name=kernel.function, tables=_of_first_case(kernel))
            document = without_notes(
                _kernel_file([alone], module, library.requirement, source.toolchain)
            )
            yield _Place(module, kernel.function), document


def _of_first_case(kernel: GuessedKernel) -> dict[str, object]:
    return {key: value[:1] if key == "case" else value for key, value in kernel.tables.items()}


def languages() -> str:
    """Return the titles of the toolchains whose kernels can be guessed, such as ``Triton``."""
    return " or ".join(
        toolchain.title for toolchain in toolchains.every() if toolchain.language.guessing
    )


def how_kernels_look() -> str:
    """Return the beginning of a hint that says which decorators kernels have."""
    return f"Kernels have {' or '.join(guessing.decorator for guessing in _guessings())} above them"


def _guessings() -> list[Guessing]:
    return [
        guessing for toolchain in toolchains.every() if (guessing := toolchain.language.guessing)
    ]


def _version() -> str:
    """The version of the guesses: a digest of the modules that guess, and that read sources."""
    digest = hashlib.sha256()
    own = (*Path(__file__).parent.glob("*.py"), *Path(closure.__file__).parent.glob("*.py"))
    for path in (*sorted(own), *(file for guessing in _guessings() for file in guessing.files)):
        digest.update(path.read_bytes())
    return digest.hexdigest()
