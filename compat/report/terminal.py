"""The report for a terminal: complete without colour, at 80 columns, and piped into a file.

``console.print(TerminalReport(report=report))`` prints it as wide as the console is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from attrs import frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compat.history.verdict import Release
from compat.model import Cell, Result
from compat.pairs.records import failing as failing_pairs
from compat.report.bare import bare
from compat.report.checks import check_words, checked, latencies, reasons
from compat.report.compact import at_most, counted, listed, one_line
from compat.report.excerpts import excerpts
from compat.report.grid import COMING, UNEXPECTED, Grid, Mark, Row, grids, history_of, legend_of
from compat.report.guesses import decided_by_hints, guesses
from compat.report.pairs.terminal import pictures
from compat.report.shards import part
from compat.report.stand_ins import stand_ins
from compat.report.summary import DistinctFailure, Report
from compat.report.versions import failing, library_versions

CROWDED = 40
"""Kernels of libraries with more of which a terminal shows no table of each, and of each failure the first places."""
_FEW = 5
_SLOWER = 15
"""Rows of latencies that are shown; matrix.md has all of them."""
STYLES = {"ok": "green", "ok*": "yellow", "n/a": "dim", COMING: "dim", "-": "dim"}
"""Colours only repeat what the words say; every other mark is red."""


@frozen(kw_only=True)
class TerminalReport:
    """A report that rich can print; it lays itself out for the width it is given."""

    report: Report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        crowded = len({spec.kernel for spec in self.report.specs if spec.package}) > CROWDED
        if crowded:
            yield Text(f"{counted(len(grids(self.report)), 'kernel')}: their tables are in the reports that are written")
        else:
            yield from _tables(self.report, options.max_width)
        yield from _failures(self.report, _FEW if crowded else None)
        yield from _numbers(self.report, _FEW if crowded else None)
        yield from _notes(self.report, crowded=crowded)
        yield from _surprises(self.report, crowded=crowded)
        yield from _libraries(self.report)
        if self.report.pairs:
            yield Text()
            yield from pictures(self.report.pairs, self.report.toolchains, {})
        bad = self.report.unexpected or failing_pairs(self.report.pairs)
        yield Text(f"\n{total(self.report)}", style="bold red" if bad else "bold")


def rows_text(results: Sequence[Result], every: Iterable[Cell], console: Console) -> Text:
    """The tables alone of a run of ``every`` cell that has not ended, without verdicts, as far as they fit on the terminal."""
    known = {result.cell for result in results}
    pending = tuple(cell for cell in every if cell not in known)
    report = Report(results=tuple(results), verdicts=(), envs=(), command="", seconds=0.0, pending=pending)
    out = io.StringIO()
    inner = Console(file=out, width=console.width, force_terminal=True, legacy_windows=False)
    inner._color_system = console._color_system  # as it was found there
    for each in _tables(report, console.width, verdicts=False):
        inner.print(each)
    lines = out.getvalue().rstrip("\n").split("\n")
    room = max(1, console.height - 4)
    more = [f"… {len(lines) - room + 1} more lines"] if len(lines) > room else []
    return Text.from_ansi("\n".join([*lines[: room - len(more)], *more, ""]))


def matrix_text(report: Report, *, width: int = 100) -> str:
    """The same as plain text, ``width`` columns wide."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False, _environ={})
    console.print(TerminalReport(report=report))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def total(report: Report) -> str:
    """The summary line."""
    counts = ", ".join(f"{number:,} {status}" for status, number in report.counts.items())
    surprises = len(report.unexpected)
    verdict = f"{counted(surprises, 'cell')} UNEXPECTED" if surprises else "all as expected"
    if report.pairs:
        good = len(report.pairs) - len(failing_pairs(report.pairs))
        verdict += f"; {good:,} of {counted(len(report.pairs), 'pair')} ok"
        verdict += ", which is UNEXPECTED" if good < len(report.pairs) else ""
    verdict += " so far" if report.pending else ""
    every = len(report.results) + len(report.pending)
    tried = f"{len(report.results):,} of {counted(every, 'cell')}" if report.pending else counted(every, "cell")
    work = f"{tried} in {report.seconds:.1f} s ({report.cached:,} from the store)"
    return f"{f'{part(report)}: ' if report.shards else ''}{work}: {counts or 'nothing'}; {verdict}"


# --- the grid ------------------------------------------------------------------------------------------------------------


def _tables(report: Report, width: int, *, verdicts: bool = True) -> Iterator[RenderableType]:
    """The table of each kernel, and what the marks mean."""
    found = grids(report)
    # One layout for all kernels: a column per release where that fits, else one column of intervals.
    wide = [_wide(report, grid, verdicts=verdicts) for grid in found]
    roomy = all(_natural_width(table) <= width for table in wide)
    for number, grid in enumerate(found):
        yield Text(f"\n{grid.kernel}" if number else grid.kernel, style="bold")
        yield wide[number] if roomy else _narrow(report, grid, verdicts=verdicts)
    if found:
        yield _legend(found)


