"""How far a feature is with its cells; of a matrix also the first rows of its table."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from compat.cli.logs import PER_SECOND, Showing, doing, say
from compat.model import Cell, Result
from compat.project import Listener
from compat.report.summary.compact import Pace, expectation_line, pace_line
from compat.workers.attempt import taking_longer_than

if TYPE_CHECKING:
    from rich.console import Console

_SLOW = 5.0
"""Seconds from which on a cell is named."""
_SHARE = 20
"""A table is drawn again after this many times what drawing it took: compiling goes first."""


class ProgressListener(Listener):
    """Shows how far a feature is with its cells."""

    def __init__(self, rows: Sequence[Cell] = (), *, judged: bool = True) -> None:
        """``rows`` are the cells of a table that a terminal shows as it fills; unexpected ones count unless none is ``judged``."""
        self._rows, self._judged = rows, judged
        self.results: list[Result] = []
        """Those that are known by now."""

    @contextmanager
    def compiling(self, total: int) -> Iterator[Callable[[Result], None]]:
        progress = Progress(total, self._rows, judged=self._judged, results=self.results)
        with Showing(progress.line, progress.table if self._rows else None):
            yield progress.note

    def expecting(self, cells: Sequence[Cell], seconds: float | None) -> None:
        if line := expectation_line(len(cells), seconds):
            say(line)

    def say(self, words: str) -> None:
        say(words)

    def step(self, subject: str) -> AbstractContextManager[Callable[[str], None]]:
        return doing(subject)


class Progress:
    """Results as they come. Safe to call from several threads."""

    def __init__(self, total: int, rows: Sequence[Cell] = (), *, judged: bool = True, results: list[Result] | None = None) -> None:
        self._total, self._rows, self._judged = total, rows, judged
        self._results: list[Result] = [] if results is None else results
        self._of_env = Counter(cell.env.name for cell in rows) if len(rows) == total else Counter[str]()
        self._done_of_env: Counter[str] = Counter()
        self._done = self._compiled = self._unexpected = 0
        self._counting = threading.Lock()
        self._began: float | None = None
        self._drawn: Any = ""
        self._draw_again = 0.0

    def note(self, result: Result) -> None:
        """One more cell is done."""
        if not result.cached and self._began is None:
            self._began = time.monotonic() - result.outcome.seconds
        with self._counting:
            self._results.append(result)
            self._done += 1
            self._done_of_env[result.cell.env.name] += 1
            self._compiled += not result.cached
            self._unexpected += self._judged and not result.expected

    def line(self) -> str:
        """How far it is now."""
        pace = Pace(
            total=self._total,
            done=self._done,
            compiled=self._compiled,
            unexpected=self._unexpected if self._judged else None,
            seconds=time.monotonic() - self._began if self._began else 0.0,
            slow=taking_longer_than(_SLOW),
            envs={name: (self._done_of_env[name], total) for name, total in self._of_env.items()},
        )
        return pace_line(pace)

    def table(self, console: Console) -> Any:
        """The rows so far, not drawn too often."""
        began = time.monotonic()
        if self._results and began > self._draw_again:
            from compat.report.render.terminal import cropped_text
            from compat.report.views.matrix import running_blocks

            self._drawn = cropped_text(running_blocks(tuple(self._results), self._rows), console)
            self._draw_again = time.monotonic() + max(1 / PER_SECOND, _SHARE * (time.monotonic() - began))
        return self._drawn
