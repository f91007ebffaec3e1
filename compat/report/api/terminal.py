"""Names, differences and needs, as rich lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compat.api.comparing import Change, Difference, Kind, Step
from compat.api.explaining import Kernel, verdicts
from compat.api.finding import Found
from compat.api.histories import NameHistory
from compat.api.records import Looked
from compat.history.runs import Run, runs
from compat.printable import printable
from compat.report.api.sentences import compiled_line, extent, in_short, kind_of, lack_line, not_looked_at, phrase
from compat.report.compact import counted, spans

T = TypeVar("T")
TITLES = {
    Kind.ADDED: "added",
    Kind.REMOVED: "removed",
    Kind.REFUSES: "there, and only raising now",
    Kind.CHANGED: "changed",
    Kind.DEPRECATED: "newly deprecated",
}


def names_picture(looked: Looked, histories: Sequence[NameHistory], found: Found) -> Group:
    """One name in detail, or several as a table."""
    parts: list[Any] = [_detail(looked, histories[0])] if len(histories) == 1 else [_table(histories)]
    if found.internal:
        parts.append(Text(f"{counted(found.internal, 'name')} more in modules that are not meant for users: --all"))
    return Group(*parts, *_footer(looked))


def steps_picture(looked: Looked, steps: Sequence[Step]) -> Group:
    """The releases, and how many names changed from one to the next."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("release", "names", *TITLES.values()):
        table.add_column(heading, justify="left" if heading == "release" else "right")
    for step in steps:
        table.add_row(step.place.label, f"{step.names:,}", *(f"{step.counts[kind]:,}" if step.counts else "" for kind in TITLES))
    return Group(table, *_footer(looked))


def difference_picture(looked: Looked, difference: Difference, *, internal: bool) -> Group:
    """What differs, kind by kind."""
    parts: list[Any] = [Text(f"{difference.old.label} → {difference.new.label}", style="bold")]
    shown = [change for change in difference.changes if internal or not change.internal]
    for kind, title in TITLES.items():
        changes = [change for change in shown if change.kind is kind]
        if changes:
            parts.append(Text(f"\n{title}: {len(changes):,}", style="bold"))
            table = _plain_table()
            for change, within in _folded(changes):
                said = [in_short(each, looked) for each in change.said]
                said += [f"with {counted(within, 'name')}"] if within else []
                table.add_row(_cell(change.shown), kind_of(change.of), _cell("\n".join(said)))
            parts.append(Padding(table, (0, 0, 0, 2)))
    if not shown:
        parts.append(Text("nothing differs of the names that are meant for users" if not internal else "nothing differs"))
    if hidden := len(difference.changes) - len(shown):
        parts.append(Text(f"\n{counted(hidden, 'change')} more in modules that are not meant for users: --all"))
    if difference.unknown:
        broken = ", ".join(map(looked.shown, difference.unknown))
        parts.append(_text(f"nothing is said of {broken}, which cannot be imported in both envs"))
    return Group(*parts)


def _folded(changes: Sequence[Change]) -> Iterator[tuple[Change, int]]:
    """The changes without those of names in a class or module that has changed in the same way, and how many those are."""
    whole = {change.full: 0 for change in changes if change.of in ("class", "module")}
    told = []
    for change in changes:
        above = [full for full in whole if change.full.startswith(f"{full}.")]
        for full in above:
            whole[full] += 1
        if not above:
            told.append(change)
    yield from ((change, whole.get(change.full, 0)) for change in told)


def kernels_picture(looked: Looked, kernels: Sequence[Kernel], notes: Iterable[str]) -> Group:
    """What each kernel needs, and what the releases have of it."""
    parts: list[Any] = []
    for kernel in kernels:
        if parts:
            parts.append(Text(""))
        parts += [Text(printable(title_of(kernel)), style="bold"), Padding(_facts(_of_kernel(looked, kernel)), (0, 0, 0, 2))]
    return Group(*parts, *(_text(note) for note in notes), *_footer(looked))


def title_of(kernel: Kernel) -> str:
    """``kernels/a.py::kernel``."""
    return kernel.source if kernel.function is None else f"{kernel.source}::{kernel.function}"


# --- names -----------------------------------------------------------------------------------------------------------------------


def _detail(looked: Looked, history: NameHistory) -> Group:
    head = Text.assemble((printable(history.shown), "bold"), f": {kind_of(history.kind)}, {phrase(history)}")
    parts: list[Any] = [head, Padding(_facts(_of_name(looked, history)), (0, 0, 0, 2))]
    if history.parameters:
        table = _plain_table()
        for parameter in history.parameters:
            for number, (found, releases) in enumerate(_joined(parameter.runs)):
                default = "" if found.default is None else f"={found.default}"
                kind = "" if found.kind == "positional or keyword" else found.kind
                said = ", ".join(filter(None, (in_short(default, looked), kind, found.deprecated)))
                table.add_row(_cell("" if number else parameter.name), spans(releases, history.line), _cell(said))
        parts += [Text("parameters"), Padding(table, (0, 0, 0, 2))]
    return Group(*parts)