def _wide(report: Report, grid: Grid, *, verdicts: bool) -> Table:
    table = _frame(grid)
    for release in report.releases:
        table.add_column(_heading(release), no_wrap=True)
    if verdicts:
        table.add_column("verdict")
    for row in grid.rows:
        table.add_row(*_names(grid, row), *map(_styled, row.marks), *([_verdict(row)] if verdicts else ()))
    return table


def _narrow(report: Report, grid: Grid, *, verdicts: bool) -> Table:
    table = _frame(grid)
    if verdicts:
        table.add_column("verdict", min_width=12)
    table.add_column("releases", min_width=18)
    for row in grid.rows:
        table.add_row(*_names(grid, row), *([_verdict(row)] if verdicts else ()), history_of(row, report))
    return table


def _natural_width(table: Table) -> int:
    """The columns a table needs to wrap nothing."""
    return Console(width=10_000, color_system=None, _environ={}).measure(table).maximum


def _frame(grid: Grid) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    table.add_column("variant", no_wrap=False, overflow="fold")
    if any(row.cases for row in grid.rows):
        table.add_column("case")
    if any(row.targets for row in grid.rows):
        table.add_column("target")
    return table


def _heading(release: Release) -> str:
    """A release on two lines, 3.5 over .1, is no wider than its marks; so is 3.1.0 over +ours, nearly."""
    major_minor, _, patch = release.label.rpartition(".")
    return re.sub(r"([+ ])", r"\n\1", release.label, count=1) if release.fork else f"{major_minor}\n.{patch}"


def _names(grid: Grid, row: Row) -> Iterable[str]:
    yield row.variant
    if any(other.cases for other in grid.rows):
        yield " ".join(row.cases) or "all"
    if any(other.targets for other in grid.rows):
        yield " ".join(row.targets) or "all"


def _styled(mark: Mark) -> Text:
    return Text(mark.text, style="bold red" if mark.unexpected else STYLES.get(mark.word, "red"))


def _verdict(row: Row) -> Text:
    return Text(" ".join((row.verdict, *row.failures)), style="green" if row.good else "")


def _legend(found: Iterable[Grid]) -> RenderableType:
    found = tuple(found)
    words = [f"{word} {meaning}" for word, meaning in legend_of(found).items()]
    if any(mark.unexpected for grid in found for row in grid.rows for mark in row.marks):
        words.append(f"{UNEXPECTED} unexpected")
    return Text(f"\n{' · '.join(words)}", style="dim")


# --- below the grid ------------------------------------------------------------------------------------------------------


def _failures(report: Report, most: int | None) -> Iterable[RenderableType]:
    if report.failures:
        yield Text(f"\n{counted(len(report.failures), 'distinct failure')}", style="bold")
    for distinct in report.failures:
        yield _failure(distinct, most)
    if report.edits_known:
        known = f"for the class of {report.edits_known} of {counted(len(report.failures), 'distinct failure')} an edit is known"
        yield Text(f"\n{known}: `compat fix CELL` finds out whether it helps")


def _failure(distinct: DistinctFailure, most: int | None) -> RenderableType:
    """With the first places, where there are many."""
    failure = distinct.failure
    at = (
        f"stage {failure.stage}",
        f"pass {failure.pass_}" if failure.pass_ else "",
        f"op {failure.op}" if failure.op else "",
        failure.location or "",
    )
    lines = Table.grid(padding=(0, 1))
    lines.add_column(width=len("advice"), style="dim")
    lines.add_column(overflow="fold")
    lines.add_row("at", Text(", ".join(part for part in at if part)))
    for number, (targets, said) in enumerate(excerpts(distinct.example, distinct.results)):
        lines.add_row("" if number else "says", Text(f"{targets}{said}"))
    places = [str(where) for where in distinct.where]
    if most is not None and len(places) > most + 1:
        places[most:] = [f"… and {len(places) - most:,} more"]
    for number, place in enumerate(places):
        lines.add_row("" if number else "where", Text(place))
    if failure.advice:
        lines.add_row("advice", Text(" ".join(failure.advice.split())))
    faces = listed([str(status) for status in distinct.statuses])
    table = Table.grid()
    table.add_row(Text.assemble((f"{distinct.id} {failure.failure_class}", "bold"), f" {faces} ", (failure.fingerprint, "dim")))
    table.add_row(Padding(lines, (0, 0, 0, 3)))
    return table


