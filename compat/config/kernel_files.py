"""Kernel files (``kernels/*.toml``): the specializations of a kernel, as data beside its source. This is their only reader.

Each file is one kernel, or several, as ``[[kernel]]`` tables that take what they do not say from the top of the file. Tables are
merged, file ← kernel ← variant ← case, into one :class:`~compat.model.Specialization` per variant and case. The source is read as
text (see :mod:`compat.bundle.closure`), never imported.
:mod:`compat.config.kernel_writer` writes such files.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from attrs import define, field

from compat import constexprs, toolchains
from compat.bundle.access import NotReachable, reached
from compat.bundle.closure import Parameters, Source, read_source
from compat.config import kernel_sources
from compat.config.kernel_sources import Place
from compat.config.toml_reader import Table, describe, did_you_mean, quoted, read_toml, shown
from compat.errors import ConfigError
from compat.model import DEFAULT_TOOLCHAIN, HINTS, TABLES, CompileSpec, Expectation, Specialization, Status
from compat.toolchains import Toolchain

NO_HINTS = "none"
"""What ``hints`` is where nothing is known of the arguments."""
ONLY_VARIANT = "as_written"
"""The variant of a kernel that declares none."""
ONLY_CASE = "default"
"""The case of a kernel that declares none."""
DROP = {"drop": True}
"""What stands in a table in the place of an entry that is to be removed."""
_TABLES = (*TABLES, "hints")
_TAKEN_FOR_GRANTED = ("divisible_by_16", "pointer_range_32")
"""Hints that every pointer has unless a kernel file says which have: what allocators give, and what most tensors are."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_DECLARES = re.compile(r"^\s*(kernel\s*=|\[\[\s*kernel\s*\]\])", re.MULTILINE)
"""What a TOML file in a folder has that is a kernel file."""
_UNEXPECTABLE = tuple(status for status in Status if not status.is_answer)
"""Statuses that say nothing about a kernel cannot be expected of one."""


def load_kernels(
    patterns: Sequence[str],
    base: Path,
    *,
    failure_classes: Collection[str] = (),
    where: str | None = "matrix.toml: kernels",
    on_bad: Callable[[ConfigError], None] | None = None,
) -> tuple[Specialization, ...]:
    """Read the kernel files that the paths or globs name, relative to ``base``; in the order of the patterns, then of the names.

    Of a folder those are read that lie in it. ``failure_classes`` are those that ``expect`` may name (any, if it is empty);
    ``where`` is where the patterns were written, for errors, ``None`` for arguments of a command. Raises ConfigError; for a file
    that is wrong only where ``on_bad`` is not there to hear of it, and the others are read.
    """
    paths: dict[Path, None] = {}
    for index, pattern in enumerate(patterns):
        matches = [Path(base, match) for match in sorted(glob.glob(pattern, root_dir=base, recursive=True))]
        found = [path for match in matches for path in (kernel_files_in(match) if match.is_dir() else [match])]
        if not found:
            hint = did_you_mean(pattern, _sources_beside(base / pattern, base)) or f"Looked from {base}."
            place = None if where is None else f"{where}[{index}]"
            raise ConfigError(f"no kernel file matches {pattern!r}", where=place, hint=hint)
        paths.update(dict.fromkeys(found))
    specs: list[Specialization] = []
    owners: dict[str, str] = {}
    for path in paths:
        try:
            read_here = [(each, each.specializations()) for each in kernels_of(read_toml(path, base), path, failure_classes)]
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


def _sources_beside(path: Path, base: Path) -> list[str]:
    """What may have been meant by the path of a file that is not there."""
    found = (each for suffix in ("*.toml", "*.py") for each in path.parent.glob(suffix))
    return [os.path.relpath(each, base) for each in found]


def kernels_of(top: Table, path: Path, failure_classes: Collection[str] = ()) -> tuple[KernelFile, ...]:
    """The kernels that the kernel file at ``path`` declares, which says this; no source is looked at yet. Raises ConfigError."""
    if not isinstance(top.data.get("kernel"), list):
        return (KernelFile.of(top, path=path, failure_classes=failure_classes),)
    top.only("schema", "kernel", "toolchain", *kernel_sources.KEYS, "targets", "summary", *_TABLES)
    if not top.data["kernel"]:
        top.fail("declares no kernel", "kernel", hint='Say kernel = "name", or one [[kernel]] for each of several.')
    tables = _named(top, "kernel").values()
    kernels = tuple(KernelFile.of(table, top, path=path, failure_classes=failure_classes) for table in tables)
    _check_hints(top, frozenset().union(*(kernel.arguments for kernel in kernels)), of="this file")
    return kernels


