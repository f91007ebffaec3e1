"""``compat report``: the outputs of a run again, from the file that it wrote."""

from __future__ import annotations

from pathlib import Path

import click

from compat.cli.answer import Answer, answer_options, write_file
from compat.cli.ci import file_options, write_files
from compat.cli.invocation import relative
from compat.report.document import matrix_document
from compat.report.markdown import matrix_markdown
from compat.report.terminal import TerminalReport
from compat.saved import read_report


@click.command(short_help="Make the outputs of a run again from its matrix.json.")
@click.argument("names", metavar="[FILE]...", nargs=-1)
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the Markdown report here.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the page here.")
@file_options
@answer_options(json_help="The report as JSON, in the newest schema.")
def report(
    *,
    answer: Answer,
    names: tuple[str, ...],
    markdown: Path | None,
    html: Path | None,
    junit: Path | None,
    code_quality: Path | None,
) -> None:
    """Show what a run of `compat matrix` found, and write it in other forms.

    FILE is the matrix.json that it wrote, or a git revision of one, such as HEAD~1:reports/matrix.json; reports/matrix.json unless
    given. Several, of runs that each tried other envs, targets or kernels, become one report. Nothing is compiled, and nothing else
    is needed: neither kernels nor envs.
    """
    found = read_report(*(names or ("reports/matrix.json",)))
    answer.draw(lambda: TerminalReport(report=found), lambda: matrix_document(found))
    if markdown:
        write_file(markdown, matrix_markdown(found), "--markdown")
        answer.add(f"wrote {relative(markdown)}")
    if html:
        from compat.report.html.page import matrix_html

        write_file(html, matrix_html(found), "--html")
        answer.add(f"wrote {relative(html)}")
    write_files(found, answer, Path.cwd(), junit=junit, code_quality=code_quality)
