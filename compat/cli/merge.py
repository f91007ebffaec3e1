"""``compat merge``: what several runs found, as one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from compat.cli.answer import Answer, answer_options
from compat.cli.invocation import relative
from compat.cli.reports import FormatFiles, folder_files, format_options, show_report, write_formats
from compat.merging import are_stores, merge_reports, merge_stores, told_of
from compat.pairs.records import failing
from compat.report.summary.compact import listed
from compat.report_folder import write_reports


@click.command
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help=f"Of reports the folder for {listed(folder_files())} [reports]; of stores that of the store [.compat].",
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
    sys.exit(1 if found.unexpected or failing(found.pairs) else 0)


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
