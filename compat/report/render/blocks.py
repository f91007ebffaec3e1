"""The building blocks of an answer, independent of the output.

Views make blocks, and :mod:`compat.report.render.terminal` lays them out. Styles are those of rich.
They add no information to the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import frozen


@frozen
class StyledText:
    """A part of a line that has a style of its own."""

    text: str
    style: str = ""


Inline = str | StyledText | tuple[str | StyledText, ...]
"""The text of a line or of a cell."""


@frozen
class TextLine:
    """A line of text, or several."""

    text: Inline = ""
    style: str = ""
    indent: int = 0
    unbroken: bool = False
    """Whether it is never broken into lines, so that it can be copied."""


@frozen
class Heading:
    """The first line of a section, after an empty line."""

    text: str
    style: str = "bold"


@frozen
class TableColumn:
    """A column of a table."""

    heading: str = ""
    right: bool = False
    """Whether its cells are aligned to the right."""
    wrap: bool = True
    fold: bool = False
    """Whether words that are too long for it are broken."""
    style: str = ""
    width: int | None = None
    min_width: int | None = None
    max_width: int | None = None


@frozen(kw_only=True)
class DataTable:
    """A table, with its headings unless no column has one."""

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Inline, ...], ...]
    gap: int = 1
    """Spaces between two columns."""
    ruled: bool = True
    """Whether there is a rule below the headings; it makes the gap wider by one."""
    indent: int = 0


@frozen
class Fit:
    """Blocks with wide tables, and other blocks to show if one of these tables does not fit.

    A table whose columns all fold fits if it breaks no word. Any other fits if it wraps no cell.
    """

    wide: tuple[Block, ...]
    narrow: Callable[[], Iterable[Block]]


Block = TextLine | Heading | DataTable | Fit


def facts(rows: Iterable[Sequence[Inline]]) -> DataTable:
    """A table with three columns, without headings and rules."""
    padded = tuple((*row, *[""] * (3 - len(row))) for row in rows)
    return DataTable(
        columns=(TableColumn(fold=True),) * 3, rows=padded, gap=2, ruled=False, indent=2
    )
