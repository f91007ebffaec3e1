"""``compat report``: the outputs of a run again, from the file that it wrote."""

from __future__ import annotations

from pathlib import Path

import click

from compat.cli.answer import Answer, answer_options
from compat.cli.reports import FormatFiles, format_options, show_report, write_formats
from compat.saved import read_report


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
