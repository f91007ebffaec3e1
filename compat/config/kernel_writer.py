"""Writes specializations as kernel files, in the form that :mod:`compat.config.kernel_files` reads.

Settings that all variants and cases share are written once, at the top. The others are in their
variant or case. A kernel that was extracted from its file is written in two steps, its module
first::

    spec = bundle(found).write(folder / "softmax.py")
    write_kernel_file([spec], folder / "softmax.toml")

Launches of one function with different arguments are cases of one variant. Their specializations
are equal except for ``case`` and ``compile``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import Factory, evolve, frozen

from compat.config import kernel_sources
from compat.config.argument_tables import NO_HINTS, problem_entries, takes_hint, usual_hints
from compat.config.kernel_files import ONLY_VARIANT, kernels_of
from compat.config.toml import DROP, SCHEMA, display_path, parse_toml, toml_text
from compat.config.tune_tables import TUNED
from compat.errors import ConfigError
from compat.files import replace_file
from compat.model import (
    DEFAULT_TOOLCHAIN,
    HINTS,
    ONLY_CASE,
    TABLES,
    Expectation,
    Specialization,
    arguments,
    constexprs,
)
from compat.model.cell import leaf_types
from compat.source.closure import module_of, roots_of
from compat.text import JsonMapping, JsonObject, group_by_key, printable

_T = TypeVar("_T")
_EVERYTHING = ("*",)

Place = tuple[str, str]
"""A variant and a case."""


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: object = _Absent()
"""The value of a missing entry. In a layer, it drops the entry."""


class UnwritableValues(ValueError):
    """No layers result in these values."""


def write_kernel_file(specs: Sequence[Specialization], path: Path) -> tuple[Specialization, ...]:
    """Write the kernel file of specializations, whole or not at all, and return them as read back.

    Their ``origin`` is then the file's path. If anything else that affects a compile would change,
    nothing is written. Raises ConfigError if no kernel file can express them: :func:`kernel_text`
    refuses them, kernel files do not have their values, or a source has changed. Raises OSError if
    the file cannot be written.
    """
    text = kernel_text(specs, path.parent)
    kernels = kernels_of(parse_toml(text, display_path(path)), path)
    read_specs = tuple(spec for kernel in kernels for spec in kernel.specializations())
    for spec in read_specs:
        original = next(_resolve_paths(candidate) for candidate in specs if candidate.id == spec.id)
        for name in (
            field for field in _COMPARED if getattr(original, field) != getattr(spec, field)
        ):
            was, now = getattr(original, name), getattr(spec, name)
            raise ConfigError(
                f"{spec.variant}/{spec.case} would be read back with another {name}: {now!r}, not"
                f" {was!r}",
                where=display_path(path),
            )
    replace_file(path, text)
    return read_specs


_COMPARED = (
    *("toolchain", "source", "roots", "targets", "closure", "function", "compile", "problem"),
    "tuning",
)


def _resolve_paths(spec: Specialization) -> Specialization:
    """The specialization with its source and roots in the form in which a kernel file is read."""
    source = Path(os.path.realpath(spec.source))
    roots = tuple(Path(os.path.realpath(root)) for root in spec.roots)
    return evolve(
        spec,
        source=str(source),
        roots=kernel_sources.Place(source=source, roots=roots, key="").declared_roots
        if roots
        else (),
    )


def kernel_text(specs: Sequence[Specialization], folder: Path) -> str:
    """The text of a kernel file in ``folder`` that declares these specializations.

    Sources are named relative to the folder, and not read. Raises ConfigError if two have the same
    kernel, variant and case, or if a kernel file cannot express a difference. A file has one
    toolchain, and a variant has one source, function, summary and set of expectations.
    """
    try:
        return toml_text(_document(specs, folder))
    except ValueError as error:
        raise ConfigError(
            f"this cannot be written as a kernel file: {error}", where=str(folder)
        ) from error


def _document(specs: Sequence[Specialization], folder: Path) -> dict[str, object]:
    if len({spec.id for spec in specs}) != len(specs) or not specs:
        raise ConfigError(
            "a kernel file has at least one kernel, and each variant and case of it once",
            where=str(folder),
        )
    by_kernel = group_by_key((spec.kernel, spec) for spec in specs)
    if len({spec.toolchain for spec in specs}) != 1:
        raise ConfigError("the kernels of a file have one toolchain", where=str(folder))
    toolchain = _unless("toolchain", specs[0].toolchain, DEFAULT_TOOLCHAIN)
    kernels = [_kernel(group, folder) for group in by_kernel.values()]
    if len(kernels) == 1:
        return {"schema": SCHEMA, "kernel": specs[0].kernel, **toolchain, **kernels[0]}
    places = [
        {key: value for key, value in kernel.items() if key in kernel_sources.KEYS}
        for kernel in kernels
    ]
    common = places[0] if all(place == places[0] for place in places) else {}
    return {
        "schema": SCHEMA,
        **common,
        **toolchain,
        "kernel": [
            {"name": name} | {key: value for key, value in kernel.items() if key not in common}
            for name, kernel in zip(by_kernel, kernels, strict=True)
        ],
    }


def _kernel(specs: Sequence[Specialization], folder: Path) -> dict[str, object]:
    """The entries of a kernel file about one kernel, in a fixed form, without its name."""
    by_place = {_place(spec): spec for spec in specs}
    variants = group_by_key((spec.variant, spec) for spec in specs)
    cases = in_order([spec.case for spec in group] for group in variants.values())
    kernel, by_variant, by_case = _tables(by_place, folder)
    sources = {
        variant: _source(_one(group, "source"), _one(group, "roots"), folder)
        for variant, group in variants.items()
    }
    summaries = {
        variant: printable(_one(group, "summary")).strip() for variant, group in variants.items()
    }
    source, summary = sources[specs[0].variant], _common(summaries.values())
    written = [
        {
            "name": variant,
            "function": _one(group, "function"),
            **(sources[variant] if sources[variant] != source else {}),
            **_unless("summary", summaries[variant], summary),
            **_unless("cases", [case for case in cases if (variant, case) in by_place], cases),
            **by_variant.get(variant, {}),
            **_unless(
                "expect",
                [_expectation(expectation) for expectation in _one(group, "expectations")],
                [],
            ),
        }
        for variant, group in variants.items()
    ]
    alone = (
        len(written) == 1
        and written[0].keys() == {"name", "function"}
        and written[0]["name"] == ONLY_VARIANT
    )
    return {
        **source,
        **(_unless("function", written[0]["function"], specs[0].kernel) if alone else {}),
        **_unless("targets", list(_one(specs, "targets")), []),
        **_unless("summary", summary, ""),
        **kernel,
        **_unless(
            "case",
            [{"name": case, **by_case.get(case, {})} for case in cases],
            [{"name": ONLY_CASE}],
        ),
        **({} if alone else {"variant": written}),
    }


def _place(spec: Specialization) -> Place:
    return spec.variant, spec.case


def _common(texts: Iterable[str]) -> str:
    """The text if all texts are equal, else an empty text."""
    first, *others = set(texts)
    return "" if others else first


def _unless(name: str, value: _T, default: _T) -> dict[str, _T]:
    """An entry; no entry if the value is the default."""
    return {} if value == default else {name: value}


def _one(specs: Sequence[Specialization], field: str) -> Any:
    """The value that a variant declares once for all its cases."""
    first, *others = specs
    for other in others:
        if getattr(other, field) != getattr(first, field):
            raise UnwritableValues(
                f"{first.variant} has one {field} in the case {first.case}, and another one in"
                f" {other.case}"
            )
    return getattr(first, field)


def _source(source: str, roots: tuple[str, ...], folder: Path) -> JsonObject:
    """The entries for the place of the source.

    They are its path. If the path does not imply the roots, they are its module, and the folders
    and the library to search for it.
    """
    if not source:
        raise UnwritableValues("a specialization has no source; Bundle.write gives it one")
    path, here = Path(os.path.realpath(source)), Path(os.path.realpath(folder))
    own = roots_of(path)
    roots = roots or tuple(map(str, own))
    root_requirements = [(root, kernel_sources.requirement_of(Path(root))) for root in roots]
    if tuple(map(Path, roots)) == own and not any(
        requirement for _, requirement in root_requirements
    ):
        return {"source": os.path.relpath(path, here)}
    packages = [requirement for _, requirement in root_requirements if requirement]
    if len(packages) > 1:
        raise UnwritableValues(
            f"the kernel needs the sources of several libraries ({', '.join(packages)})"
        )
    paths = [
        os.path.relpath(root, here) for root, requirement in root_requirements if not requirement
    ]
    entries = {"module": module_of(path, [Path(root) for root in roots])}
    return {
        **entries,
        **({"path": paths} if paths else {}),
        **({"package": packages[0]} if packages else {}),
    }


def _expectation(expectation: Expectation) -> JsonObject:
    return {
        **_unless("releases", str(expectation.releases), ""),
        **_unless("targets", list(expectation.targets), list(_EVERYTHING)),
        **_unless("cases", list(expectation.cases), list(_EVERYTHING)),
        "status": str(expectation.status),
        **_unless("class", expectation.failure_class, None),
        **_unless("strict", expectation.strict, True),
        **_unless("reason", printable(expectation.reason).strip(), ""),
    }


# --- the tables that are merged -------------------------------------------------------------------


_Tables = JsonObject
_ORDER = (
    *("signature", "launch", "constexprs", "hints", "problem", "problem.parameters", "options"),
    *(f"tune.{table}" for table in TUNED),
)
_Write = Callable[[Any], Any]
_WRITE: Mapping[str, _Write] = {
    **dict.fromkeys(TABLES, constexprs.plain),
    "launch": arguments.plain,
    **dict.fromkeys(("problem", "problem.parameters"), lambda value: value),
}
"""Table → the function that writes a value of it; for all other tables it is a list."""


def _tables(
    specs: Mapping[Place, Specialization], folder: Path
) -> tuple[_Tables, dict[str, _Tables], dict[str, _Tables]]:
    """The tables of the kernel, of each variant and of each case."""
    kernel: _Tables = {}
    variants: dict[str, _Tables] = {}
    cases: dict[str, _Tables] = {}
    entries = sorted(_layers(specs, folder), key=lambda entry: _ORDER.index(entry[0]))
    for table, name, layers, written in entries:
        assignments = [(kernel, layers.kernel)] if layers.kernel is not ABSENT else []
        assignments += [
            (variants.setdefault(variant, {}), value) for variant, value in layers.variants.items()
        ]
        assignments += [(cases.setdefault(case, {}), value) for case, value in layers.cases.items()]
        for tables, value in assignments:
            inner = tables
            for key in table.split("."):
                inner = inner.setdefault(key, {})
            inner[name] = DROP if value is ABSENT else written(value)
    if all(kernel.get("hints", {}).get(hint) == [] for hint in HINTS):
        kernel["hints"] = NO_HINTS
    return kernel, variants, cases


def _layers(
    specs: Mapping[Place, Specialization], folder: Path
) -> Iterator[tuple[str, str, Layers, _Write]]:
    """Yield table, entry, the entry's value in each layer, and the function that writes a value."""
    typed = {place: leaf_types(spec.compile.signature) for place, spec in specs.items()}
    for hint in HINTS:
        values = {place: _written_hint(spec, hint) for place, spec in specs.items()}
        suited = {
            place: [path for path, kind in leaves.items() if takes_hint(kind, hint)]
            for place, leaves in typed.items()
        }
        yield (
            "hints",
            hint,
            _of(Hint(values=values, can_be_dropped=False, places=suited), specs, f"hints.{hint}"),
            list,
        )
    contents = {place: _contents(spec, folder) for place, spec in specs.items()}
    for table in next(iter(contents.values())):
        by_place = {place: tables[table] for place, tables in contents.items()}
        for name in in_order(by_place.values()):
            entry = LayerEntry(
                values={place: values.get(name, ABSENT) for place, values in by_place.items()},
                in_order=table != "options",
                can_be_dropped=table in TABLES,
            )
            yield table, name, _of(entry, specs, f"{table}.{name}"), _WRITE.get(table, list)