def _of_name(looked: Looked, history: NameHistory) -> Iterator[tuple[str, str]]:
    line = history.line
    yield "there", extent(history.usable, line)
    yield "not there", extent([release for release in history.looked_at if release not in history.there], line)
    yield "only raises", _told(history.refuses, line)
    yield "deprecated", _told(history.deprecated, line)
    yield "warns", _told(history.warns, line)
    yield "unknown", _told(history.unknown, line)
    yield "forks", ", ".join(f"{name}: {state}" for name, state in history.forks)
    yield "kind", _told(history.kinds, line) if len({run.value for run in history.kinds}) > 1 else ""
    yield "value", _told(history.values, line)
    yield "same as", "\n".join(f"{alias} ({spans(releases, line)})" for alias, releases in _joined(history.same_as))
    if history.signatures:
        newest = history.signatures[-1]
        yield "signature", f"{newest.last}: {history.shown}{in_short(newest.value, looked)}"


def _told(found: Iterable[Run[str]], line: Sequence[str]) -> str:
    return "\n".join(f"{spans(releases, line)}: {value}" for value, releases in _joined(found))


def _joined(found: Iterable[Run[T]]) -> Iterator[tuple[T, tuple[str, ...]]]:
    """What is known, each thing once, with all the releases that it is known of."""
    groups: dict[T, tuple[str, ...]] = {}
    for run in found:
        groups[run.value] = (*groups.get(run.value, ()), *run.releases)
    yield from groups.items()


def _table(histories: Sequence[NameHistory]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "kind", "there", ""):
        table.add_column(heading, overflow="fold")
    for history in histories:
        said = [phrase(history)]
        deprecated = [release for run in history.deprecated for release in run.releases]
        said += [f"deprecated {spans(deprecated, history.line)}"] if deprecated else []
        changed = ", ".join(_changes(history))
        said += [f"parameters changed {changed}"] if changed else []
        there = extent(history.usable, history.line) or "-"
        table.add_row(_cell(history.shown), kind_of(history.kind), there, _cell("; ".join(said)))
    return table


def _changes(history: NameHistory) -> Iterator[str]:
    """``in 3.5.0``, ``by 3.9.0``: the latter where the release before was not looked at."""
    for before, after in pairwise(history.signatures):
        if before.value != after.value:
            neighbours = history.line.index(after.first) - history.line.index(before.last) == 1
            yield f"{'in' if neighbours else 'by'} {after.first}"


# --- needs -----------------------------------------------------------------------------------------------------------------------


def _of_kernel(looked: Looked, kernel: Kernel) -> Iterator[tuple[str, str]]:
    line, needs = looked.line, kernel.needs
    named = [need for need in needs.needs if not set(need.full) & set(looked.short.values())]
    yield "uses", ", ".join(f"{need.shown}{_keywords(need.keywords)}" for need in named) or "nothing of it"
    yield (
        "has all",
        extent([having.place.label for having in needs.having if having.has_all], line) or "no release that was looked at",
    )
    lacking = runs((having.place.label, having.lacks or None) for having in needs.having)
    yield "lacks", "\n".join(f"{spans(run.releases, line)}: {_lines(map(lack_line, run.value))}" for run in lacking)
    untold = runs((having.place.label, having.unknown or None) for having in needs.having)
    yield "unknown", "\n".join(f"{spans(run.releases, line)}: {_lines(run.value)}" for run in untold)
    deprecated = runs((having.place.label, having.deprecated or None) for having in needs.having)
    yield "deprecated", "\n".join(f"{spans(run.releases, line)}: {_lines(run.value)}" for run in deprecated)
    yield "unresolved", unresolved(kernel)
    yield "not read", ", ".join(needs.uses.not_read)
    yield from _compiled(kernel, line)


def unresolved(kernel: Kernel) -> str:
    """The attributes of values, which no text tells the type of."""
    names = sorted({f".{each.name}" for each in kernel.needs.uses.unresolved})
    return f"{', '.join(names)}: attributes of values, which the text does not tell the type of" if names else ""


def _compiled(kernel: Kernel, line: Sequence[str]) -> Iterator[tuple[str, str]]:
    found = verdicts(kernel)
    compiled = [run for run in found if run.value.compiled]
    if not compiled:
        yield "compiled", "not yet: --compile compares" if kernel.specs else "no arguments of it are known"
        return
    said = [f"{spans(run.releases, line)}: {compiled_line(run.value)}" for run in compiled]
    if any(run.value.compiled < run.value.cells for run in found):
        said.append("--compile compiles the rest")
    yield "compiled", "\n".join(said)
    differing = [run for run in compiled if run.value.because]
    yield "differs", "\n".join(f"{spans(run.releases, line)}: {run.value.because}" for run in differing)


def _keywords(words: Sequence[str]) -> str:
    return f"({', '.join(f'{word}=' for word in words)})" if words else ""


# --- layout ----------------------------------------------------------------------------------------------------------------------


def _facts(facts: Iterable[tuple[str, str]]) -> Table:
    table = _plain_table()
    for name, said in facts:
        if said:
            table.add_row(name, _cell(said))
    return table


def _plain_table() -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    table.add_column(no_wrap=False, overflow="fold")
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    return table


def _lines(words: Iterable[str]) -> str:
    return "; ".join(words)


def _cell(text: str) -> Text:
    return Text(printable(text))


def _text(words: str) -> Text:
    return Text(printable(words))


def _footer(looked: Looked) -> Iterator[Text]:
    yield from (_text(words) for words in not_looked_at(looked))
