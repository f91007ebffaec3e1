"""What CI systems read of a report: files on request, and what GitHub's own variables ask for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from compat.cli.answer import Answer, write_file
from compat.cli.invocation import relative
from compat.report.summary import Report

_FILES = {
    "junit": "Write the cells as test cases here, too, as JUnit XML.",
    "code_quality": "Write what is unexpected here, too, as a code quality report of GitLab.",
}
_TOPS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""The variables in which GitHub and GitLab say where the repository is."""


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options for files that CI systems read."""
    for name, words in reversed(_FILES.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, name, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help=words)(command)
    return command


def write_files(report: Report, answer: Answer, root: Path, **files: Path | None) -> None:
    """Write the files that are asked for; ``root`` is the folder of the project. Raises StoreError where one cannot be written."""
    from compat.report.formats import ASKED

    for name, path in files.items():
        if path is not None:
            write_file(path, ASKED[name](report, _inside(root)), f"--{name.replace('_', '-')}")
            answer.add(f"wrote {relative(path)}")


def tell_github(report: Report, root: Path) -> None:
    """Within a workflow of GitHub: what is unexpected beside the source, and the report in the summary of the step."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from compat.report.annotations import workflow_commands
        from compat.report.findings import findings

        for line in workflow_commands(findings(report, _inside(root))):
            click.echo(line, err=True)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        _add_summary(report, Path(path))


def _add_summary(report: Report, path: Path) -> None:
    """Add the report to what other commands of the step have said there. That it cannot be is no reason to fail."""
    from compat.report.markdown import step_summary

    try:
        said = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(step_summary(report, said))
    except OSError as error:
        click.echo(f"warning: the summary of the step could not be written: {error}", err=True)


def _inside(root: Path) -> str:
    """The path from the top of the repository to the project, where a CI system says where that is; else empty."""
    tops = [Path(top).resolve() for name in _TOPS if (top := os.environ.get(name))]
    folder = next((root.resolve().relative_to(top) for top in tops if root.resolve().is_relative_to(top)), Path())
    return "" if folder == Path() else folder.as_posix()