def _contents(spec: Specialization, folder: Path) -> dict[str, JsonMapping]:
    """Table → its entries for one variant and case, for all tables except the hints."""
    problem, parameters = problem_entries(spec.problem, spec.compile, folder)
    return {
        **{table: getattr(spec.compile, table) for table in TABLES},
        "problem": problem,
        "problem.parameters": parameters,
        **{f"tune.{table}": getattr(spec.tuning, table) for table in TUNED},
    }


def _of(entry: LayerEntry, specs: Mapping[Place, Specialization], path: str) -> Layers:
    try:
        return layers_of(entry)
    except UnwritableValues:
        values = ", ".join(f"{'/'.join(place)}: {entry.values[place]!r}" for place in specs)
        raise UnwritableValues(f"{path} differs both by variant and by case ({values})") from None


def _written_hint(spec: Specialization, hint: str) -> object:
    """The written value of a hint; absent if it is a default, or if there is a launch."""
    if spec.compile.launch:
        return ABSENT
    value = spec.compile.hints[hint]
    return (
        ABSENT
        if hint in spec.assumed and value == usual_hints(spec.compile.signature)[hint]
        else tuple(value)
    )


# --- layers ---------------------------------------------------------------------------------------
#
# This is the reverse of merging: the entries of each layer of a kernel file with which kernel ←
# variant ← case result in given values. A layer without an entry leaves the one below it. A case
# has one entry for all variants. A variant can drop an entry, and then no case brings it back. So
# some values result from no layers, but values that were read from layers always do.