def kernel_files_in(folder: Path) -> list[Path]:
    """The kernel files that lie in a folder, by name."""
    return sorted(each for each in folder.glob("*.toml") if _declares_kernels(each))


def _declares_kernels(path: Path) -> bool:
    try:
        return _DECLARES.search(path.read_text(encoding="utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return False


def usual_hints(signature: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The default hints of arguments: what a launch usually finds out."""
    pointers = tuple(name for name, kind in signature.items() if kind.startswith("*"))
    return {hint: pointers if hint in _TAKEN_FOR_GRANTED else () for hint in HINTS}


@define(kw_only=True)
class KernelFile:
    """One kernel of a kernel file while it is being read."""

    path: Path
    layers: tuple[Table, ...]
    """The tables that say what holds for the whole kernel: of the file, where it has several kernels, and the kernel's own."""
    kernel: str
    toolchain: Toolchain
    failure_classes: Collection[str]
    cases: dict[str, Table]
    variants: dict[str, Table]
    arguments: frozenset[str]
    """Every run-time argument that any signature table of this kernel names."""
    _sources: dict[Place, Source] = field(factory=dict)

    @classmethod
    def of(cls, own: Table, top: Table | None = None, *, path: Path, failure_classes: Collection[str] = ()) -> KernelFile:
        """The kernel that the table ``own`` declares; ``top`` is that of the file, where it has several. Raises ConfigError."""
        named_by = "name" if top else "kernel"
        own.only(
            *(() if top else ("schema",)),
            named_by,
            "toolchain",
            *kernel_sources.KEYS,
            "targets",
            "summary",
            "function",
            "case",
            "variant",
            "expect",
            *_TABLES,
        )
        layers = (top, own) if top else (own,)
        kernel, toolchain = _name(own, named_by), _toolchain(_saying("toolchain", layers))
        cases = _named(own, "case") or {ONLY_CASE: _assumed(own, name=ONLY_CASE)}
        function = own.string("function", kernel)
        variants = _named(own, "variant") or {ONLY_VARIANT: _assumed(own, name=ONLY_VARIANT, function=function)}
        for table in cases.values():
            table.only("name", "summary", *_TABLES)
        for table in variants.values():
            table.only("name", "function", *kernel_sources.KEYS, "summary", "cases", "expect", *_TABLES)
        tables = (*layers, *variants.values(), *cases.values())
        for table in tables:
            _check_tables(table, toolchain)
        arguments = frozenset(name for table in tables for name in table.mapping("signature"))
        for table in tables if top is None else tables[1:]:
            _check_hints(table, arguments)
        return cls(
            path=path,
            layers=layers,
            kernel=kernel,
            toolchain=toolchain,
            failure_classes=failure_classes,
            cases=cases,
            variants=variants,
            arguments=arguments,
        )

    @property
    def own(self) -> Table:
        """The table that declares this kernel alone."""
        return self.layers[-1]

    @property
    def named_by(self) -> str:
        """The key of :attr:`own` that has the kernel's name."""
        return "kernel" if len(self.layers) == 1 else "name"

    def specializations(self) -> list[Specialization]:
        """One per variant and case it is for, variants first. Reads the source. Raises ConfigError."""
        return [
            self._specialization(variant, self.cases[case])
            for variant in self.variants.values()
            for case in _matching(variant, "cases", self.cases)
        ]

    def _specialization(self, variant: Table, case: Table) -> Specialization:
        place = kernel_sources.place_of(self._of(variant), self.path.parent)
        source = place.source
        function = variant.string("function", self.own.optional("function"))
        tables: dict[str, Any] = {key: self._merged(key, variant, case) for key in TABLES}
        tables["constexprs"] = {name: constexprs.read(value) for name, value in tables["constexprs"].items()}
        text = self._source(variant, place)
        _check_arguments(variant, case, _function(variant, function, source, text), tables["signature"], tables["constexprs"])
        _check_functions(variant, case, tables["constexprs"], source, text)
        hints, assumed = self._hints(tables["signature"], variant, case)
        tables |= hints
        return Specialization(
            kernel=self.kernel,
            variant=variant.string("name"),
            case=case.string("name"),
            toolchain=self.toolchain.name,
            source=str(source),
            roots=place.said,
            targets=_saying("targets", self.layers).strings("targets", ()),
            function=function,
            compile=CompileSpec(**tables),
            assumed=assumed,
            closure=text.closure,
            origin=self.own.file,
            summary=_saying("summary", (*self.layers, variant)).string("summary", ""),
            expectations=tuple(self._expectation(table) for said in (variant, self.own) for table in said.tables("expect")),
        )

    def _merged(self, key: str, variant: Table, case: Table) -> dict[str, Any]:
        """The file's and the kernel's table with the variant's and the case's laid over it.

        What a variant drops stays dropped: its function has no such parameter, so no case can bring it back.
        """
        merged: dict[str, Any] = {}
        for table in (*self.layers, variant, case):
            merged |= table.mapping(key)
        dropped = {name for name, value in variant.mapping(key).items() if value == DROP}
        return {name: value for name, value in merged.items() if name not in dropped and value != DROP}

    def _hints(
        self, signature: Mapping[str, str], variant: Table, case: Table
    ) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
        """The hints of a launch, declared or default; and the names of those that are defaults."""
        said: dict[str, tuple[str, ...]] = {}
        for table in (*self.layers, variant, case):
            said |= _hints(table)
        found = usual_hints(signature) | said
        hints = {hint: tuple(name for name in found[hint] if name in signature) for hint in HINTS}
        return hints, tuple(hint for hint in HINTS if hint not in said)

    def _of(self, variant: Table) -> tuple[Table, ...]:
        """The tables that hold for a variant; what the first of them that names something says counts."""
        return (variant, *reversed(self.layers))

    def _source(self, variant: Table, place: Place) -> Source:
        if place not in self._sources:
            table = _saying(place.key, (*self.layers, variant))
            try:
                self._sources[place] = read_source(place.source, place.roots)
            except SyntaxError as error:
                line = f", line {error.lineno}" if error.lineno else ""
                table.fail(f"{shown(place.source)}{line}: {error.msg}", place.key)
            except (OSError, ValueError) as error:
                table.fail(f"{shown(place.source)} cannot be read: {error}", place.key)
        return self._sources[place]

    def _expectation(self, table: Table) -> Expectation:
        table.only("releases", "targets", "cases", "status", "class", "reason", "strict")
        status, failure_class = table.string("status"), table.optional("class")
        known = [str(status) for status in Status if status not in _UNEXPECTABLE]
        if status not in known:
            hint = did_you_mean(status, known) or f"One of: {', '.join(known)}."
            table.fail(f"{status!r} is not a status that can be expected", "status", hint=hint)
        if failure_class is not None and self.failure_classes and failure_class not in self.failure_classes:
            hint = did_you_mean(failure_class, self.failure_classes) or f"One of: {', '.join(sorted(self.failure_classes))}."
            table.fail(f"{failure_class!r} is not a failure class", "class", hint=hint)
        _matching(table, "cases", self.cases)
        return Expectation(
            status=Status(status),
            failure_class=failure_class,
            releases=table.specifier("releases"),
            targets=tuple(each for word in table.strings("targets", ("*",)) for each in toolchains.targets_of_gpu(word) or (word,)),
            cases=table.strings("cases", ("*",)),
            reason=table.string("reason", ""),
            strict=table.expect(table.data.get("strict", True), bool, "strict"),
        )


# --- pieces ----------------------------------------------------------------------------------------------------------------------


def _name(table: Table, key: str) -> str:
    name = table.string(key)
    if not _NAME.fullmatch(name):
        table.fail(f"{name!r} is not a name: letters, digits and . _ + - only", key)
    return name


def _named(top: Table, key: str) -> dict[str, Table]:
    named: dict[str, Table] = {}
    for table in top.tables(key):
        name = _name(table, "name")
        if name in named:
            table.fail(f"the name {name!r} is taken by {named[name].path}", "name")
        named[name] = table
    return named


def _saying(key: str, layers: Sequence[Table]) -> Table:
    """The table whose word on a key counts: the last of the layers that has it, else the one before any variant."""
    return next((table for table in reversed(layers) if key in table), layers[0])


def _assumed(own: Table, **entries: str) -> Table:
    """What stands in the place of the variant or case of a kernel that declares none; what is wrong is said of the kernel."""
    return Table(file=own.file, path=own.path, data=entries)


def _matching(table: Table, key: str, names: Collection[str]) -> list[str]:
    """The names that the globs under ``key`` match, all where there are none; a glob that matches nothing is refused."""
    globs = table.strings(key, ("*",))
    for index, pattern in enumerate(globs):
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names) or f"Available: {', '.join(names)}."
            table.fail(f"no case matches {pattern!r}", f"{key}[{index}]", hint=hint)
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in globs)]


