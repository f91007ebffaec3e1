"""Kernel files (``kernels/*.toml``): the specializations of a kernel, as data beside its source.

This module is their only reader.

Each file is one kernel, or several, as ``[[kernel]]`` tables. A table inherits from the top of the
file. Tables are merged, file ← kernel ← variant ← case, into one
:class:`~compat.model.Specialization` per variant and case (:class:`DeclaredKernel`). The source is
read as text (see :mod:`compat.source.closure`), never imported. :mod:`compat.config.kernel_writer`
writes such files.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from attrs import define

from compat import interruption, toolchains
from compat.config import argument_tables, kernel_sources
from compat.config.argument_tables import (
    check_alone,
    check_hints,
    check_values,
    launch_of,
    merge_tables,
    merged_hints,
    problem_of,
)
from compat.config.env_tables import toolchain_named
from compat.config.kernel_sources import Place, check_function, source_errors
from compat.config.selection import MATRIX, options_for
from compat.config.toml import DROP, Table, did_you_mean, display_path, read_toml
from compat.config.tune_tables import tuning_of
from compat.envs import libraries
from compat.errors import ConfigError
from compat.model import (
    DEFAULT_TOOLCHAIN,
    ONLY_CASE,
    TABLES,
    CompileSpec,
    Expectation,
    Specialization,
    Status,
    TuningRanges,
    constexprs,
)
from compat.model.cell import leaf_types
from compat.source.closure import ParsedSource, SourceReader
from compat.source.parsing import text_of
from compat.text import JsonObject, group_by_key, lazy_pattern
from compat.toolchains.base import Toolchain

_SUFFIXES = (".py", ".toml")
"""The suffixes of the files that can name kernels."""
_ENDINGS = "A kernel file is TOML and ends in .toml. A Python source ends in .py."
_NO_KERNEL_FILES = (MATRIX, "pyproject.toml")
"""TOML files of a project that are no kernel files. A glob does not match them."""
_DECLARES = lazy_pattern(r"^\s*(kernel\s*=|\[\[\s*kernel\s*\]\])", re.MULTILINE)
"""A key that marks a TOML file of a folder as a kernel file."""
_DECODABLE = "Save the file as UTF-8, or declare its encoding in line 1: `# coding: latin-1`."

ONLY_VARIANT = "as_written"
"""The variant of a kernel that declares none."""
SHARED_KEYS = (
    "toolchain",
    *kernel_sources.KEYS,
    "targets",
    "summary",
    "problem",
    "tune",
    *argument_tables.KEYS,
)
"""The keys at the top of a file with several kernels that hold for all of them."""


def is_file(word: str) -> bool:
    """Whether a word names files of kernels.

    It does if its name looks like one, or if there is such a file or folder.
    """
    return word.partition(":")[0].endswith(_SUFFIXES) or os.path.exists(word)


def is_source(pattern: str, base: Path) -> bool:
    """Whether a pattern for kernel files means Python sources.

    Sources are ``a.py``, ``a.py::kernel``, or a folder of them. ``a.py:kernel`` is one too, and
    :func:`compat.guess.finding.where_else` has a hint for it.
    """
    path = pattern.partition("::")[0]
    folder = Path(base, path)
    return (
        path.endswith(".py") or ".py:" in path or (folder.is_dir() and not kernel_files_in(folder))
    )


def load_kernels(
    patterns: Sequence[str],
    base: Path,
    *,
    where: str | None = "matrix.toml: kernels",
    on_bad: Callable[[ConfigError], None] | None = None,
    of: Collection[Path] | None = None,
    library: Callable[[str], Path] = libraries.unpack_library,
) -> tuple[Specialization, ...]:
    """Read kernel files.

    Args:
        patterns: Paths of files or folders, or globs, relative to ``base``.
        base: A folder.
        where: The place of the patterns, for errors. ``None``: arguments of a command.
        on_bad: Called with the error of an invalid file, which is then left out.
        of: Real paths of sources. Kernels of other sources are left out. ``None``: all.
        library: Unpacks a library of the package index.

    Returns:
        The specializations, in the order of ``patterns``, then of file names.

    Raises:
        ConfigError: A pattern matches nothing, or without ``on_bad``: a file is invalid.
    """
    specs: list[Specialization] = []
    owners: dict[str, str] = {}
    reader = SourceReader()
    for path in kernel_paths(patterns, base, where):
        try:
            hint = None if path.suffix in _SUFFIXES else _ENDINGS
            kernels = kernels_of(read_toml(path, base, hint), path, library, reader)
            read_here = [
                (kernel, kernel.specializations())
                for kernel in kernels
                if of is None or kernel.is_of(of)
            ]
            for read, _ in read_here:
                if read.kernel in owners:
                    read.own.fail(
                        f"the kernel {read.kernel!r} is already declared in {owners[read.kernel]}",
                        read.name_key,
                    )
        except ConfigError as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        owners |= {read.kernel: read.own.file for read, _ in read_here}
        specs += [spec for _, declared in read_here for spec in declared]
    return tuple(specs)


def kernel_paths(patterns: Sequence[str], base: Path, where: str | None) -> tuple[Path, ...]:
    """The kernel files that paths, folders or globs name, each once.

    ``where`` as in :func:`load_kernels`. Raises ConfigError.
    """
    paths: dict[Path, None] = {}
    for index, pattern in enumerate(patterns):
        matching = [
            path
            for match in paths_of(pattern, base)
            for path in (kernel_files_in(match) if match.is_dir() else [match])
            if path.name not in _NO_KERNEL_FILES or path == base / pattern
        ]
        if not matching:
            hint = did_you_mean(pattern, _sources_beside(base / pattern, base))
            if not hint:
                hint = f"Searched in {base}."
                folder, is_id, _ = pattern.partition("/")
                if where is None and is_id and not Path(base, folder).exists():
                    hint += f" If these are cells, use {options_for(pattern)}."
            place = None if where is None else f"{where}[{index}]"
            raise ConfigError(f"no kernel file matches {pattern!r}", where=place, hint=hint)
        paths.update(dict.fromkeys(matching))
    return tuple(paths)


def paths_of(pattern: str, base: Path) -> list[Path]:
    """The paths that a glob matches, relative to ``base``, in alphabetical order.

    A path that exists means itself, even if its name has signs of globs.
    """
    if pattern and os.path.lexists(base / pattern):
        return [base / pattern]
    return [base / match for match in sorted(glob.glob(pattern, root_dir=base, recursive=True))]


def kernels_of(
    top: Table,
    path: Path,
    library: Callable[[str], Path] = libraries.unpack_library,
    reader: SourceReader | None = None,
) -> tuple[DeclaredKernel, ...]:
    """The kernels that the content of the kernel file at ``path`` declares.

    It reads no source yet; ``reader`` will. Raises ConfigError.
    """
    reader = reader or SourceReader()
    if not isinstance(top.data.get("kernel"), list):
        return (DeclaredKernel.of(top, path=path, library=library, reader=reader),)
    top.only("schema", "kernel", *SHARED_KEYS)
    if not top.data["kernel"]:
        top.fail(
            "declares no kernel",
            "kernel",
            hint='Add kernel = "name", or a [[kernel]] table for each kernel.',
        )
    tables = tables_by_name(top, "kernel").values()
    kernels = tuple(
        DeclaredKernel.of(table, top, path=path, library=library, reader=reader) for table in tables
    )
    arguments = group_by_key(
        (name, kind)
        for kernel in kernels
        for name, types in kernel.arguments.items()
        for kind in types
    )
    check_hints(top, arguments, of="this file")
    return kernels


def kernel_files_in(folder: Path) -> list[Path]:
    """The kernel files in a folder, sorted by name."""
    return sorted(path for path in folder.glob("*.toml") if _declares_kernels(path))


def _declares_kernels(path: Path) -> bool:
    try:
        return _DECLARES.search(path.read_text(encoding="utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return False


def _sources_beside(path: Path, base: Path) -> list[str]:
    """The files beside a missing file that the user may have meant."""
    beside = (source for suffix in ("*.toml", "*.py") for source in path.parent.glob(suffix))
    return [os.path.relpath(source, base) for source in beside]


# --- one kernel -----------------------------------------------------------------------------------


@define(kw_only=True)
class DeclaredKernel:
    """One kernel of a kernel file while it is being read."""

    path: Path
    layers: tuple[Table, ...]
    """The tables that hold for the whole kernel: the kernel's own, and the top of a file with
    several kernels.
    """
    kernel: str
    toolchain: Toolchain
    cases: dict[str, Table]
    variants: dict[str, Table]
    arguments: Mapping[str, tuple[str, ...]]
    """Run-time argument → its types in all signature tables of this kernel. The name of a tuple's
    element is its path.
    """
    library: Callable[[str], Path]
    """Unpacks a library of the package index."""
    reader: SourceReader

    @classmethod
    def of(
        cls,
        own: Table,
        top: Table | None = None,
        *,
        path: Path,
        library: Callable[[str], Path],
        reader: SourceReader,
    ) -> DeclaredKernel:
        """The kernel that the table ``own`` declares.

        ``top`` is the table of a file that has several kernels. Raises ConfigError.
        """
        named_by = "name" if top else "kernel"
        own.only(
            *(() if top else ("schema",)),
            named_by,
            *SHARED_KEYS,
            "function",
            "case",
            "variant",
            "expect",
        )
        layers = (top, own) if top else (own,)
        kernel, naming = name_of(own, named_by), saying("toolchain", layers)
        toolchain = toolchain_named(naming, naming.string("toolchain", DEFAULT_TOOLCHAIN))
        cases = tables_by_name(own, "case") or {ONLY_CASE: implicit_table(own, name=ONLY_CASE)}
        function = own.string("function", kernel)
        variants = tables_by_name(own, "variant") or {
            ONLY_VARIANT: implicit_table(own, name=ONLY_VARIANT, function=function)
        }
        for table in cases.values():
            table.only("name", "summary", "problem", "tune", *argument_tables.KEYS)
        for table in variants.values():
            table.only(
                "name",
                "function",
                *kernel_sources.KEYS,
                "summary",
                "problem",
                "tune",
                "cases",
                "expect",
                *argument_tables.KEYS,
            )
        tables = (*layers, *variants.values(), *cases.values())
        for table in tables:
            check_values(table, toolchain)
        arguments = group_by_key(item for table in tables for item in _arguments(table).items())
        for table in tables if top is None else tables[1:]:
            check_hints(table, arguments, launched=any(layer.mapping("launch") for layer in tables))
        return cls(
            path=path,
            layers=layers,
            kernel=kernel,
            toolchain=toolchain,
            cases=cases,
            variants=variants,
            arguments=arguments,
            library=library,
            reader=reader,
        )

    @property
    def own(self) -> Table:
        """The table that declares this kernel alone."""
        return self.layers[-1]

    @property
    def name_key(self) -> str:
        """The key of :attr:`own` that has the kernel's name."""
        return "kernel" if len(self.layers) == 1 else "name"

    @property
    def _constexprs(self) -> tuple[str, ...]:
        """The names of all constexprs that any table of this kernel gives a value."""
        tables = (*self.layers, *self.variants.values(), *self.cases.values())
        return tuple(
            dict.fromkeys(name for table in tables for name in table.mapping("constexprs"))
        )

    def is_of(self, sources: Collection[Path]) -> bool:
        """Whether a variant is a function of one of these files, which are real paths.

        The check unpacks no library.
        """
        return any(self._is_of(variant, sources) for variant in self.variants.values())

    def _is_of(self, variant: Table, sources: Collection[Path]) -> bool:
        tables = (variant, *reversed(self.layers))
        try:
            place = kernel_sources.place_of(
                tables, self.path.parent, library=lambda requirement: Path(os.devnull)
            )
        except ConfigError:
            return False
        return Path(os.path.realpath(place.source)) in sources

    def specializations(self) -> list[Specialization]:
        """One specialization for each variant and each of its cases, variant by variant.

        Reads the source. Raises ConfigError.
        """
        return [
            self._specialization(variant, self.cases[case])
            for variant in self.variants.values()
            for case in matching(variant, self.cases)
        ]

    def _specialization(self, variant: Table, case: Table) -> Specialization:
        interruption.check()
        place = kernel_sources.place_of(
            (variant, *reversed(self.layers)), self.path.parent, self.library
        )
        function = variant.string("function", self.own.optional("function"))
        text = self._source(variant, place)
        compile_spec, defaults = self._compile_spec(variant, case)
        check_function(variant, case, function, compile_spec, place.source, text)
        return Specialization(
            kernel=self.kernel,
            variant=variant.string("name"),
            case=case.string("name"),
            toolchain=self.toolchain.name,
            source=str(place.source),
            roots=place.declared_roots,
            package=place.package,
            targets=saying("targets", self.layers).strings("targets", ()),
            function=function,
            compile=compile_spec,
            problem=problem_of(
                (*self.layers, variant, case), self.path.parent, compile_spec, self.reader
            ),
            tuning=self._tuning(variant, case, compile_spec),
            assumed=defaults,
            closure=text.closure,
            origin=self.own.file,
            summary=saying("summary", (*self.layers, variant)).string("summary", ""),
            expectations=tuple(
                expectation_of(table, self.cases, self.toolchain)
                for parent in (variant, self.own)
                for table in parent.tables("expect")
            ),
        )

    def _compile_spec(self, variant: Table, case: Table) -> tuple[CompileSpec, tuple[str, ...]]:
        """The merged tables of a variant and a case, and the names of the default hints."""
        tables: JsonObject = {key: merge_tables(key, self.layers, variant, case) for key in TABLES}
        tables["constexprs"] = {
            name: constexprs.read(value) for name, value in tables["constexprs"].items()
        }
        tables["launch"] = launch_of(tables["launch"], self.toolchain)
        if tables["launch"]:
            check_alone(
                (*self.layers, variant, case),
                tables["signature"],
                f"{self.kernel} (case {case.string('name')})",
            )
            return CompileSpec(**tables).with_tuples(), ()
        hints, defaults = merged_hints(tables["signature"], (*self.layers, variant, case))
        tables |= hints
        return CompileSpec(**tables).with_tuples(), defaults

    def _tuning(self, variant: Table, case: Table, spec: CompileSpec) -> TuningRanges:
        """The ranges to tune, which are empty for most kernels."""
        tables = [table for table in (*self.layers, variant, case) if "tune" in table]
        if not tables:
            return TuningRanges()
        return tuning_of(tables, spec, self._constexprs, self.toolchain)

    def _source(self, variant: Table, place: Place) -> ParsedSource:
        table = saying(place.key, (*self.layers, variant))
        if '"' in str(place.source):  # it would end the path in the assembler's input
            table.fail(
                f"{display_path(place.source)}: some assemblers cannot read a path with a"
                " quotation mark",
                place.key,
                hint="Rename the file or its folder.",
            )
        with source_errors(place.source, table, place.key, _DECODABLE):
            str(place.source).encode()  # compilers refuse a path that is not UTF-8
            text_of(place.source)  # Python ignores bad bytes in comments, compilers do not
        with source_errors(place.source, table, place.key):
            return self.reader.read(place.source, place.roots)


