"""Rows as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from compat.printable import printable

_PIPED_WIDTH = 400
"""Columns where there is no terminal: nothing is folded for programs that read lines."""


def show_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows, all with the same keys, which are the headings."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _PIPED_WIDTH)
    console.print(_table(rows))


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in rows[0] if rows else ():
        table.add_column(heading.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(_shown(value) for value in row.values()))
    return table


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return printable(", ".join(map(str, value)) if isinstance(value, list) else str(value))