def _toolchain(top: Table) -> Toolchain:
    name = top.string("toolchain", DEFAULT_TOOLCHAIN)
    known = {each.name: each for each in toolchains.every()}
    if name not in known:
        hint = did_you_mean(name, known) or f"Available: {', '.join(known)}."
        top.fail(f"no toolchain is called {name!r}", "toolchain", hint=hint)
    return known[name]


def _check_tables(table: Table, toolchain: Toolchain) -> None:
    """Check every value of the four tables that can be merged, wherever they stand."""
    for name, value in table.mapping("signature").items():
        types = toolchain.types
        if value != DROP and not (isinstance(value, str) and types.pattern.fullmatch(value)):
            hint = did_you_mean(value, types.known) if isinstance(value, str) else None
            found = quoted(value) if isinstance(value, str) else describe(value)
            expected = f"a {toolchain.title} type such as {types.examples}"
            table.table("signature").fail(f"expected {expected}, found {found}", name, hint=hint)
    for name, value in table.mapping("constexprs").items():
        if value != DROP:
            _check_number(table.table("constexprs"), name, value)
            _check_constexpr(table.table("constexprs"), name, value)
    for name, value in table.mapping("options").items():
        _check_number(table.table("options"), name, value)
        if value != DROP and not isinstance(value, int | float | str):
            table.table("options").fail(f"{describe(value)} is not a valid option value", name)


