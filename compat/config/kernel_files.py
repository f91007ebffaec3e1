"""Kernel files (``kernels/*.toml``): the specializations of a kernel, as data beside its source.

Each file is one kernel. Its tables are merged, kernel ← variant ← case, into one :class:`~compat.model.Specialization` per
variant and case. The source is read as text (see :mod:`compat.source.closure`), never imported.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from attrs import define, field

from compat.config.toml_reader import Table, describe, did_you_mean, read_toml, shown
from compat.errors import ConfigError
from compat.model import DTYPES, Expectation, Specialization, Status
from compat.source.closure import Parameters, Source, read_source

_TABLES = ("signature", "constexprs", "hints", "options")
_HINTS = ("divisible_by_16", "equal_to_1")
_TYPE = re.compile(rf"\*?({'|'.join(DTYPES)})|tensordesc<({'|'.join(DTYPES)})\[\d+(, ?\d+)*\]>")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_DROP = {"drop": True}
_UNEXPECTABLE = (Status.ENV_BROKEN, Status.LOST)
"""What says nothing of a kernel cannot be declared of one."""


def load_kernels(
    patterns: Sequence[str], base: Path, *, kinds: Collection[str] = (), where: str = "matrix.toml: kernels"
) -> tuple[Specialization, ...]:
    """Read the kernel files that the paths or globs name, relative to ``base``; in the order of the patterns, then of the names.

    ``kinds`` are the failure classes that ``expect`` may name (any, where it is empty); ``where`` is where the patterns were
    written, for errors. Raises ConfigError.
    """
    paths: dict[Path, None] = {}
    for index, pattern in enumerate(patterns):
        found = sorted(Path(base, match) for match in glob.glob(pattern, root_dir=base, recursive=True))
        if not found:
            raise ConfigError(f"no kernel file matches {pattern!r}", where=f"{where}[{index}]", hint=f"Looked from {base}.")
        paths.update(dict.fromkeys(found))
    specs: list[Specialization] = []
    owners: dict[str, str] = {}
    for path in paths:
        read = _KernelFile.open(path, base, kinds)
        if read.kernel in owners:
            read.top.fail(f"the kernel {read.kernel!r} is declared in {owners[read.kernel]} already", "kernel")
        owners[read.kernel] = read.top.file
        specs += read.specializations()
    return tuple(specs)


@define(kw_only=True)
class _KernelFile:
    """One kernel file while it is being read."""

    path: Path
    top: Table
    kernel: str
    kinds: Collection[str]
    cases: dict[str, Table]
    variants: dict[str, Table]
    arguments: frozenset[str]
    """Every run-time argument that any signature table of this file names."""
    _sources: dict[Path, Source] = field(factory=dict)

    @classmethod
    def open(cls, path: Path, base: Path, kinds: Collection[str]) -> _KernelFile:
        top = read_toml(path, base)
        top.only("schema", "kernel", "source", "summary", "case", "variant", *_TABLES)
        kernel = _name(top, "kernel")
        cases, variants = _named(top, "case"), _named(top, "variant")
        for table in cases.values():
            table.only("name", "summary", *_TABLES)
        for table in variants.values():
            table.only("name", "function", "source", "summary", "cases", "expect", *_TABLES)
        tables = (top, *variants.values(), *cases.values())
        for table in tables:
            _check_tables(table)
        arguments = frozenset(name for table in tables for name in table.mapping("signature"))
        for table in tables:
            _check_hints(table.table("hints"), arguments)
        return cls(path=path, top=top, kernel=kernel, kinds=kinds, cases=cases, variants=variants, arguments=arguments)

    def specializations(self) -> list[Specialization]:
        """One per variant and case it is for, variants first."""
        return [
            self._specialization(variant, self.cases[case])
            for variant in self.variants.values()
            for case in _matching(variant, "cases", self.cases)
        ]

    def _specialization(self, variant: Table, case: Table) -> Specialization:
        source = self._path_of_source(variant)
        function = variant.string("function")
        signature = self._merged("signature", variant, case)
        constexprs = self._merged("constexprs", variant, case)
        hints = self._merged("hints", variant, case)
        text = self._source(variant, source)
        _check_arguments(variant, case, _function(variant, function, source, text), signature, constexprs)
        return Specialization(
            kernel=self.kernel,
            variant=variant.string("name"),
            case=case.string("name"),
            source=str(source),
            function=function,
            signature=signature,
            constexprs={name: None if value == {"none": True} else value for name, value in constexprs.items()},
            divisible_by_16=tuple(name for name in hints.get("divisible_by_16", ()) if name in signature),
            equal_to_1=tuple(name for name in hints.get("equal_to_1", ()) if name in signature),
            options=self._merged("options", variant, case),
            closure=text.closure,
            origin=self.top.file,
            summary=variant.string("summary", self.top.string("summary", "")),
            expectations=tuple(self._expectation(table) for table in variant.tables("expect")),
        )

    def _merged(self, key: str, variant: Table, case: Table) -> dict[str, Any]:
        """The kernel's table with the variant's and the case's laid over it.

        What a variant drops stays dropped: its function has no such parameter, so no case can bring it back.
        """
        merged = {**self.top.mapping(key), **variant.mapping(key), **case.mapping(key)}
        dropped = {name for name, value in variant.mapping(key).items() if value == _DROP}
        return {name: value for name, value in merged.items() if name not in dropped and value != _DROP}

    def _path_of_source(self, variant: Table) -> Path:
        table = variant if "source" in variant else self.top
        path = (self.path.parent / table.string("source")).resolve()
        if not path.is_file():
            table.fail(f"there is no file {table.string('source')!r} beside this one", "source")
        return path

    def _source(self, variant: Table, path: Path) -> Source:
        if path not in self._sources:
            table = variant if "source" in variant else self.top
            try:
                self._sources[path] = read_source(path)
            except SyntaxError as error:
                table.fail(f"{shown(path)}, line {error.lineno}: {error.msg}", "source")
            except (OSError, ValueError) as error:
                table.fail(f"{shown(path)} cannot be read: {error}", "source")
        return self._sources[path]

    def _expectation(self, table: Table) -> Expectation:
        table.only("releases", "targets", "cases", "status", "class", "reason")
        status, kind = table.string("status"), table.optional("class")
        known = [str(status) for status in Status if status not in _UNEXPECTABLE]
        if status not in known:
            hint = did_you_mean(status, known) or f"One of: {', '.join(known)}."
            table.fail(f"{status!r} is not a status that can be expected", "status", hint=hint)
        if kind is not None and self.kinds and kind not in self.kinds:
            hint = did_you_mean(kind, self.kinds) or f"One of: {', '.join(sorted(self.kinds))}."
            table.fail(f"{kind!r} is not a class of failure", "class", hint=hint)
        _matching(table, "cases", self.cases)
        return Expectation(
            status=Status(status),
            kind=kind,
            releases=table.specifier("releases"),
            targets=table.strings("targets", ("*",)),
            cases=table.strings("cases", ("*",)),
            reason=table.string("reason", ""),
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
    if not named:
        top.fail(f"declares no {key}", key, hint=f"At least one [[{key}]] is needed.")
    return named


def _matching(table: Table, key: str, names: Collection[str]) -> list[str]:
    """The names that the globs under ``key`` match, all where there are none; a glob that matches nothing is refused."""
    globs = table.strings(key, ("*",))
    for index, pattern in enumerate(globs):
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names) or f"There are: {', '.join(names)}."
            table.fail(f"no case matches {pattern!r}", f"{key}[{index}]", hint=hint)
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in globs)]


def _check_tables(table: Table) -> None:
    """Check every value of the four tables that can be merged, wherever they stand."""
    for name, value in table.mapping("signature").items():
        if value != _DROP and not (isinstance(value, str) and _TYPE.fullmatch(value)):
            known = [*DTYPES, *(f"*{dtype}" for dtype in DTYPES)]
            hint = did_you_mean(value, known) if isinstance(value, str) else None
            found = repr(value) if isinstance(value, str) else describe(value)
            table.table("signature").fail(f'expected a Triton type such as "*fp16" or "i32", found {found}', name, hint=hint)
    for name, value in table.mapping("constexprs").items():
        if value != _DROP and not _is_constexpr(value):
            hint = 'A whole number, number, boolean, string, {dtype = "fp16"} or {none = true}.'
            table.table("constexprs").fail(f"{describe(value)} is no value of a constexpr", name, hint=hint)
    for name, value in table.mapping("options").items():
        if value != _DROP and not isinstance(value, int | float | str):
            table.table("options").fail(f"{describe(value)} is no value of an option", name)
    table.table("hints").only(*_HINTS)


def _is_constexpr(value: object) -> bool:
    if isinstance(value, Mapping):
        return value == {"none": True} or (set(value) == {"dtype"} and value["dtype"] in DTYPES)
    return isinstance(value, int | float | str)


def _check_hints(hints: Table, arguments: Collection[str]) -> None:
    for key in _HINTS:
        for index, name in enumerate(hints.strings(key)):
            if name not in arguments:
                hint = did_you_mean(name, arguments)
                hints.fail(f"{name!r} is in no signature of this kernel", f"{key}[{index}]", hint=hint)


def _function(variant: Table, name: str, path: Path, source: Source) -> Parameters:
    if name not in source.functions:
        hint = did_you_mean(name, source.functions)
        variant.fail(f"{path.name} defines no function {name!r}", "function", hint=hint)
    return source.functions[name]


def _check_arguments(
    variant: Table, case: Table, parameters: Parameters, signature: Mapping[str, str], constexprs: Mapping[str, Any]
) -> None:
    """Every parameter is given once, as a type or as a value, and nothing else is."""
    named = f"{variant.string('function')} (case {case.string('name')})"
    for name in (*signature, *constexprs):
        if name not in parameters.names:
            hint = did_you_mean(name, parameters.names) or f"If this variant has no such parameter: {name} = {{drop = true}}."
            variant.fail(f"{named} has no parameter {name!r}, which the tables give", hint=hint)
    if both := [name for name in signature if name in constexprs]:
        variant.fail(f"{named}: {both[0]!r} is in the signature and among the constexprs")
    if missing := [name for name in parameters.names if name in parameters.required and name not in {**signature, **constexprs}]:
        variant.fail(f"{named}: no type or value for {', '.join(missing)}")