@frozen(kw_only=True)
class LayerEntry:
    """One entry of the tables, with its value for each variant and case."""

    values: Mapping[Place, Any]
    in_order: bool = True
    """Whether its table keeps its order, that of the lowest layer."""
    can_be_dropped: bool = True
    """Whether a layer can drop the entry of a lower one. If not, an absent entry is absent in all
    lower layers.
    """

    def agree(self, places: Sequence[Place]) -> Any:
        """The common value of all of these places.

        Raises :class:`UnwritableValues` if they differ.
        """
        first = self.values[places[0]]
        if not all(self.fits(first, place) for place in places):
            raise UnwritableValues
        return first

    def fits(self, value: object, place: Place) -> bool:
        """Whether an entry gives the value of a place.

        ``1``, ``1.0`` and ``true`` are different, and ``nan`` is itself.
        """
        return repr(value) == repr(self.values[place])


@frozen(kw_only=True)
class Hint(LayerEntry):
    """A hint: the names of arguments. At a place, only arguments that may have the hint count.

    An absent hint differs from an empty one.
    """

    places: Mapping[Place, Collection[str]]
    """The arguments of a place whose types may have the hint."""

    def agree(self, places: Sequence[Place]) -> Any:
        """All names of these places together.

        Raises :class:`UnwritableValues` if one does not fit.
        """
        values = [self.values[place] for place in places]
        merged = ABSENT if ABSENT in values else tuple(in_order(values))
        if not all(self.fits(merged, place) for place in places):
            raise UnwritableValues
        return merged

    def fits(self, value: Any, place: Place) -> bool:
        """Whether an entry gives a place's value, without arguments that may not have the hint."""
        hint_value = self.values[place]
        if value is ABSENT or hint_value is ABSENT:
            return value is hint_value
        return {name for name in value if name in self.places[place]} == set(hint_value)