def _arguments(table: Table) -> dict[str, str]:
    """The arguments that a table names, with their types.

    A dropped argument has an empty type.
    """
    signature = table.mapping("signature")
    return leaf_types({name: "" if kind == DROP else kind for name, kind in signature.items()})


# --- the tables of a kernel, by name --------------------------------------------------------------


def name_of(table: Table, key: str) -> str:
    """The name under a key of a table: of a kernel, a variant or a case.

    Raises ConfigError if it is not a name.
    """
    name = table.string(key)
    table.check_name(name, key)
    return name


def tables_by_name(top: Table, key: str) -> dict[str, Table]:
    """The tables of the array ``key`` by their names.

    Raises ConfigError, also for a name that occurs twice.
    """
    tables: dict[str, Table] = {}
    for table in top.tables(key):
        name = name_of(table, "name")
        if name in tables:
            table.fail(f"the name {name!r} is already used by {tables[name].path}", "name")
        tables[name] = table
    return tables


def implicit_table(own: Table, **entries: str) -> Table:
    """The only variant or case of a kernel that declares none.

    Errors in it are reported for the kernel.
    """
    return Table(file=own.file, path=own.path, data=entries)


def saying(key: str, layers: Sequence[Table]) -> Table:
    """The table that decides a key: the last layer that has it.

    If no layer has the key, it is the first layer.
    """
    return next((table for table in reversed(layers) if key in table), layers[0])


