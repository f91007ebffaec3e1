"""``compat diff``: what changed between two reports."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import click

from compat.cli.answer import Answer, answer_options, write_file
from compat.cli.invocation import relative
from compat.report.summary.comparing import THRESHOLD, CellChangeKind, ReportSide, compare
from compat.report.views.diff import diff_document, diff_lines, diff_markdown
from compat.saved import read_report
from compat.text import printable


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
