"""How a reduction goes, as the terminal is told of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

import click
from rich.console import Console

from compat.reduce.candidate import Candidate
from compat.reduce.reduction import Listener

_PLAIN_EVERY = 5.0
"""Seconds between two lines of progress where there is no terminal."""


class ReductionProgress(Listener):
    """Reports the progress of a reduction on standard error."""

    def say(self, words: str) -> None:
        click.echo(words, err=True)

    @contextmanager
    def searching(self, start: Candidate) -> Iterator[Callable[[Candidate, int], None]]:
        with _Line(start) as line:
            yield line.show


class _Line:
    """A line that says how far a search is: live on a terminal, now and then elsewhere."""

    def __init__(self, start: Candidate) -> None:
        self._began = self._told = time.monotonic()
        console = Console(stderr=True)
        self._live = console.status(self._line(start, 0)) if console.is_terminal and sys.stderr.isatty() else None

    def show(self, best: Candidate, tests: int) -> None:
        """Tell of the best so far, and how many candidates were judged."""
        if self._live:
            self._live.update(self._line(best, tests))
        elif time.monotonic() - self._told > _PLAIN_EVERY:
            self._told = time.monotonic()
            click.echo(self._line(best, tests), err=True)

    def _line(self, best: Candidate, tests: int) -> str:
        elapsed = time.monotonic() - self._began
        return f"{len(best.text):,} bytes, {best.lines} lines, {tests:,} candidates, {elapsed:.0f} s"

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()
