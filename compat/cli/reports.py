"""A report as commands give it out: shown, written in the formats that options name, and told to GitHub."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compat.cli.answer import Answer, relative, write_file
from compat.report.render import Format, formats_always_written, formats_on_request

if TYPE_CHECKING:
    from compat.report.summary.record import Report

_TOPS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""The variables in which GitHub and GitLab say where the repository is."""

FormatFiles = Mapping[Format, Path]
"""The formats that were asked for, each with the file to write."""


def format_options(*, again: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command an option for each format that is written on request, with ``again`` for all; it gets ``formats``."""
    formats = formats_on_request(again=again)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def called(*arguments: Any, **options: Any) -> Any:
            paths = {wanted: options.pop(_parameter(wanted)) for wanted in formats}
            return command(*arguments, formats={wanted: path for wanted, path in paths.items() if path is not None}, **options)

        decorated: Callable[..., Any] = called
        path = click.Path(path_type=Path, dir_okay=False)
        for wanted in reversed(formats):
            option = click.option(f"--{wanted.name}", _parameter(wanted), type=path, metavar="FILE", help=wanted.help)
            decorated = option(decorated)
        return decorated

    return decorate


def _parameter(wanted: Format) -> str:
    return f"{wanted.name.replace('-', '_')}_file"


def folder_files() -> list[str]:
    """The names of the files that every run writes."""
    return [written.file for written in formats_always_written()]


def show_report(report: Report, answer: Answer) -> None:
    """Give the report as the answer of a command."""
    from compat.report.io.document import matrix_document
    from compat.report.views.matrix import matrix_blocks

    answer.draw(lambda: matrix_blocks(report), lambda: matrix_document(report))


def write_formats(report: Report, answer: Answer, root: Path, formats: FormatFiles) -> None:
    """Write the files that are asked for; ``root`` is the folder of the project. Raises StoreError where one cannot be written."""
    for wanted, path in formats.items():
        write_file(path, wanted.render(report, _inside(root)), f"--{wanted.name}")
        answer.add(f"wrote {relative(path)}")


def tell_github(report: Report, root: Path) -> None:
    """Within a workflow of GitHub: what is unexpected beside the source, and the report in the summary of the step."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from compat.report.render.ci import findings, workflow_commands

        for line in workflow_commands(findings(report, _inside(root))):
            click.echo(line, err=True)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        _add_summary(report, Path(path))


def _add_summary(report: Report, path: Path) -> None:
    """Add the report to what other commands of the step have written there. A file that cannot be written is no reason to fail."""
    from compat.report.views.matrix_markdown import step_summary

    try:
        size = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(step_summary(report, size))
    except OSError as error:
        click.echo(f"warning: the summary of the step could not be written: {error}", err=True)


def _inside(root: Path) -> str:
    """The path from the top of the repository to the project, where a CI system says where that is; else empty."""
    tops = [Path(top).resolve() for name in _TOPS if (top := os.environ.get(name))]
    folder = next((root.resolve().relative_to(top) for top in tops if root.resolve().is_relative_to(top)), Path())
    return "" if folder == Path() else folder.as_posix()
