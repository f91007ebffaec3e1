"""Two formats of reports, which are registered before the commands are imported."""

from __future__ import annotations

from collections.abc import Iterator

from compat.report.render import FORMATS, Format
from compat.report.summary.record import Report


def _render(report: Report, inside: str) -> str:
    return f"{len(report.results)} cells in {inside!r}\n"


def _count(report: Report, _: str) -> Iterator[str]:
    return iter([str(len(report.results)), "\n"])


FORMATS.append(Format(name="toy", help="Write a toy.", render=_render))
FORMATS.append(Format(name="count", file="count.txt", render=_count))