def _check_number(table: Table, name: str, value: object) -> None:
    """A whole number that no type of Triton holds is a slip, and JSON readers refuse some of them."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        table.fail(f"{describe(value)} does not fit any type", name)


def _check_constexpr(table: Table, name: str, value: object) -> None:
    try:
        constexprs.read(value, describe)
    except constexprs.UnknownForm as error:
        table.fail(str(error), f"{name}{error.path}", hint=error.hint)


def _hints(table: Table) -> dict[str, tuple[str, ...]]:
    """The hints that a table says, by name."""
    if table.data.get("hints") == NO_HINTS:
        return dict.fromkeys(HINTS, ())
    hints = table.table("hints")
    return {key: hints.strings(key) for key in HINTS if key in hints}


def _check_hints(table: Table, arguments: Collection[str], of: str = "this kernel") -> None:
    given = table.data.get("hints")
    if isinstance(given, str):
        if given != NO_HINTS:
            table.fail(f"expected a table, or {NO_HINTS!r}, found {describe(given)}", "hints")
        return
    hints = table.table("hints")
    hints.only(*HINTS)
    for key in HINTS:
        for index, name in enumerate(hints.strings(key)):
            if name not in arguments:
                hint = did_you_mean(name, arguments)
                hints.fail(f"{name!r} is not in any signature of {of}", f"{key}[{index}]", hint=hint)


def _function(variant: Table, name: str, path: Path, source: Source) -> Parameters | None:
    """The parameters of the function that is meant; ``None`` where only importing the file can tell them."""
    try:
        return reached(source, name)
    except NotReachable as error:
        forms = 'It is the kernel\'s name unless function says another: a function of the file, "Holder.kernel", "make(64)".'
        return variant.fail(f"{path.name} {error}", "function", hint=did_you_mean(name, source.functions) or forms)


def _check_functions(variant: Table, case: Table, values: Mapping[str, Any], path: Path, source: Source) -> None:
    for name in constexprs.functions(values.values()):
        if name not in source.functions:
            named = f"{variant.string('function')} (case {case.string('name')})"
            hint = did_you_mean(name, source.functions) or "It must be defined in the kernel's own source file."
            variant.fail(f"{named}: a constexpr names the function {name!r}, which {path.name} does not define", hint=hint)


def _check_arguments(
    variant: Table, case: Table, parameters: Parameters | None, signature: Mapping[str, str], values: Mapping[str, Any]
) -> None:
    """Every parameter is given once, as a type or as a value, and nothing else is."""
    named = f"{variant.string('function')} (case {case.string('name')})"
    if both := [name for name in signature if name in values]:
        variant.fail(f"{named}: {both[0]!r} is in the signature and among the constexprs")
    if parameters is None:
        return
    for name in (*signature, *values):
        if name not in parameters.names:
            hint = did_you_mean(name, parameters.names) or f"If this variant has no such parameter: {name} = {{drop = true}}."
            variant.fail(f"{named} has no parameter {name!r}, but the tables give it a type or a value", hint=hint)
    if missing := [name for name in parameters.names if name in parameters.required and name not in {**signature, **values}]:
        variant.fail(f"{named}: no type or value for {', '.join(missing)}")