@frozen(kw_only=True)
class Layers:
    """The layers of one entry; a missing variant or case declares nothing."""

    kernel: Any = ABSENT
    variants: JsonMapping = Factory(dict)
    cases: JsonMapping = Factory(dict)


def layers_of(entry: LayerEntry) -> Layers:
    """Layers that result in the values of an entry.

    Raises :class:`UnwritableValues` if there are none.

    A case declares a value that all its variants share. In all other cases, a variant must have the
    same value.
    """
    places = list(entry.values)
    absent = [
        v
        for v, group in _group_places(places, 0).items()
        if entry.can_be_dropped and _all_fit(entry, ABSENT, group)
    ]
    remaining = [place for place in places if place[0] not in absent]
    if not entry.in_order and (few := _of_few(entry, remaining, len(absent))) is not None:
        return few
    by_case = _group_places(remaining, 1)
    cases = {case: entry.agree(group) for case, group in by_case.items() if _may_say(entry, group)}
    by_variant = _group_places([place for place in remaining if place[1] not in cases], 0)
    variants = {variant: entry.agree(group) for variant, group in by_variant.items()}
    kernel = _of_kernel(entry, remaining, variants, cases)
    variants = {
        variant: value
        for variant, value in variants.items()
        if not _all_fit(entry, kernel, by_variant[variant])
    }
    cases = {
        c: value
        for c, value in cases.items()
        if not all(entry.fits(variants.get(p[0], kernel), p) for p in by_case[c])
    }
    inheriting = {
        variant
        for variant, case in places
        if kernel is not ABSENT or cases.get(case, ABSENT) is not ABSENT
    }
    return Layers(
        kernel=kernel,
        variants=variants | {variant: ABSENT for variant in absent if variant in inheriting},
        cases=cases,
    )


