"""A report for a terminal: a table for each kernel, failures, unexpected cells, and the sum.

:mod:`compat.report.views.matrix_markdown` shows it as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from compat.history.verdict import Release
from compat.model import Cell, Result
from compat.report.render.blocks import (
    Block,
    DataTable,
    Fit,
    Heading,
    StyledText,
    TableColumn,
    TextLine,
)
from compat.report.summary.checks import check_text, checks_by_device, latencies, reasons
from compat.report.summary.compact import NAMED_CASES, at_most, on_two_lines, one_line, place_text
from compat.report.summary.grid import (
    COMING,
    UNEXPECTED,
    GridRow,
    KernelGrid,
    LibraryRecord,
    Mark,
    failing,
    grids,
    history_of,
    legend_of,
    libraries,
)
from compat.report.summary.record import DistinctFailure, Report, shards_text
from compat.report.summary.statements import excerpts, failures_to_fix, notes, stand_ins
from compat.report.views.envs import pairs_blocks
from compat.text import amount, join_words, name_first

CROWDED = 40
"""The number of library kernels above which a terminal shows no table of each, and only the first
places of each failure.
"""
_FEW = 5
_CASES = 40
"""The width of a column with the names of cases, of which a row may have dozens."""
_SLOWER = 15
"""Rows of latencies, and suspects, that are shown; matrix.md has all of them."""
STYLES = {"ok": "green", "ok*": "yellow", "n/a": "dim", COMING: "dim", "-": "dim"}
"""Colours only repeat the words. Every other mark is red."""


def matrix_blocks(report: Report) -> Iterator[Block]:
    """The blocks of a report."""
    crowded = len({spec.kernel for spec in report.specs if spec.package}) > CROWDED
    most = _FEW if crowded else None
    if crowded:
        yield TextLine(
            f"{amount(len(grids(report)), 'kernel')}; their tables are in the written reports"
        )
    else:
        yield from _grids(report)
    yield from _failures(report, most)
    if report.was_run:
        yield from _numbers(report, most)
    yield from _suspects(report)
    yield from _notes(report, crowded=crowded)
    yield from _without_answers(report, most)
    yield from _surprises(report, crowded=crowded)
    for name, versions, labels in libraries(report):
        yield from _library(name, versions, labels, report)
    if report.pairs:
        yield TextLine()
        yield from pairs_blocks(report.pairs, report.toolchains, {})
    bad = report.unexpected_results or report.failing_pairs
    yield Heading(total(report), style="bold red" if bad else "bold")


def running_blocks(results: Sequence[Result], cells: Iterable[Cell]) -> Iterator[Block]:
    """Only the tables, without verdicts, of a run of these ``cells`` that is in progress."""
    done = {result.cell for result in results}
    pending = tuple(cell for cell in cells if cell not in done)
    report = Report(
        results=tuple(results), verdicts=(), envs=(), command="", seconds=0.0, pending=pending
    )
    return _grids(report, verdicts=False)


def total(report: Report) -> str:
    """The summary line."""
    counts = ", ".join(f"{number:,} {status}" for status, number in report.counts.items())
    surprises = len(report.unexpected_results)
    verdict = f"{amount(surprises, 'cell')} UNEXPECTED" if surprises else "all as expected"
    if report.pairs:
        good = len(report.pairs) - len(report.failing_pairs)
        verdict += f"; {good:,} of {amount(len(report.pairs), 'pair')} ok"
        verdict += ", which is UNEXPECTED" if good < len(report.pairs) else ""
    verdict += " so far" if report.pending else ""
    cells = len(report.results) + len(report.pending)
    done = (
        f"{len(report.results):,} of {amount(cells, 'cell')}"
        if report.pending
        else amount(cells, "cell")
    )
    work = f"{done} in {report.seconds:.1f} s ({report.cached_count:,} from the store)"
    return (
        f"{f'{shards_text(report)}: ' if report.shards else ''}{work}: {counts or 'nothing'};"
        f" {verdict}"
    )


def _suspects(report: Report) -> Iterator[Block]:
    """The cells that compile and are likely slower than on the previous release."""
    if suspects := report.slow_suspects:
        yield Heading("Likely slower than on the previous release (slow-suspect)")
        lines = [f"{suspect.result.cell.id}: {suspect.sentence}" for suspect in suspects]
        yield from (TextLine(line, indent=3) for line in at_most(_SLOWER, lines))


# --- the grid -------------------------------------------------------------------------------------


def _grids(report: Report, *, verdicts: bool = True) -> Iterator[Block]:
    """The table of each kernel, and the legend.

    All tables have the same layout: a column per release if that fits, else a column of intervals.
    """
    kernels = grids(report)
    wide = tuple(
        _title_tables(kernels, (_wide(report, grid, verdicts=verdicts) for grid in kernels))
    )
    yield Fit(
        wide,
        lambda: _title_tables(
            kernels, (_narrow(report, grid, verdicts=verdicts) for grid in kernels)
        ),
    )
    if kernels:
        yield _legend(kernels)


def _title_tables(kernels: Iterable[KernelGrid], tables: Iterable[DataTable]) -> Iterator[Block]:
    for number, (grid, table) in enumerate(zip(kernels, tables, strict=True)):
        yield Heading(grid.kernel) if number else TextLine(grid.kernel, style="bold")
        yield table


def _wide(report: Report, grid: KernelGrid, *, verdicts: bool) -> DataTable:
    releases = (TableColumn(_heading(release), wrap=False) for release in report.releases)
    return DataTable(
        columns=(*_name_columns(grid), *releases, *([TableColumn("verdict")] if verdicts else ())),
        rows=tuple(
            (
                *_names(grid, row),
                *map(_style_mark, row.marks),
                *([_verdict(row)] if verdicts else ()),
            )
            for row in grid.rows
        ),
    )


def _narrow(report: Report, grid: KernelGrid, *, verdicts: bool) -> DataTable:
    verdict = [TableColumn("verdict", min_width=12)] if verdicts else []
    return DataTable(
        columns=(*_name_columns(grid), *verdict, TableColumn("releases", min_width=18)),
        rows=tuple(
            (*_names(grid, row), *([_verdict(row)] if verdicts else ()), history_of(row, report))
            for row in grid.rows
        ),
    )


def _name_columns(grid: KernelGrid) -> Iterator[TableColumn]:
    yield TableColumn("variant", fold=True)
    if any(row.cases for row in grid.rows):
        yield TableColumn("case", max_width=_CASES)
    if any(row.targets for row in grid.rows):
        yield TableColumn("target")


def _names(grid: KernelGrid, row: GridRow) -> Iterator[str]:
    yield row.variant
    if any(other.cases for other in grid.rows):
        named = name_first(row.cases, NAMED_CASES)
        # The number of further cases has a line of its own.
        yield "\n".join((" ".join(named[:NAMED_CASES]) or "all", *named[NAMED_CASES:]))
    if any(other.targets for other in grid.rows):
        yield " ".join(row.targets) or "all"


def _heading(release: Release) -> str:
    """A release on two lines, 3.5 over .1, so that it is no wider than its marks.

    A fork is 3.1.0 over +ours, which is hardly wider.
    """
    if release.fork:
        return re.sub(r"([+ ])", r"\n\1", release.label, count=1)
    return on_two_lines(release.label)


def _style_mark(mark: Mark) -> StyledText:
    return StyledText(mark.text, "bold red" if mark.unexpected else STYLES.get(mark.word, "red"))


def _verdict(row: GridRow) -> StyledText:
    return StyledText(" ".join((row.verdict, *row.failures)), "green" if row.good else "")


def _legend(kernels: Sequence[KernelGrid]) -> Block:
    meanings = [f"{word} {meaning}" for word, meaning in legend_of(kernels).items()]
    if any(mark.unexpected for grid in kernels for row in grid.rows for mark in row.marks):
        meanings.append(f"{UNEXPECTED} unexpected")
    return Heading(" · ".join(meanings), style="dim")


# --- below the grid -------------------------------------------------------------------------------


def _failures(report: Report, most: int | None) -> Iterator[Block]:
    if report.failures:
        yield Heading(amount(len(report.failures), "distinct failure"))
    for distinct in report.failures:
        yield from _failure(distinct, most)
    if report.edits_known:
        named = failures_to_fix(report)
        yield Heading(f"`compat fix CELL` can try edits for {named}", style="")


def _failure(distinct: DistinctFailure, most: int | None) -> Iterator[Block]:
    """One distinct failure, with the first ``most`` places if there are many."""
    failure = distinct.failure
    statuses = join_words([str(status) for status in distinct.statuses])
    yield TextLine(
        (
            StyledText(f"{distinct.id} {failure.failure_class}", "bold"),
            f" {statuses} ",
            StyledText(failure.fingerprint, "dim"),
        )
    )
    places = [str(where) for where in distinct.where]
    if most is not None and len(places) > most + 1:
        places[most:] = [f"… and {len(places) - most:,} more"]
    rows = [("at", place_text(failure))]
    rows += _label_lines(
        "says",
        (f"{targets}{line}" for targets, line in excerpts(distinct.example, distinct.results)),
    )
    rows += _label_lines("where", places)
    rows += [("advice", " ".join(failure.advice.split()))] if failure.advice else []
    yield DataTable(
        columns=(TableColumn(width=len("advice"), style="dim"), TableColumn(fold=True)),
        rows=tuple(rows),
        ruled=False,
        indent=3,
    )


def _label_lines(label: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    return (("" if number else label, line) for number, line in enumerate(lines))


def _numbers(report: Report, most: int | None) -> Iterator[Block]:
    """The numbers of checks, the first ``most`` places of failed checks, and slower launches."""
    devices = checks_by_device(report)
    if devices:
        yield Heading("Numbers")
    for device in devices:
        yield TextLine(device.sentence)
        for trouble in device.troubles[:most]:
            head = f"declared {trouble.declared}: " if trouble.expected else "!! "
            yield TextLine(
                f"{head}{trouble.where}", style="" if trouble.expected else "bold red", indent=3
            )
            yield TextLine(check_text(trouble.check), indent=6)
        if most is not None and len(device.troubles) > most:
            yield TextLine(f"… and {len(device.troubles) - most:,} more", indent=3)
    for reason, releases in reasons(report):
        yield TextLine(f"the interpreter of {releases}: {reason}", indent=3)
    if slower := [(table, row) for table in latencies(report) for row in table.rows if row.slower]:
        yield Heading("Latency differs by more than 20 % between releases")
        lines = [
            f"{table.kernel}/{row.subject}: {row.verdict} ({row.extremes(report)})"
            for table, row in slower
        ]
        yield from (TextLine(line, indent=3) for line in at_most(_SLOWER, lines))


def _notes(report: Report, *, crowded: bool) -> Iterator[Block]:
    for note in notes(report):
        yield Heading(f"note: {note}", style="")
    if (sentences := stand_ins(report.ordered_results)) and not crowded:
        yield Heading("Stand-ins for missing packages (`compat explain CELL` shows the details)")
        yield from (TextLine(sentence, indent=3) for sentence in sentences)
    if report.divisions:
        yield Heading("Envs of one release that disagree")
    for division in report.divisions:
        yield TextLine(str(division.where))
        yield TextLine(
            ", ".join(f"{env} says {answer}" for env, answer in division.answers), indent=3
        )


def _without_answers(report: Report, most: int | None) -> Iterator[Block]:
    """The broken envs, and the kernel sources that could not be loaded."""
    for broken in report.broken_envs:
        yield Heading(
            f"BROKEN ENV {broken.env.name}: {amount(broken.cells, 'cell')} not tried",
            style="bold red",
        )
        yield TextLine(_tail(broken.message) or "no output", indent=3)
        if broken.advice:
            yield TextLine(one_line(broken.advice, 240), indent=3)
    for source in report.unimported_sources[:most]:
        where = f"{amount(source.cells, 'cell')} not tried, on {source.releases}"
        what = f"NOT LOADED {source.source} ({source.named_kernels})"
        yield Heading(f"{what}: {where}", style="bold red")
        if source.failed_first:
            yield TextLine(one_line(f"failed first: {source.failed_first}", 240), indent=3)
        yield TextLine(_tail(source.failure.excerpt), indent=3)
        yield TextLine(one_line(source.failure.advice, 240), indent=3)
    if most is not None and len(report.unimported_sources) > most:
        yield TextLine(
            f"… and {len(report.unimported_sources) - most:,} more that could not be loaded",
            style="bold red",
        )


def _surprises(report: Report, *, crowded: bool) -> Iterator[Block]:
    if not report.surprises:
        return
    yield Heading("UNEXPECTED", style="bold red")
    if crowded:
        yield TextLine(f"{amount(len(report.surprises), 'place')}; the written reports list them")
        return
    for surprise in report.surprises:
        failure = f" {surprise.failure}" if surprise.failure else ""
        yield TextLine(f"!! {surprise.where}", style="bold")
        yield TextLine(f"expected {surprise.declared}, got {surprise.got}{failure}", indent=3)


def _library(
    name: str, versions: Sequence[LibraryRecord], labels: Sequence[str], report: Report
) -> Iterator[Block]:
    """The versions of a library side by side.

    They are below everything else, because a reader of hundreds of kernels reads them first.
    """
    releases = (
        TableColumn(_heading(release), right=True, wrap=False)
        for release in report.releases
        if release.label in labels
    )
    yield Heading(f"{name}: kernels that compile")
    yield DataTable(
        columns=(TableColumn("version", fold=True), TableColumn("kernels", right=True), *releases),
        rows=tuple(
            (version.version, f"{version.kernels:,}", *map(version.mark, labels))
            for version in versions
        ),
    )
    for version in versions:
        yield from (
            TextLine(f"{version.version} on {line}", indent=3) for line in failing(version, report)
        )


def _tail(text: str) -> str:
    """The last lines of an installer's output, which say why it failed."""
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-4:])
