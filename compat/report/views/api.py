"""Names of a toolchain's Python interface, their changes, and kernels' needs: as text and data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from compat.api.comparing import ApiDifference, ChangeKind, NameChange, ReleaseStep
from compat.api.histories import NameHistory, State
from compat.api.needs import (
    KernelNeeds,
    MissingName,
    NameCoverage,
    NameNeed,
    NamesVerdict,
    Outcomes,
    verdicts,
)
from compat.api.records import ApiParameter, Inspection, NameMatches
from compat.history.account import Bracket, Entry, Judgement, Run, account, runs, spans
from compat.model import Status
from compat.model.codec import unstructure
from compat.report.render.blocks import (
    Block,
    DataTable,
    Heading,
    StyledText,
    TableColumn,
    TextLine,
    facts,
)
from compat.text import JsonObject, amount, group_by_key

# --- sentences ------------------------------------------------------------------------------------


KINDS = {"builtin": "built-in", "jit": "jit function"}
"""The words for kinds that a reader may not know."""
STATES = {State.THERE: "present", State.REFUSES: "only raises an error", State.ABSENT: "missing"}
"""The words for the states of a name, as on the page."""
_LINES = 6
"""Lines of a source that a sentence names."""


def kind_of(kind: str) -> str:
    """The name of a kind for readers."""
    return KINDS.get(kind, kind)


def phrase(history: NameHistory) -> str:
    """The history in words: ``since 3.4.0``, ``removed in 3.9.0``, ``in every release``.

    It covers only the releases that were inspected.
    """
    judged = {release: _JUDGED[run.value] for run in history.states for release in run.releases}
    existence = account(
        (
            Entry(release=release, judgement=judged.get(release, Judgement.UNKNOWN))
            for release in history.line
        ),
        by_class=False,
    )
    if not existence.known_entries:
        return (
            "in no release that was inspected"
            if history.line
            else f"in {', '.join(name for name, _ in history.forks)}"
        )
    if not existence.brackets:
        which = "release" if existence.complete else "release that was inspected"
        return f"in every {which}" if existence.known_entries[0].good else f"in no {which}"
    return ", ".join(_change(bracket, history) for bracket in existence.brackets)


_JUDGED = {State.THERE: Judgement.GOOD, State.REFUSES: Judgement.BAD, State.ABSENT: Judgement.BAD}


def _change(bracket: Bracket, history: NameHistory) -> str:
    if bracket.is_fix:
        return (
            f"since {bracket.after}"
            if not bracket.between
            else f"in {bracket.after}, not in {bracket.before}"
        )
    raises = any(
        run.value is State.REFUSES and bracket.after in run.releases for run in history.states
    )
    word = STATES[State.REFUSES] if raises else "removed"
    return (
        f"{word} in {bracket.after}"
        if not bracket.between
        else f"{word} by {bracket.after}, present in {bracket.before}"
    )


def extent(releases: Collection[str], line: Sequence[str]) -> str:
    """Releases as runs: ``3.4.0–3.9.0``, with ``(all)`` if they are all existing releases."""
    return f"{spans(releases, line)}{' (all)' if len(releases) == len(line) > 1 else ''}"


def in_short(text: str, inspection: Inspection) -> str:
    """A text with the short names of modules that sources use: ``tl.float32``."""
    for short, module in inspection.short.items():
        text = text.replace(f"{module}.", f"{short}.")
    return text


def not_looked_at(inspection: Inspection) -> Iterator[str]:
    """The releases that were not inspected, and the advice about them."""
    left_out = [place.label for place in inspection.places if place.left_out]
    if left_out:
        yield f"not inspected: {spans(left_out, inspection.line)}, not among --envs"
    missing = [place.label for place in inspection.places if place.missing]
    if missing:
        yield (
            f"not inspected: {spans(missing, inspection.line)}, not built: `compat envs build"
            f" {' '.join(missing)}`"
        )
    for place in inspection.places:
        if place.namespace is None and not place.missing and not place.left_out:
            yield (
                f"not inspected: {place.label}: env_broken:"
                f" {(place.error.strip().splitlines() or [''])[-1]}"
            )


def verdict_line(verdict: NamesVerdict) -> str:
    """The results of compiles on one line, such as ``ok in all 4 cases, as its names say``.

    Another example is ``ok in 1 of 4 cases, crashed (mlir-abort) in 2, 1 not compiled``.
    """
    names = ", as its names say" if verdict.agrees else ""
    cells = amount(verdict.cells, "case" if verdict.by_case else "cell")
    if len(verdict.outcomes) == 1 and verdict.result_count == verdict.cells:
        everywhere = f" in all {cells}" if verdict.cells > 1 else ""
        return f"{_came_out(verdict.outcomes[0])}{everywhere}{names}"
    parts = [
        f"{_came_out(outcomes)} in {outcomes.results}{'' if at else f' of {cells}'}"
        for at, outcomes in enumerate(verdict.outcomes)
    ]
    missing = verdict.cells - verdict.result_count
    return ", ".join([*parts, f"{missing} not compiled"] if missing else parts) + names


def _came_out(outcomes: Outcomes) -> str:
    if outcomes.failure_class is None:
        return str(outcomes.status)
    text = "ok, predicted to fail" if outcomes.status is Status.OK else str(outcomes.status)
    return f"{text} ({outcomes.failure_class})"


def lack_line(lack: MissingName) -> str:
    """A missing name in words: ``tl.load has no parameter 'boundary_check' (lines 232, 233)``."""
    conditions = f", behind a condition in line {_some(lack.conditions)}" if lack.conditions else ""
    outside = "" if lack.functions else ", outside of kernels"
    return (
        f"{lack.shown} {lack.why} (line{'s' if len(lack.lines) > 1 else ''}"
        f" {_some(lack.lines)}{conditions}{outside})"
    )


def _some(numbers: Iterable[int]) -> str:
    texts = list(map(str, numbers))
    return ", ".join([*texts[:_LINES], "…"] if len(texts) > _LINES else texts)


# --- for a terminal -------------------------------------------------------------------------------


TITLES = {
    ChangeKind.ADDED: "added",
    ChangeKind.REMOVED: "removed",
    ChangeKind.REFUSES: "only raises an error now",
    ChangeKind.CHANGED: "changed",
    ChangeKind.DEPRECATED: "newly deprecated",
}


def names_blocks(
    inspection: Inspection, histories: Sequence[NameHistory], matches: NameMatches
) -> Iterator[Block]:
    """One name in detail, or several as a table."""
    if len(histories) == 1:
        yield from _detail(inspection, histories[0])
    else:
        yield DataTable(
            columns=tuple(
                TableColumn(heading, fold=True) for heading in ("name", "kind", "present", "")
            ),
            rows=tuple(map(_name_row, histories)),
            gap=2,
            ruled=False,
        )
    if matches.internal:
        yield TextLine(
            f"{amount(matches.internal, 'name')} more in internal modules (--all shows them)"
        )
    yield from map(TextLine, not_looked_at(inspection))


def steps_blocks(inspection: Inspection, steps: Sequence[ReleaseStep]) -> Iterator[Block]:
    """The releases, and how many names changed from one to the next."""
    headings = ("names", *TITLES.values())
    yield DataTable(
        columns=(
            TableColumn("release"),
            *(TableColumn(heading, right=True) for heading in headings),
        ),
        rows=tuple(
            (
                step.place.label,
                f"{step.names:,}",
                *(f"{step.counts[kind]:,}" if step.counts else "" for kind in TITLES),
            )
            for step in steps
        ),
        gap=2,
        ruled=False,
    )
    yield from map(TextLine, not_looked_at(inspection))


def difference_blocks(
    inspection: Inspection, difference: ApiDifference, *, internal: bool
) -> Iterator[Block]:
    """The differences, kind by kind."""
    yield TextLine(f"{difference.old.label} → {difference.new.label}", style="bold")
    shown = [change for change in difference.changes if internal or not change.internal]
    for kind, title in TITLES.items():
        changes = [change for change in shown if change.kind is kind]
        if changes:
            yield Heading(f"{title}: {len(changes):,}")
            yield facts(
                (
                    _change_row(inspection, change, within)
                    for change, within in _outermost_changes(changes)
                )
            )
    if not shown:
        yield TextLine("no public name differs" if not internal else "nothing differs")
    if hidden := len(difference.changes) - len(shown):
        yield Heading(
            f"{amount(hidden, 'change')} more in internal modules (--all shows them)", style=""
        )
    if difference.unknown:
        broken = ", ".join(map(inspection.short_name, difference.unknown))
        yield TextLine(f"not compared: {broken}, because an import failed in an env")


def _change_row(inspection: Inspection, change: NameChange, within: int) -> tuple[str, ...]:
    texts = [in_short(text, inspection) for text in change.statements]
    texts += [f"with {amount(within, 'name')}"] if within else []
    return change.shown, kind_of(change.of), "\n".join(texts)


def _outermost_changes(changes: Sequence[NameChange]) -> Iterator[tuple[NameChange, int]]:
    """The outermost changes, each with the number of changes inside of it.

    Changes of names in a class or module that is in ``changes`` itself are only counted.
    """
    containers = {change.full: 0 for change in changes if change.of in ("class", "module")}
    outermost = []
    for change in changes:
        above = [full for full in containers if change.full.startswith(f"{full}.")]
        for full in above:
            containers[full] += 1
        if not above:
            outermost.append(change)
    yield from ((change, containers.get(change.full, 0)) for change in outermost)


def kernels_blocks(
    inspection: Inspection, kernels: Sequence[KernelNeeds], notes: Iterable[str]
) -> Iterator[Block]:
    """The names that each kernel needs, and the names of these that the releases have."""
    for number, kernel in enumerate(kernels):
        if number:
            yield TextLine()
        yield TextLine(title_of(kernel), style="bold")
        yield facts(_present(_kernel_facts(inspection, kernel)))
    yield from map(TextLine, (*notes, *not_looked_at(inspection)))


def title_of(kernel: KernelNeeds) -> str:
    """The source of a kernel, with its function if there is one: ``kernels/a.py::kernel``."""
    return kernel.source if kernel.function is None else f"{kernel.source}::{kernel.function}"


def _present(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return (row for row in rows if row[1])


# --- names ----------------------------------------------------------------------------------------


def _detail(inspection: Inspection, history: NameHistory) -> Iterator[Block]:
    yield TextLine(
        (StyledText(history.shown, "bold"), f": {kind_of(history.kind)}, {phrase(history)}")
    )
    yield facts(_present(_name_facts(inspection, history)))
    if history.parameters:
        yield TextLine("parameters")
        yield facts(_parameter_rows(inspection, history))


def _parameter_rows(inspection: Inspection, history: NameHistory) -> Iterator[tuple[str, str, str]]:
    for parameter in history.parameters:
        for number, (form, releases) in enumerate(_releases_by_value(parameter.runs)):
            default = "" if form.default is None else f"={form.default}"
            kind = "" if form.kind == "positional or keyword" else form.kind
            text = ", ".join(filter(None, (in_short(default, inspection), kind, form.deprecated)))
            yield "" if number else parameter.name, spans(releases, history.line), text


def _name_facts(inspection: Inspection, history: NameHistory) -> Iterator[tuple[str, str]]:
    line = history.line
    yield STATES[State.THERE], extent(history.usable, line)
    yield (
        STATES[State.ABSENT],
        extent(
            [release for release in history.inspected_releases if release not in history.there],
            line,
        ),
    )
    yield STATES[State.REFUSES], _by_release(history.refuses, line)
    yield "deprecated", _by_release(history.deprecated, line)
    yield "warns", _by_release(history.warns, line)
    yield "unknown", _by_release(history.unknown, line)
    yield "forks", ", ".join(f"{name}: {STATES[state]}" for name, state in history.forks)
    yield (
        "kind",
        _by_release(history.kinds, line) if len({run.value for run in history.kinds}) > 1 else "",
    )
    yield "value", _by_release(history.values, line)
    yield (
        "same as",
        "\n".join(
            f"{alias} ({spans(releases, line)})"
            for alias, releases in _releases_by_value(history.same_as)
        ),
    )
    if history.signatures:
        newest = history.signatures[-1]
        yield "signature", f"{newest.last}: {history.shown}{in_short(newest.value, inspection)}"


def _by_release(values: Iterable[Run[str]], line: Sequence[str]) -> str:
    return "\n".join(
        f"{spans(releases, line)}: {value}" for value, releases in _releases_by_value(values)
    )


def _releases_by_value(values: Iterable[Run[T]]) -> Iterable[tuple[T, tuple[str, ...]]]:
    """Each value once, with all the releases that have it."""
    return group_by_key((run.value, release) for run in values for release in run.releases).items()


def _name_row(history: NameHistory) -> tuple[str, ...]:
    phrases = [phrase(history)]
    deprecated = [release for run in history.deprecated for release in run.releases]
    phrases += [f"deprecated {spans(deprecated, history.line)}"] if deprecated else []
    changed = ", ".join(_changes(history))
    phrases += [f"parameters changed {changed}"] if changed else []
    return (
        history.shown,
        kind_of(history.kind),
        extent(history.usable, history.line) or "-",
        "; ".join(phrases),
    )


def _changes(history: NameHistory) -> Iterator[str]:
    """``in 3.5.0`` for each change of the signature.

    It is ``by 3.9.0`` if the previous release was not inspected.
    """
    for before, after in pairwise(history.signatures):
        if before.value != after.value:
            neighbours = history.line.index(after.first) - history.line.index(before.last) == 1
            yield f"{'in' if neighbours else 'by'} {after.first}"


# --- needs ----------------------------------------------------------------------------------------


def _kernel_facts(inspection: Inspection, kernel: KernelNeeds) -> Iterator[tuple[str, str]]:
    line, needs = inspection.line, kernel.needs
    named = [need for need in needs.needs if not set(need.full) & set(inspection.short.values())]
    yield (
        "uses",
        ", ".join(f"{need.shown}{_keywords(need.keywords)}" for need in named) or "nothing",
    )
    complete = [having.place.label for having in needs.coverage if having.has_all]
    yield "has all", extent(complete, line) or "no release that was inspected"
    yield (
        "lacks",
        _run_lines(
            ((having, tuple(map(lack_line, having.missing))) for having in needs.coverage), line
        ),
    )
    yield "unknown", _run_lines(((having, having.unknown) for having in needs.coverage), line)
    yield "deprecated", _run_lines(((having, having.deprecated) for having in needs.coverage), line)
    yield "unresolved", unresolved_attributes(kernel)
    yield "not read", ", ".join(needs.uses.not_read)
    yield from _compile_facts(kernel, line)


def _run_lines(rows: Iterable[tuple[NameCoverage, Sequence[str]]], line: Sequence[str]) -> str:
    """A line for each run of releases with equal facts: ``3.0.0–3.3.0: a; b``."""
    groups = runs((having.place.label, tuple(texts) or None) for having, texts in rows)
    return "\n".join(f"{spans(run.releases, line)}: {'; '.join(run.value)}" for run in groups)


def unresolved_attributes(kernel: KernelNeeds) -> str:
    """The attributes of values whose type the source does not show, in words."""
    names = sorted({f".{name}" for name in kernel.needs.uses.unresolved})
    return (
        f"{', '.join(names)}: attributes of values whose type the source does not show"
        if names
        else ""
    )


def _compile_facts(kernel: KernelNeeds, line: Sequence[str]) -> Iterator[tuple[str, str]]:
    every = verdicts(kernel)
    compiled = [run for run in every if run.value.result_count]
    if not compiled:
        yield (
            "compiled",
            (
                "not yet (--compile compiles and compares)"
                if kernel.specs
                else "its arguments are unknown"
            ),
        )
        return
    lines = [f"{spans(run.releases, line)}: {verdict_line(run.value)}" for run in compiled]
    if any(run.value.result_count < run.value.cells for run in every):
        lines.append("--compile compiles the rest")
    yield "compiled", "\n".join(lines)
    differing = [run for run in compiled if run.value.because]
    yield (
        "differs",
        "\n".join(f"{spans(run.releases, line)}: {run.value.because}" for run in differing),
    )


def _keywords(keywords: Sequence[str]) -> str:
    return f"({', '.join(f'{keyword}=' for keyword in keywords)})" if keywords else ""


# --- as JSON --------------------------------------------------------------------------------------


SCHEMA = 1
"""The version of the format. Within a version, keys may be added, but no key is removed or changes
its meaning.
"""
T = TypeVar("T")


def names_document(inspection: Inspection, histories: Sequence[NameHistory]) -> JsonObject:
    """The histories of names as JSON values."""
    return {**_head(inspection), "names": [_history(history) for history in histories]}


def steps_document(inspection: Inspection, steps: Sequence[ReleaseStep]) -> JsonObject:
    """How many names each release has, and how many changed."""
    rows = [
        {
            "release": step.place.label,
            "names": step.names,
            **{str(kind): step.counts.get(kind) for kind in ChangeKind},
        }
        for step in steps
    ]
    return {**_head(inspection), "steps": rows}


def difference_document(inspection: Inspection, difference: ApiDifference) -> JsonObject:
    """The differences between two releases or forks, including internal names, as JSON values."""
    return {
        **_head(inspection),
        "old": difference.old.label,
        "new": difference.new.label,
        "unknown": list(difference.unknown),
        "changes": unstructure(difference.changes),
    }


def kernels_document(inspection: Inspection, kernels: Sequence[KernelNeeds]) -> JsonObject:
    """The names that kernels need, and the names of these that each release has."""
    return {**_head(inspection), "kernels": [_kernel(kernel) for kernel in kernels]}


def _head(inspection: Inspection) -> JsonObject:
    return {
        "schema": SCHEMA,
        "toolchain": inspection.toolchain,
        "releases": [
            {
                "release": place.label,
                "env": place.built.env.name if place.built else None,
                "fork": place.fork,
                "looked_at": place.namespace is not None,
                "error": place.error or None,
            }
            for place in inspection.places
        ],
    }


def _history(history: NameHistory) -> JsonObject:
    return {
        "name": history.shown,
        "full": history.full,
        "kind": history.kind,
        "internal": history.internal,
        "phrase": phrase(history),
        "intervals": _named_runs(history.states, "state"),
        "parameters": [
            {"name": parameter.name, "intervals": _runs(parameter.runs, _parameter)}
            for parameter in history.parameters
        ],
        "signatures": _named_runs(history.signatures, "signature"),
        "kinds": _named_runs(history.kinds, "kind"),
        "same_as": _named_runs(history.same_as, "name"),
        "values": _named_runs(history.values, "value"),
        **{
            name: _named_runs(getattr(history, name), "says")
            for name in ("deprecated", "warns", "refuses", "unknown")
        },
        "forks": {name: str(state) for name, state in history.forks},
    }


def _runs(value_runs: Iterable[Run[T]], facts: Callable[[T], JsonObject]) -> list[JsonObject]:
    return [{"from": run.first, "to": run.last, **facts(run.value)} for run in value_runs]


def _named_runs(history: Iterable[Run[Any]], key: str) -> list[JsonObject]:
    return _runs(history, lambda value: {key: str(value)})


def _parameter(parameter: ApiParameter) -> JsonObject:
    return {
        "kind": parameter.kind,
        "default": parameter.default,
        "deprecated": parameter.deprecated or None,
    }


# --- needs ----------------------------------------------------------------------------------------


def _kernel(kernel: KernelNeeds) -> JsonObject:
    needs = kernel.needs
    verdict_of: dict[str, NamesVerdict] = {
        release: run.value for run in verdicts(kernel) for release in run.releases
    }
    return {
        "source": kernel.source,
        "function": kernel.function,
        "has_all": [having.place.label for having in needs.coverage if having.has_all],
        "uses": [_need(need) for need in needs.needs],
        "unresolved": sorted(set(needs.uses.unresolved)),
        "not_read": list(needs.uses.not_read),
        "releases": [
            _having(having, verdict_of.get(having.place.label))
            for having in needs.coverage
            if having.inspected
        ],
    }


def _need(need: NameNeed) -> JsonObject:
    return {
        "name": need.shown,
        "full": list(need.full),
        "keywords": list(need.keywords),
        "lines": [use.line for use in need.uses],
    }


def _having(having: NameCoverage, verdict: NamesVerdict | None) -> JsonObject:
    return {
        "release": having.place.label,
        "has_all": having.has_all,
        "lacks": [_lack(lack) for lack in having.missing],
        "unknown": list(having.unknown),
        "deprecated": list(having.deprecated),
        "cells": verdict.cells if verdict else 0,
        "compiled": [
            {
                "status": str(outcomes.status),
                "class": outcomes.failure_class,
                "cells": outcomes.results,
            }
            for outcomes in (verdict.outcomes if verdict else ())
        ],
        "differs": (verdict.because or None) if verdict else None,
    }


def _lack(lack: MissingName) -> JsonObject:
    return {
        "name": lack.shown,
        "why": lack.why,
        "lines": list(lack.lines),
        "conditions": list(lack.conditions),
        "functions": list(lack.functions),
    }