def _of_few(entry: LayerEntry, places: Sequence[Place], absent_count: int) -> Layers | None:
    """Layers for an entry that most variants do not have; ``None`` for other entries.

    The variants that have it declare it, if each has the same value in all its cases.
    """
    groups = _group_places(places, 0)
    if absent_count <= len(groups) or not all(_agrees(entry, group) for group in groups.values()):
        return None
    return Layers(variants={variant: entry.agree(group) for variant, group in groups.items()})


def in_order(sequences: Iterable[Iterable[str]]) -> list[str]:
    """All names of some sequences, in the order of the first sequence that has each."""
    ordered: list[str] = []
    for names in sequences:
        at = 0
        for name in names:
            if name not in ordered:
                ordered.insert(at, name)
            at = ordered.index(name) + 1
    return ordered


def _group_places(places: Iterable[Place], by: int) -> dict[str, tuple[Place, ...]]:
    return group_by_key((place[by], place) for place in places)


def _all_fit(entry: LayerEntry, value: object, places: Iterable[Place]) -> bool:
    return all(entry.fits(value, place) for place in places)


def _agrees(entry: LayerEntry, places: Sequence[Place]) -> bool:
    try:
        entry.agree(places)
    except UnwritableValues:
        return False
    return True


def _may_say(entry: LayerEntry, places: Sequence[Place]) -> bool:
    """Whether a case can declare the value for all its variants."""
    return _agrees(entry, places) and (
        entry.can_be_dropped or all(entry.values[place] is not ABSENT for place in places)
    )


def _of_kernel(
    entry: LayerEntry,
    places: Sequence[Place],
    variants: Mapping[str, object],
    cases: Mapping[str, object],
) -> object:
    """The value for the kernel: the one that fits everywhere, else the most frequent one.

    The variants' values count, or the cases' if no variant declares one. The value is absent if it
    is absent in a variant.
    """
    if places and _agrees(entry, places):
        return entry.agree(places)
    layer_values = list((variants or cases).values())
    if not layer_values or (variants and ABSENT in layer_values):
        return ABSENT
    there = [value for value in layer_values if value is not ABSENT]
    ((most, _),) = Counter(map(repr, there)).most_common(1)
    return next(value for value in there if repr(value) == most)
