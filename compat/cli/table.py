"""Rows as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from compat.printable import printable

if TYPE_CHECKING:
    from rich.table import Table


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows, all with the same keys, which are the headings."""
    from rich.table import Table  # as in `compat.cli.answer`

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for heading in rows[0] if rows else ():
        drawn.add_column(heading.replace("_", " "), overflow="fold")
    for row in rows:
        drawn.add_row(*(_shown(value) for value in row.values()))
    return drawn


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return printable(", ".join(map(str, value)) if isinstance(value, list) else str(value))
