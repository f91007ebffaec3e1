"""Reports as a terminal of some width shows them, without colours."""

from __future__ import annotations

from compat.report.render.terminal import plain_text
from compat.report.summary.record import Report
from compat.report.views.bisect import BisectReport, bisect_blocks
from compat.report.views.matrix import matrix_blocks


def matrix_text(report: Report, *, width: int = 100) -> str:
    """The text of a report."""
    return plain_text(matrix_blocks(report), width=width)


def bisect_text(report: BisectReport, *, width: int = 100) -> str:
    """The text of the report of a bisection."""
    return plain_text(bisect_blocks(report), width=width)
