"""One kernel as a kernel file declares it, with its variants and cases: tables → specializations."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from compat import constexprs, signatures, toolchains
from compat.config import argument_tables, kernel_sources
from compat.config.argument_tables import check_hints, check_values, merged, merged_hints
from compat.config.expectations import expectation_of
from compat.config.kernel_functions import check_function
from compat.config.kernel_sources import Place
from compat.config.launch_table import check_alone, launch_of
from compat.config.named_tables import assumed, matching, name_of, named, saying
from compat.config.problem_table import problem_of
from compat.config.toml_reader import DROP, Table, did_you_mean, shown
from compat.errors import ConfigError
from compat.model import DEFAULT_TOOLCHAIN, ONLY_CASE, TABLES, CompileSpec, Specialization
from compat.source.closure import ParsedSource, read_source
from compat.toolchains import Toolchain

ONLY_VARIANT = "as_written"
"""The variant of a kernel that declares none."""
SHARED_KEYS = ("toolchain", *kernel_sources.KEYS, "targets", "summary", "problem", *argument_tables.KEYS)
"""What the top of a file with several kernels may say for all of them."""


@define(kw_only=True)
class DeclaredKernel:
    """One kernel of a kernel file while it is being read."""

    path: Path
    layers: tuple[Table, ...]
    """The tables that say what holds for the whole kernel: of the file, where it has several kernels, and the kernel's own."""
    kernel: str
    toolchain: Toolchain
    cases: dict[str, Table]
    variants: dict[str, Table]
    arguments: Mapping[str, frozenset[str]]
    """Every run-time argument that any signature table of this kernel names, tuples by the paths of their elements."""
    _sources: dict[Place, ParsedSource] = field(factory=dict)
    _problems: dict[Path, ParsedSource] = field(factory=dict)

    @classmethod
    def of(cls, own: Table, top: Table | None = None, *, path: Path) -> DeclaredKernel:
        """The kernel that the table ``own`` declares; ``top`` is that of the file, where it has several. Raises ConfigError."""
        named_by = "name" if top else "kernel"
        own.only(*(() if top else ("schema",)), named_by, *SHARED_KEYS, "function", "case", "variant", "expect")
        layers = (top, own) if top else (own,)
        kernel, toolchain = name_of(own, named_by), _toolchain(saying("toolchain", layers))
        cases = named(own, "case") or {ONLY_CASE: assumed(own, name=ONLY_CASE)}
        function = own.string("function", kernel)
        variants = named(own, "variant") or {ONLY_VARIANT: assumed(own, name=ONLY_VARIANT, function=function)}
        for table in cases.values():
            table.only("name", "summary", "problem", *argument_tables.KEYS)
        for table in variants.values():
            table.only("name", "function", *kernel_sources.KEYS, "summary", "problem", "cases", "expect", *argument_tables.KEYS)
        tables = (*layers, *variants.values(), *cases.values())
        for table in tables:
            check_values(table, toolchain)
        arguments: dict[str, frozenset[str]] = {}
        for table in tables:
            for name, kind in _arguments(table).items():
                arguments[name] = arguments.get(name, frozenset()) | {kind}
        for table in tables if top is None else tables[1:]:
            check_hints(table, arguments, launched=any(each.mapping("launch") for each in tables))
        return cls(
            path=path,
            layers=layers,
            kernel=kernel,
            toolchain=toolchain,
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

    def is_of(self, sources: Collection[Path]) -> bool:
        """Whether a variant is a function of one of these files, which are real paths. Unpacks no library to find out."""
        return any(self._is_of(variant, sources) for variant in self.variants.values())

    def _is_of(self, variant: Table, sources: Collection[Path]) -> bool:
        tables = (variant, *reversed(self.layers))
        try:
            place = kernel_sources.place_of(tables, self.path.parent, library=lambda requirement: Path(os.devnull))
        except ConfigError:
            return False
        return Path(os.path.realpath(place.source)) in sources

    def specializations(self) -> list[Specialization]:
        """One per variant and case it is for, variants first. Reads the source. Raises ConfigError."""
        return [
            self._specialization(variant, self.cases[case])
            for variant in self.variants.values()
            for case in matching(variant, "cases", self.cases)
        ]

    def _specialization(self, variant: Table, case: Table) -> Specialization:
        place = kernel_sources.place_of((variant, *reversed(self.layers)), self.path.parent)
        function, text = variant.string("function", self.own.optional("function")), self._source(variant, place)
        compile_spec, defaults = self._compile_spec(variant, case)
        check_function(variant, case, function, compile_spec, place.source, text)
        return Specialization(
            kernel=self.kernel,
            variant=variant.string("name"),
            case=case.string("name"),
            toolchain=self.toolchain.name,
            source=str(place.source),
            roots=place.said,
            package=place.package,
            targets=saying("targets", self.layers).strings("targets", ()),
            function=function,
            compile=compile_spec,
            problem=problem_of((*self.layers, variant, case), self.path.parent, compile_spec, self._problem_source),
            assumed=defaults,
            closure=text.closure,
            origin=self.own.file,
            summary=saying("summary", (*self.layers, variant)).string("summary", ""),
            expectations=tuple(
                expectation_of(table, self.cases, self.toolchain) for said in (variant, self.own) for table in said.tables("expect")
            ),
        )

    def _compile_spec(self, variant: Table, case: Table) -> tuple[CompileSpec, tuple[str, ...]]:
        """What the tables come to for a variant and a case; and the names of the hints that are defaults."""
        tables: dict[str, Any] = {key: merged(key, self.layers, variant, case) for key in TABLES}
        tables["signature"] = {name: signatures.read(kind) for name, kind in tables["signature"].items()}
        tables["constexprs"] = {name: constexprs.read(value) for name, value in tables["constexprs"].items()}
        tables["launch"] = launch_of(tables["launch"], self.toolchain)
        if tables["launch"]:
            check_alone((*self.layers, variant, case), tables["signature"], f"{self.kernel} (case {case.string('name')})")
            return CompileSpec(**tables), ()
        hints, defaults = merged_hints(tables["signature"], (*self.layers, variant, case))
        tables |= hints
        return CompileSpec(**tables), defaults

    def _problem_source(self, path: Path) -> ParsedSource:
        """A problem's source, which is read once. Raises OSError, or SyntaxError where that cannot be done."""
        if path not in self._problems:
            self._problems[path] = read_source(path)
        return self._problems[path]

    def _source(self, variant: Table, place: Place) -> ParsedSource:
        if place not in self._sources:
            table = saying(place.key, (*self.layers, variant))
            try:
                self._sources[place] = read_source(place.source, place.roots)
            except SyntaxError as error:
                line = f", line {error.lineno}" if error.lineno else ""
                table.fail(f"{shown(place.source)}{line}: {error.msg}", place.key)
            except (OSError, ValueError) as error:
                table.fail(f"{shown(place.source)} cannot be read: {error}", place.key)
        return self._sources[place]


def _arguments(table: Table) -> dict[str, str]:
    """The arguments that a table names, with their types; a type is empty where the argument is dropped."""
    signature = table.mapping("signature")
    return signatures.leaves({name: signatures.read(kind) if kind != DROP else "" for name, kind in signature.items()})


def _toolchain(top: Table) -> Toolchain:
    name = top.string("toolchain", DEFAULT_TOOLCHAIN)
    by_name = {toolchain.name: toolchain for toolchain in toolchains.every()}
    if name not in by_name:
        hint = did_you_mean(name, by_name) or f"Available: {', '.join(by_name)}."
        top.fail(f"no toolchain is called {name!r}", "toolchain", hint=hint)
    return by_name[name]
