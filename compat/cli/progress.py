"""The progress of a feature's cells, and for a matrix the first rows of its table."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from attrs import Factory, frozen

from compat.cli.logs import PER_SECOND, Showing, say, show_task
from compat.engine.plan import Forecast, RemainingWork
from compat.model import Cell, Result
from compat.project import Listener
from compat.text import amount, in_time, join_words, printable
from compat.workers.attempt import taking_longer_than

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_SLOW = 5.0
"""Seconds after which progress names a cell."""
_SHARE = 20
"""A command redraws its table after this many times the duration of one drawing, because compiling
has priority.
"""
_LONG = 60.0
"""The estimated seconds from which a run prints the estimate at its start."""
_MANY = 100
"""The number of cells from which a command prints it, if their durations are unknown."""
_TELLING = 5
"""The number of compiled cells from which a rate is meaningful."""
_NAMED = 2
"""The most slow cells, and the most envs, that progress names."""


class ProgressListener(Listener):
    """Shows the progress of a feature's cells."""

    def __init__(self, *, judged: bool = True) -> None:
        """Progress counts unexpected cells if the cells are ``judged``."""
        self._judged = judged
        self.results: list[Result] = []
        """The results so far."""
        self._progress: Progress | None = None

    @contextmanager
    def compiling(
        self, total: int, rows: Sequence[Cell] = ()
    ) -> Iterator[Callable[[Result], None]]:
        progress = Progress(total, rows, judged=self._judged, results=self.results)
        self._progress = progress
        with Showing(progress.line, progress.table if rows else None):
            yield progress.note
        self._progress = None

    def expecting(self, cells: Sequence[Cell], forecast: Forecast) -> None:
        if self._progress is not None:
            self._progress.expect(cells, forecast)
        if line := expectation_line(len(cells), forecast.seconds):
            say(line)

    def say(self, message: str) -> None:
        say(message)

    def step(self, subject: str) -> AbstractContextManager[Callable[[str], None]]:
        return show_task(subject)


class Progress:
    """The progress of a run, updated with each result. Safe to call from several threads."""

    def __init__(
        self,
        total: int,
        rows: Sequence[Cell] = (),
        *,
        judged: bool = True,
        results: list[Result] | None = None,
    ) -> None:
        self._total, self._rows, self._judged = total, rows, judged
        self._results: list[Result] = [] if results is None else results
        self._of_env = (
            Counter(cell.env.name for cell in rows) if len(rows) == total else Counter[str]()
        )
        self._done_of_env: Counter[str] = Counter()
        self._done = self._compiled = self._unexpected = 0
        self._counting = threading.Lock()
        self._work = RemainingWork()
        self._began: float | None = None
        self._drawn: RenderableType = ""
        self._draw_again = 0.0

    def expect(self, cells: Sequence[Cell], forecast: Forecast) -> None:
        """Note that these cells will be compiled. The forecast has their earlier durations."""
        with self._counting:
            self._work.expect((cell.id for cell in cells), forecast.durations)

    def note(self, result: Result) -> None:
        """Note a finished cell."""
        if not result.cached and self._began is None:
            self._began = time.monotonic() - result.outcome.seconds
        with self._counting:
            self._results.append(result)
            self._done += 1
            self._done_of_env[result.cell.env.name] += 1
            self._compiled += not result.cached
            if not result.cached:
                self._work.note(result.cell.id, result.outcome.seconds)
            self._unexpected += self._judged and not result.expected

    def line(self) -> str:
        """The current progress as a line."""
        seconds = time.monotonic() - self._began if self._began else 0.0
        with self._counting:
            weight = self._work.weight(seconds)
        pace = Pace(
            total=self._total,
            done=self._done,
            compiled=self._compiled,
            unexpected=self._unexpected if self._judged else None,
            seconds=seconds,
            weight=weight,
            slow=taking_longer_than(_SLOW),
            envs={name: (self._done_of_env[name], total) for name, total in self._of_env.items()},
        )
        return pace_line(pace)

    def table(self, console: Console) -> RenderableType:
        """The rows so far, drawn again only if the last drawing is old enough."""
        began = time.monotonic()
        if self._results and began > self._draw_again:
            from compat.report.render.terminal import cropped_text
            from compat.report.views.matrix import running_blocks

            self._drawn = cropped_text(running_blocks(tuple(self._results), self._rows), console)
            self._draw_again = time.monotonic() + max(
                1 / PER_SECOND, _SHARE * (time.monotonic() - began)
            )
        return self._drawn


@frozen(kw_only=True)
class Pace:
    """The progress of a run at one moment."""

    total: int
    done: int
    compiled: int
    """The cells that this run compiled, without stored ones."""
    unexpected: int | None
    """``None`` for cells without an expectation, such as trials of a search."""
    seconds: float
    """Seconds since the start of the first compiled cell."""
    weight: float = 1.0
    """The mean time of the remaining cells, divided by that of the compiled cells."""
    slow: tuple[tuple[Cell, float], ...] = ()
    """Slow cells, with the seconds that each has taken so far."""
    envs: Mapping[str, tuple[int, int]] = Factory(dict)
    """Env → its finished cells and all its cells; empty if progress does not show it."""

    @property
    def rate(self) -> float | None:
        """Cells per second; ``None`` if too few cells were compiled."""
        return (
            self.compiled / self.seconds if self.compiled >= _TELLING and self.seconds > 0 else None
        )

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the rest is compiled, at this rate."""
        return (self.total - self.done) * self.weight / self.rate if self.rate else None


def pace_line(pace: Pace) -> str:
    """The pace in a line, such as ``120 of 468 cells, 3 unexpected, 10.5 per second``.

    The remaining time and the envs follow: ``about 33 s left, 1 of 4 envs done, b at 54 %``.
    """
    return ", ".join(_parts(pace))


def _parts(pace: Pace) -> Iterator[str]:
    yield f"{pace.done:,} of {amount(pace.total, 'cell')}"
    if pace.unexpected is not None:
        yield f"{pace.unexpected:,} unexpected"
    if pace.rate is not None and pace.remaining_seconds is not None and pace.done < pace.total:
        yield f"{pace.rate:.1f} per second"
        yield f"about {in_time(pace.remaining_seconds)} left"
    if len(pace.envs) > 1 and pace.done < pace.total:
        yield from _env_parts(pace.envs)
    if pace.slow:
        yield f"slow: {slow_words(pace.slow)}"


def _env_parts(envs: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """The number of finished envs, and the progress of those that have begun.

    If many have begun, only the one with the most cells left is shown.
    """
    yield f"{sum(done == total for done, total in envs.values())} of {len(envs)} envs done"
    begun = {name: (done, total) for name, (done, total) in envs.items() if 0 < done < total}
    if len(begun) > _NAMED:
        begun = dict([max(begun.items(), key=lambda env: env[1][1] - env[1][0])])
    for name, (done, total) in begun.items():
        yield f"{printable(name)} at {100 * done / total:.0f} %"


def slow_words(slow: Sequence[tuple[Cell, float]]) -> str:
    """The slow cells as text: ``kernel/variant/case/target/env (12 s)``."""
    cells = (f"{printable(cell.id)} ({in_time(seconds)})" for cell, seconds in slow)
    return join_words(cells, _NAMED)


def expectation_line(cells: int, seconds: float | None) -> str | None:
    """The line that a long run prints at its start; ``None`` for a short one."""
    if seconds is None:
        return f"{amount(cells, 'cell')} to compile" if cells >= _MANY else None
    return (
        f"{amount(cells, 'cell')} to compile, estimated at {in_time(seconds)} from earlier runs"
        if seconds >= _LONG
        else None
    )
