"""The forms in which a matrix is written: the name of each file, and what makes its text. A further form is a further line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compat.report.document import dump, matrix_document
from compat.report.markdown import matrix_markdown
from compat.report.summary import Report


def _json(report: Report) -> str:
    return dump(matrix_document(report))


FORMATS: Mapping[str, Callable[[Report], str]] = {"matrix.md": matrix_markdown, "matrix.json": _json}
