"""Rows as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compat.report.render.blocks import Block, DataTable, TableColumn


def table(rows: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Rows, all with the same keys, which are the headings."""
    columns = tuple(TableColumn(heading.replace("_", " "), fold=True) for heading in (rows[0] if rows else ()))
    yield DataTable(columns=columns, rows=tuple(tuple(map(_shown, row.values())) for row in rows), gap=2, ruled=False)


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