def _numbers(report: Report, most: int | None) -> Iterable[RenderableType]:
    """What came of running kernels: how many are right, each place where one is not, and what takes longer than it did."""
    found = checked(report)
    if found:
        yield Text("\nNumbers", style="bold")
    for each in found:
        yield Text(each.sentence)
        for trouble in each.troubles[:most]:
            head = f"declared {trouble.declared}: " if trouble.expected else "!! "
            yield Padding(Text(f"{head}{trouble.where}", style="" if trouble.expected else "bold red"), (0, 0, 0, 3))
            yield Padding(Text(check_words(trouble.check)), (0, 0, 0, 6))
        if most is not None and len(each.troubles) > most:
            yield Padding(Text(f"… and {len(each.troubles) - most:,} more"), (0, 0, 0, 3))
    for reason, releases in reasons(report):
        yield Padding(Text(f"the interpreter of {releases}: {reason}"), (0, 0, 0, 3))
    if slower := [(table, row) for table in latencies(report) for row in table.rows if row.slower]:
        yield Text("\nLatency that differs between releases by more than 20 %", style="bold")
        lines = [f"{table.kernel}/{row.subject}: {row.verdict} ({row.extremes(report)})" for table, row in slower]
        yield from (Padding(Text(line), (0, 0, 0, 3)) for line in at_most(_SLOWER, lines))


def _notes(report: Report, *, crowded: bool) -> Iterable[RenderableType]:
    if guessed := guesses(result.cell.spec for result in report.ordered):
        yield Text(f"\nnote: {guessed}")
    if deciding := decided_by_hints(report.ordered):
        yield Text(f"\nnote: {deciding}")
    if unknown := bare(result.cell.spec for result in report.ordered):
        yield Text(f"\nnote: {unknown}")
    if (told := stand_ins(report.ordered)) and not crowded:
        yield Text("\nPackages that envs lack, stood in for (compat explain CELL has the details)", style="bold")
        yield from (Padding(Text(each), (0, 0, 0, 3)) for each in told)
    if report.divisions:
        yield Text("\nEnvs of one release that differ", style="bold")
    for division in report.divisions:
        yield Text(str(division.where))
        yield Padding(Text(", ".join(f"{env} says {said}" for env, said in division.answers)), (0, 0, 0, 3))


def _surprises(report: Report, *, crowded: bool) -> Iterable[RenderableType]:
    for broken in report.broken:
        yield Text(f"\nBROKEN ENV {broken.env.name}: {counted(broken.cells, 'cell')} not tried", style="bold red")
        yield Padding(Text(_tail(broken.words) or "there is no output"), (0, 0, 0, 3))
        if broken.advice:
            yield Padding(Text(one_line(broken.advice, 240)), (0, 0, 0, 3))
    for source in report.unimported[: _FEW if crowded else None]:
        head = f"\nNOT IMPORTED {source.source} ({source.kernel}): {counted(source.cells, 'cell')} not tried, on {source.releases}"
        yield Text(head, style="bold red")
        yield Padding(Text(_tail(source.failure.excerpt)), (0, 0, 0, 3))
        yield Padding(Text(one_line(source.failure.advice, 240)), (0, 0, 0, 3))
    if crowded and len(report.unimported) > _FEW:
        yield Text(f"… and {len(report.unimported) - _FEW:,} more that could not be imported", style="bold red")
    if report.surprises:
        yield Text("\nUNEXPECTED", style="bold red")
    if crowded and report.surprises:
        yield Text(f"{counted(len(report.surprises), 'place')}, listed in the reports that are written")
    for surprise in () if crowded else report.surprises:
        failure = f" {surprise.failure}" if surprise.failure else ""
        yield Text(f"!! {surprise.where}", style="bold")
        yield Padding(Text(f"expected {surprise.declared}, got {surprise.got}{failure}"), (0, 0, 0, 3))


def _libraries(report: Report) -> Iterable[RenderableType]:
    """Versions of libraries side by side, below everything else: of hundreds of kernels they are what is read first."""
    for name, versions in groupby(library_versions(report), key=lambda each: each.name):
        found = tuple(versions)
        labels = [release for release in report.releases if any(release.label in each.releases for each in found)]
        table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
        table.add_column("version", overflow="fold")
        table.add_column("kernels", justify="right")
        for release in labels:
            table.add_column(_heading(release), justify="right", no_wrap=True)
        for each in found:
            tallies = (each.releases.get(release.label) for release in labels)
            table.add_row(each.version, f"{each.kernels:,}", *(tally.mark if tally else "-" for tally in tallies))
        yield Text(f"\n{name}: how many of its kernels compile", style="bold")
        yield table
        for each in found:
            yield from (Padding(Text(f"{each.version} on {said}"), (0, 0, 0, 3)) for said in failing(each, report))


def _tail(text: str, lines: int = 4) -> str:
    """The last lines of an installer's words: that is where they say why."""
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-lines:])
