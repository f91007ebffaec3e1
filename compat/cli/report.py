"""The commands for written reports.

``compat report`` makes the outputs of a run again, ``compat merge`` joins the results of several
runs, and ``compat diff`` shows what changed between two.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import click

from compat.cli.answer import (
    FOLDER_FILES,
    Answer,
    FilePath,
    FormatFiles,
    answer_options,
    format_options,
    relative,
    show_report,
    write_file,
    write_formats,
)
from compat.cli.help import Command
from compat.report.folder import (
    are_stores,
    merge_reports,
    merge_stores,
    read_report,
    store_merge_sentences,
    write_reports,
)
from compat.report.summary.comparing import THRESHOLD, CellChangeKind, ReportSide, compare
from compat.report.views.diff import diff_document, diff_lines, diff_markdown
from compat.text import join_words, printable


@click.command(cls=Command)
@click.argument("names", metavar="[FILE]...", nargs=-1)
@format_options(again=True)
@answer_options(json_help="Print the report as JSON.")
def report(*, answer: Answer, names: tuple[str, ...], formats: FormatFiles) -> None:
    """Show what a run of `compat matrix` found, and write it in other forms.

    $ compat report old/matrix.json --html old.html

    FILE is a matrix.json, by default reports/matrix.json, or a git revision of one, such as
    HEAD~1:reports/matrix.json. Several files of runs with other envs, targets or kernels become one
    report. The command compiles nothing and needs neither kernels nor envs.
    """
    loaded_report = read_report(*(names or ("reports/matrix.json",)))
    show_report(loaded_report, answer)
    write_formats(loaded_report, answer, Path.cwd(), formats)


@click.command(cls=Command)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FilePath(exists=True))
@click.option(
    "--output",
    type=FilePath(file_okay=False),
    metavar="FOLDER",
    help=(
        f"For reports, the folder for {join_words(FOLDER_FILES)} [default:"
        " reports]. For stores, the folder of the store.  [default: .compat]"
    ),
)
@format_options()
@answer_options(
    file=False,
    json_help="Print the report as JSON instead of a table; for stores, the numbers of rows.",
)
def merge(
    *, answer: Answer, files: tuple[Path, ...], output: Path | None, formats: FormatFiles
) -> None:
    """Join the reports of several runs, or the stores of several machines.

    $ compat merge shard-*/matrix.json

    The FILEs are matrix.json files, or they are stores: results.sqlite files or their folders. The
    command joins reports into the report of one run, and stores into the project's store or the one
    in --output. A cell that is in several files counts once if they agree, and is flaky if they do
    not.

    Exits with 0 if every cell is as expected and every pair works, and with 1 if one is not. For
    stores, exits with 1 if they disagree.
    """
    if are_stores(files):
        _merge_stores(files, output, answer)
        return
    joint_report = merge_reports(files)
    written = write_reports(joint_report, output or Path("reports"))
    show_report(joint_report, answer)
    answer.add(f"wrote {join_words([relative(path) for path in written])}")
    write_formats(joint_report, answer, Path.cwd(), formats)
    if joint_report.shards:
        click.echo(
            f"note: the report is incomplete: it has {join_words(joint_report.shards)}", err=True
        )
    sys.exit(1 if joint_report.unexpected_results or joint_report.failing_pairs else 0)


def _merge_stores(files: tuple[Path, ...], output: Path | None, answer: Answer) -> None:
    folder, merged = merge_stores(files, output)
    answer.give(
        lambda: [
            f"{relative(folder)}: {sentence}"
            for sentence in store_merge_sentences(merged, len(files))
        ],
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

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> frozenset[CellChangeKind]:
        if isinstance(value, frozenset):
            return value
        names = [word.strip() for word in str(value).split(",")]
        for word in names:
            if word not in list(CellChangeKind):
                self.fail(
                    f"Unknown kind {word!r}. Choose one of: {', '.join(CellChangeKind)}.",
                    parameter,
                    context,
                )
        return frozenset(map(CellChangeKind, names))


class _Percent(click.ParamType[float]):
    """A percentage, which may be greater than 100."""

    name = "percent"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> float:
        try:
            number = float(str(value).removesuffix("%"))
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            self.fail(f"{value!r} is not a percentage.", parameter, context)
        return number


@click.command(cls=Command)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", default="reports/matrix.json")
@click.option(
    "--threshold",
    type=_Percent(),
    default=THRESHOLD,
    show_default=True,
    metavar="PERCENT",
    help=(
        "Percentage by which a metric (registers, spills, shared memory, artifact sizes) may change"
        " unreported."
    ),
)
@click.option(
    "--fail-on",
    type=_Kinds(),
    multiple=True,
    metavar="KIND,...",
    help=f"Exit with 1 if there are changes of these kinds: {', '.join(CellChangeKind)}.",
)
@click.option(
    "--new-releases",
    is_flag=True,
    help="Compare a release that only NEW has with the newest release before it in OLD.",
)
@click.option(
    "--markdown",
    type=FilePath(dir_okay=False),
    help="Also write the changes to this file, for a pull request comment.",
)
@answer_options(json_help="Print the changes as JSON, cell by cell.")
def diff(
    *,
    answer: Answer,
    old: str,
    new: str,
    threshold: float,
    fail_on: tuple[frozenset[CellChangeKind], ...],
    new_releases: bool,
    markdown: Path | None,
) -> None:
    """Show what changed from OLD to NEW: newly broken, fixed, failing differently, deprecated, or
    not tested any more.

    $ compat diff HEAD~1:reports/matrix.json --fail-on broken

    OLD and NEW are matrix.json files, or git revisions of one. NEW is reports/matrix.json by
    default. The command compiles nothing.

    Exits with 0, or with 1 if there is a change of a kind that --fail-on names.
    """
    comparison = compare(_side(old), _side(new), threshold, new_releases=new_releases)
    answer.give(lambda: diff_lines(comparison), lambda: diff_document(comparison))
    if markdown:
        write_file(markdown, diff_markdown(comparison), "--markdown")
        answer.add(f"wrote {relative(markdown)}")
    sys.exit(1 if comparison.count_gated(frozenset().union(*fail_on)) else 0)


def _side(name: str) -> ReportSide:
    return ReportSide(name=printable(name), report=read_report(name))
