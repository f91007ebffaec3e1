"""What is done with reports that were written.

``compat report`` makes the outputs of a run again, ``compat merge`` joins what several runs found, and ``compat diff`` shows what
changed between two.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import click

from compat.cli.answer import (
    FOLDER_FILES,
    Answer,
    FormatFiles,
    answer_options,
    format_options,
    relative,
    show_report,
    write_file,
    write_formats,
)
from compat.report.folder import are_stores, merge_reports, merge_stores, read_report, told_of, write_reports
from compat.report.summary.compact import listed
from compat.report.summary.comparing import THRESHOLD, CellChangeKind, ReportSide, compare
from compat.report.views.diff import diff_document, diff_lines, diff_markdown
from compat.text import printable


@click.command
@click.argument("names", metavar="[FILE]...", nargs=-1)
@format_options(again=True)
@answer_options(json_help="The report as JSON, in the newest schema.")
def report(*, answer: Answer, names: tuple[str, ...], formats: FormatFiles) -> None:
    """Show what a run of `compat matrix` found, and write it in other forms.

    FILE is the matrix.json that it wrote, or a git revision of one, such as HEAD~1:reports/matrix.json; reports/matrix.json unless
    given. Several, of runs that each tried other envs, targets or kernels, become one report. Nothing is compiled, and nothing else
    is needed: neither kernels nor envs.
    """
    found = read_report(*(names or ("reports/matrix.json",)))
    show_report(found, answer)
    write_formats(found, answer, Path.cwd(), formats)


@click.command
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help=f"Of reports the folder for {listed(FOLDER_FILES)} [reports]; of stores that of the store [.compat].",
)
@format_options()
@answer_options(file=False, json_help="The report as JSON, as in matrix.json, instead of a table; of stores the numbers.")
def merge(*, answer: Answer, files: tuple[Path, ...], output: Path | None, formats: FormatFiles) -> None:
    """Join the reports of several runs, such as shards, or the stores of several machines.

    Each FILE is a matrix.json, or each is a results.sqlite or the folder of one. Reports become the one that a single run would
    have made. Stores are joined to that of the project, or to the one in --output. A cell that is in several is one where they
    agree, and flaky where they do not.

    Exits with 0 if every cell is as expected and every pair ok, with 1 if one is not; of stores, with 1 if they disagree.
    """
    if are_stores(files):
        _merge_stores(files, output, answer)
        return
    found = merge_reports(files)
    written = write_reports(found, output or Path("reports"))
    show_report(found, answer)
    answer.add(f"wrote {listed([relative(path) for path in written])}")
    write_formats(found, answer, Path.cwd(), formats)
    if found.shards:
        click.echo(f"note: this is not all: it has {listed(found.shards)}", err=True)
    sys.exit(1 if found.unexpected or found.failing_pairs else 0)


def _merge_stores(files: tuple[Path, ...], output: Path | None, answer: Answer) -> None:
    folder, merged = merge_stores(files, output)
    answer.give(
        lambda: [f"{relative(folder)}: {words}" for words in told_of(merged, len(files))],
        lambda: {
            "new": merged.new,
            "known": merged.known,
            "unreadable": merged.unreadable,
            "missing_artifacts": merged.artifacts,
            "disagreeing": list(merged.disagreeing),
        },
    )
    sys.exit(1 if merged.disagreeing else 0)


class _Kinds(click.ParamType[frozenset[CellChangeKind]]):
    """Kinds of changes, separated by commas."""

    name = "kinds"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> frozenset[CellChangeKind]:
        if isinstance(value, frozenset):
            return value
        words = [word.strip() for word in str(value).split(",")]
        for word in words:
            if word not in list(CellChangeKind):
                self.fail(f"{word!r} is none of {', '.join(CellChangeKind)}.", parameter, context)
        return frozenset(map(CellChangeKind, words))


class _Percent(click.ParamType[float]):
    """A part of a hundred, or more than all of it."""

    name = "percent"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        try:
            number = float(str(value).removesuffix("%"))
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            self.fail(f"{value!r} is not a number of percent.", parameter, context)
        return number


@click.command
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", default="reports/matrix.json")
@click.option(
    "--threshold",
    type=_Percent(),
    default=THRESHOLD,
    show_default=True,
    metavar="PERCENT",
    help="By how much a metric (registers, spills, shared memory, artifact sizes) may change before it is told.",
)
@click.option(
    "--fail-on", type=_Kinds(), multiple=True, metavar="KIND,...", help="Exit with 1 if there are such changes: broken, changed, …"
)
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), help="Write it for a pull request comment, too.")
@answer_options(json_help="The changes as JSON, cell by cell.")
def diff(
    *, answer: Answer, old: str, new: str, threshold: float, fail_on: tuple[frozenset[CellChangeKind], ...], markdown: Path | None
) -> None:
    """Show what changed from OLD to NEW: what is newly broken or fixed, fails differently, is deprecated, or not tested any more.

    OLD and NEW are matrix.json files, or git revisions of one, such as HEAD~1:reports/matrix.json. NEW is reports/matrix.json
    unless given. Nothing is compiled.

    Exits with 0, or with 1 where --fail-on names a kind of change that there is.
    """
    found = compare(_side(old), _side(new), threshold)
    answer.give(lambda: diff_lines(found), lambda: diff_document(found))
    if markdown:
        write_file(markdown, diff_markdown(found), "--markdown")
        answer.add(f"wrote {relative(markdown)}")
    sys.exit(1 if found.gated(frozenset().union(*fail_on)) else 0)


def _side(name: str) -> ReportSide:
    return ReportSide(name=printable(name), report=read_report(name))
