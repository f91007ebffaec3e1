"""Pairs for a terminal: a table, and below it each way of failing once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compat.pairs.records import Grid, Pair, in_order
from compat.report.compact import counted
from compat.report.pairs.notes import Note, cell_of, notes_of

_INDENT = (0, 0, 0, 3)


@frozen(kw_only=True)
class PairsPicture:
    """A grid of pairs that rich can print."""

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from pictures(self.grid.pairs, self.grid.title, self.grid.pins)
        yield from (Text(f"note: {note}") for note in self.grid.notes)
        yield Text(f"\n{total(self.grid.pairs)}", style="bold" if self.grid.ok else "bold red")


def total(pairs: Sequence[Pair]) -> str:
    """The summary line."""
    good = sum(pair.ok for pair in pairs)
    known = sum(pair.cached for pair in pairs)
    return f"{counted(len(pairs), 'pair')} ({known:,} known from before): {good:,} ok, {len(pairs) - good:,} not"


def pictures(pairs: Sequence[Pair], title: str, pins: Mapping[str, str | None]) -> Iterator[RenderableType]:
    """The table, a row for each PyTorch and a column for each release, and what its cells lead to."""
    notes = notes_of(pairs)
    releases = in_order(pair.release for pair in pairs)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    table.add_column("PyTorch", no_wrap=True)
    if any(pins.values()):
        table.add_column("asks for", no_wrap=True)
    for release in releases:
        table.add_column(release, no_wrap=True)
    at = {(pair.torch, pair.release): pair for pair in pairs}
    for torch in in_order(pair.torch for pair in pairs):
        row = [_styled(cell_of(at.get((torch, release)), notes)) for release in releases]
        table.add_row(torch, *([pins.get(torch) or "?"] if any(pins.values()) else []), *row)
    yield Text(f"PyTorch with {title}: ok, or how many programs fail, and how", style="bold")
    yield table
    for note in notes:
        yield from _note(note)
    for pair in pairs:
        if pair.error is not None:
            yield Text(f"{pair.torch}+{pair.release} could not be tried", style="bold red")
            yield Padding(Text(pair.error.strip()), _INDENT)


def _styled(cell: str) -> Text:
    return Text(cell, style={"ok": "green", "-": "dim"}.get(cell, "red"))


def _note(note: Note) -> Iterator[RenderableType]:
    yield Text.assemble((f"({note.number}) {note.failure_class}", "bold"), f" {note.status}: {note.which}")
    yield Padding(Text(note.message), _INDENT)
    yield Padding(Text(", ".join(note.pairs), style="dim"), _INDENT)
