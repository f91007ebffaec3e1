"""How a reduction goes, as the user is told of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from compat.cli.showing import Showing, say
from compat.reduce.candidate import Candidate
from compat.reduce.reduction import ReductionListener

_PLAIN_EVERY = 5.0
"""Seconds between two lines of progress where there is no terminal."""


class ReductionProgress(ReductionListener):
    """Reports the progress of a reduction on standard error."""

    def say(self, words: str) -> None:
        say(words)

    @contextmanager
    def searching(self, start: Candidate) -> Iterator[Callable[[Candidate, int], None]]:
        progress = SearchProgress(start)
        with Showing(progress.line, plain_every=_PLAIN_EVERY):
            yield progress.note


class SearchProgress:
    """How far a search is."""

    def __init__(self, start: Candidate) -> None:
        self._best, self._tests, self._began = start, 0, time.monotonic()

    def note(self, best: Candidate, tests: int) -> None:
        """This is the best so far, and so many candidates were judged."""
        self._best, self._tests = best, tests

    def line(self) -> str:
        """All of it in a line."""
        best, elapsed = self._best, time.monotonic() - self._began
        return f"{len(best.text):,} bytes, {best.lines} lines, {self._tests:,} candidates, {elapsed:.0f} s"
