"""A progress bar on a terminal; elsewhere a plain line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import click

from compat.model import Result
from compat.project import Listener

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PLAIN_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


class ProgressListener(Listener):
    """Shows how far a feature is with its cells."""

    @contextmanager
    def compiling(self, total: int) -> Iterator[Callable[[Result], None]]:
        with Progress(total) as progress:
            yield progress.note


class Progress:
    """Counts results as they come. Safe to call from several threads."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = self._unexpected = 0
        self._lock = threading.Lock()
        self._told = time.monotonic()
        self._bar = _bar() if sys.stderr.isatty() else None
        self._task = self._bar.add_task("compiling", total=total, last="") if self._bar else None

    def note(self, result: Result) -> None:
        """One more cell is done."""
        with self._lock:
            self._done += 1
            self._unexpected += not result.expected
            if self._bar and self._task is not None:
                self._bar.update(self._task, advance=1, last=result.cell.id)
            elif not result.cached and time.monotonic() - self._told > _PLAIN_EVERY:
                self._told = time.monotonic()
                click.echo(f"{self._done} of {self._total} cells, {self._unexpected} unexpected", err=True)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()


def _bar() -> Bar | None:
    """A bar, unless the terminal is none that can show it."""
    from rich import progress as bars  # takes longer to import than many commands take
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TextColumn("{task.fields[last]}", style="dim"),
    )
    return bars.Progress(*columns, console=console, transient=True) if console.is_terminal else None
