"""Blocks on a terminal, laid out by rich, or as plain text of any width.

No other module of reports uses rich.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator

from attrs import frozen
from rich import box, table
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from compat.report.render.blocks import Block, DataTable, Fit, Heading, Inline, StyledText, TextLine
from compat.text import printable

NATURAL = 10_000
"""A width at which no line breaks."""


@frozen
class Picture:
    """Blocks that rich can print. Rich gives the width to lay them out for."""

    blocks: Callable[[], Iterable[Block]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for block in self.blocks():
            yield from _renderables(block, options.max_width)


def plain_text(blocks: Iterable[Block], *, width: int = NATURAL) -> str:
    """Blocks as text without colours, and without spaces at the ends of lines."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False, _environ={})
    console.print(Picture(lambda: blocks), crop=False)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def cropped_text(blocks: Iterable[Block], console: Console) -> Text:
    """Blocks as text, cut to a terminal that keeps four lines free for other output.

    The last line of a cut text says how many lines are left out.
    """
    out = io.StringIO()
    inner = Console(file=out, width=console.width, force_terminal=True, legacy_windows=False)
    inner._color_system = console._color_system  # the colours of the terminal
    inner.print(Picture(lambda: blocks))
    lines = out.getvalue().rstrip("\n").split("\n")
    room = max(1, console.height - 4)
    more = [f"… {len(lines) - room + 1} more lines"] if len(lines) > room else []
    return Text.from_ansi("\n".join([*lines[: room - len(more)], *more, ""]))


def _renderables(block: Block, width: int) -> Iterator[RenderableType]:
    match block:
        case Heading():
            yield _text(f"\n{block.text}", block.style)
        case TextLine():
            yield _indent(_text(block.text, block.style, unbroken=block.unbroken), block.indent)
        case DataTable():
            yield _indent(_table(block), block.indent)
        case Fit():
            tables = [part for part in block.wide if isinstance(part, DataTable)]
            roomy = all(_needed_width(table) <= width for table in tables)
            for part in block.wide if roomy else block.narrow():
                yield from _renderables(part, width)


def _indent(content: RenderableType, indent: int) -> RenderableType:
    return Padding(content, (0, 0, 0, indent)) if indent else content


def _text(content: Inline, style: str = "", *, unbroken: bool = False) -> Text:
    spans = content if isinstance(content, tuple) else (content,)
    parts = [
        (printable(span.text), span.style) if isinstance(span, StyledText) else printable(span)
        for span in spans
    ]
    return Text.assemble(
        *parts, style=style, no_wrap=unbroken or None, overflow="ignore" if unbroken else None
    )


def _table(block: DataTable) -> table.Table:
    before = 0 if block.ruled else block.gap // 2
    drawn = table.Table(
        box=box.SIMPLE_HEAD if block.ruled else None,
        show_header=any(column.heading for column in block.columns),
        padding=(0, block.gap - before, 0, before),
        pad_edge=False,
        header_style="bold",
        show_edge=False,
    )
    for column in block.columns:
        drawn.add_column(
            Text(column.heading),
            justify="right" if column.right else "left",
            no_wrap=not column.wrap,
            overflow="fold" if column.fold else "ellipsis",
            style=column.style,
            width=column.width,
            min_width=column.min_width,
            max_width=column.max_width,
        )
    for row in block.rows:
        drawn.add_row(*map(_text, row))
    return drawn


def _needed_width(block: DataTable) -> int:
    """The width that a table needs, in columns of the terminal."""
    measured = Console(width=NATURAL, color_system=None, _environ={}).measure(_table(block))
    return measured.minimum if all(column.fold for column in block.columns) else measured.maximum