def matching(table: Table, names: Collection[str]) -> list[str]:
    """The names of cases that the globs under ``cases`` match, all if there are no globs.

    Raises ConfigError if a glob matches nothing.
    """
    globs = table.strings("cases", ("*",))
    for index, pattern in enumerate(globs):
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names) or f"Available: {', '.join(names)}."
            table.fail(f"no case matches {pattern!r}", f"cases[{index}]", hint=hint)
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in globs)]


def expectation_of(table: Table, cases: Collection[str], toolchain: Toolchain) -> Expectation:
    """The failure that a table expects of a kernel with these cases and this toolchain.

    Raises ConfigError.
    """
    table.only("releases", "targets", "cases", "status", "class", "reason", "strict")
    status, failure_class = table.string("status"), table.optional("class")
    # Other statuses say nothing about a kernel.
    statuses = [str(status) for status in Status if status.is_answer]
    if status not in statuses:
        hint = did_you_mean(status, statuses) or f"Choose one of: {', '.join(statuses)}."
        table.fail(
            f"{status!r} is not a status that a kernel file can declare", "status", hint=hint
        )
    failure_classes = toolchain.failures.by_name
    if failure_class is not None and failure_class not in failure_classes:
        hint = (
            did_you_mean(failure_class, failure_classes)
            or f"Choose one of: {', '.join(sorted(failure_classes))}."
        )
        table.fail(f"{failure_class!r} is not a failure class", "class", hint=hint)
    matching(table, cases)
    return Expectation(
        status=Status(status),
        failure_class=failure_class,
        releases=table.specifier("releases"),
        targets=tuple(
            target
            for word in table.strings("targets", ("*",))
            for target in toolchains.targets_of_gpu(word) or (word,)
        ),
        cases=table.strings("cases", ("*",)),
        reason=table.string("reason", ""),
        strict=table.expect(table.data.get("strict", True), bool, "strict"),
    )
