"""The formats in which a report is written, for code forges, browsers and CI systems: one registry, from which commands make their
options and runs their files. What makes each is imported when it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from compat.model.json_text import write_json

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
    """Takes the report, and the path from the top of the repository to the folder of the project."""
    help: str = ""
    """The help of its option; a format without help has no option."""
    file: str = ""
    """The name under which every run writes it. Without one it is written on request, and by every command that has a report."""


_FORMATS: dict[str, Format] = {}


def register(new: Format) -> None:
    """Add a format, or replace the one of that name."""
    _FORMATS[new.name] = new


def formats_on_request(*, again: bool = False) -> tuple[Format, ...]:
    """The formats that an option asks for; ``again`` adds those that every run writes, for a command that writes no folder."""
    return tuple(candidate for candidate in _FORMATS.values() if candidate.help and (again or not candidate.file))


def formats_always_written() -> tuple[Format, ...]:
    """The formats that every run writes, the page first."""
    return tuple(
        sorted(
            (candidate for candidate in _FORMATS.values() if candidate.file), key=lambda candidate: candidate.file != "index.html"
        )
    )


def _markdown(report: Report, _: str) -> Rendered:
    from compat.report.views.matrix_markdown import matrix_markdown

    return matrix_markdown(report)


def _html(report: Report, _: str) -> Rendered:
    from compat.report.render.page import matrix_html

    return matrix_html(report)


def _json(report: Report, _: str) -> Rendered:
    from compat.report.document import matrix_json

    return matrix_json(report)


def _junit(report: Report, _: str) -> Rendered:
    from compat.report.render.ci import junit_xml

    return junit_xml(report)


def _code_quality(report: Report, inside: str) -> Rendered:
    from compat.report.render.ci import code_quality, findings

    return write_json(code_quality(findings(report, inside))) + "\n"


register(Format(name="markdown", render=_markdown, help="Write the Markdown report here.", file="matrix.md"))
register(Format(name="html", render=_html, help="Write the page here.", file="index.html"))
register(Format(name="json", render=_json, file="matrix.json"))
register(Format(name="junit", render=_junit, help="Write the cells as test cases here, too, as JUnit XML."))
register(
    Format(
        name="code-quality",
        render=_code_quality,
        help="Write what is unexpected here, too, as a code quality report of GitLab.",
    )
)
