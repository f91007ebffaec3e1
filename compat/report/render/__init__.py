"""The registry of report formats, for code forges, browsers and CI systems.

Commands make their options from it and write their files with it. A format's module is imported
when a report is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from compat.text import write_json

if TYPE_CHECKING:
    from compat.report.summary.record import Report

Rendered = str | Iterator[str]
"""The text of a file, or its pieces."""


@frozen(kw_only=True)
class Format:
    """One format of a report."""

    name: str
    """Its option is ``--NAME``."""
    render: Callable[[Report, str], Rendered]
    """Takes the report, and the path from the top of the repository to the folder of the
    project.
    """
    help: str = ""
    """The help of its option; a format without help has no option."""
    file: str = ""
    """The name of the file that every run writes.

    Without a name, the format is written on request, by every command that has a report.
    """


def _html(report: Report, _: str) -> Rendered:
    from compat.report.render.page import matrix_html

    return matrix_html(report)


def _markdown(report: Report, _: str) -> Rendered:
    from compat.report.views.matrix_markdown import matrix_markdown

    return matrix_markdown(report)


def _json(report: Report, _: str) -> Rendered:
    from compat.report.document import matrix_json

    return matrix_json(report)


def _junit(report: Report, _: str) -> Rendered:
    from compat.report.render.ci import junit_xml

    return junit_xml(report)


def _code_quality(report: Report, inside: str) -> Rendered:
    from compat.report.render.ci import code_quality, findings, warnings

    all_findings = (*findings(report, inside), *warnings(report, inside))
    return write_json(code_quality(all_findings)) + "\n"


FORMATS: list[Format] = [
    Format(name="html", render=_html, help="Write the page to this file.", file="index.html"),
    Format(
        name="markdown",
        render=_markdown,
        help="Write the Markdown report to this file.",
        file="matrix.md",
    ),
    Format(name="json", render=_json, file="matrix.json"),
    Format(
        name="junit",
        render=_junit,
        help="Write the cells as test cases to this file, as JUnit XML.",
    ),
    Format(
        name="code-quality",
        render=_code_quality,
        help="Write unexpected cells to this file, as a code quality report for GitLab.",
    ),
]
"""In the order of help and messages."""
