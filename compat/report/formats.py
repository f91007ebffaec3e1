"""The forms in which a matrix is written, always or on request, and what makes their text. A further form is a further line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compat.report.document import matrix_json
from compat.report.markdown import matrix_markdown
from compat.report.summary import Report


def _html(report: Report) -> str:
    from compat.report.html.page import matrix_html  # commands that write no matrix need neither it nor what it imports

    return matrix_html(report)


def _junit(report: Report, _: str) -> str:
    from compat.report.junit import junit_xml  # few runs need it, or what it imports

    return junit_xml(report)


def _code_quality(report: Report, inside: str) -> str:
    from compat.json_text import write_json
    from compat.report.code_quality import code_quality
    from compat.report.findings import findings

    return write_json(code_quality(findings(report, inside))) + "\n"


FORMATS: Mapping[str, Callable[[Report], str | Iterator[str]]] = {
    "index.html": _html,
    "matrix.md": matrix_markdown,
    "matrix.json": matrix_json,
}
"""The files that every run writes, by name; the text of one, or its pieces."""
ASKED: Mapping[str, Callable[[Report, str], str]] = {"junit": _junit, "code_quality": _code_quality}
"""Those that are written on request; they also take the path from the top of the repository to the folder of the project."""
