"""What a terminal shows while a command works: how far a feature is with its cells, and the first rows of a matrix's table."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from compat.model import Cell, Result
from compat.project import Listener
from compat.report.summary.compact import Pace, expectation_line, pace_line
from compat.workers.attempt import taking_longer_than

if TYPE_CHECKING:
    from rich.console import Console
import sys
from typing import TYPE_CHECKING, ClassVar, Self

import click

from compat.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

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


PER_SECOND = 4
"""How often a terminal is drawn anew."""
_PLAIN_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
_QUIET = "compat.quiet"

Line = Callable[[], str]
"""Says how far something is, in one line; empty where there is nothing to say. It is called from other threads."""


def be_quiet() -> None:
    """Have the running command show nothing of this kind."""
    click.get_current_context().meta[_QUIET] = True


def is_quiet() -> bool:
    """Whether the user wants to hear nothing but the answer."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_QUIET))


def say(words: str) -> None:
    """Say on standard error what is done, above what is shown there."""
    if is_quiet():
        return
    if Showing.live is not None:
        from rich.text import Text

        Showing.live.console.print(Text(printable(words)), soft_wrap=True)
    else:
        click.echo(printable(words), err=True)


@contextmanager
def doing(subject: str) -> Iterator[Callable[[str], None]]:
    """Shows since when something is done, and what it is just then: what the function that this gives was last called with."""
    began, now = time.monotonic(), [""]
    with Showing(lambda: ", ".join(filter(None, (subject, now[0], f"{time.monotonic() - began:.0f} s")))):
        yield lambda words: now.__setitem__(0, words)


class Showing:
    """Shows how far something is, for as long as it is entered."""

    live: ClassVar[Live | None] = None
    """What is shown on the terminal now; only the outermost one is on it, and draws those inside of it."""
    _inside: ClassVar[list[Line]] = []

    def __init__(self, line: Line, above: Callable[[Console], Any] | None = None, *, plain_every: float = _PLAIN_EVERY) -> None:
        """``above`` gives what else a terminal shows, above the line."""
        self._line, self._above, self._plain_every = line, above, plain_every
        self._ended = threading.Event()
        self._quiet = is_quiet()
        self._mine: Live | None = None

    def __enter__(self) -> Self:
        if self._quiet:
            return self
        if Showing.live is not None:
            Showing._inside.append(self._line)
        elif console := _terminal():
            from rich.live import Live

            self._mine = Showing.live = Live(
                get_renderable=lambda: self._view(console),
                console=console,
                transient=True,
                refresh_per_second=PER_SECOND,
                vertical_overflow="crop",
            )
            self._mine.start()
        else:
            threading.Thread(target=self._say_now_and_then, name="progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._line in Showing._inside:
            Showing._inside.remove(self._line)
        if self._mine is not None:
            Showing.live = None
            self._mine.stop()

    def _view(self, console: Console) -> Any:
        from rich.console import Group
        from rich.text import Text

        lines = filter(None, (self._line(), *(line() for line in tuple(Showing._inside))))
        shown = Text(printable(" · ".join(lines)), style="dim", no_wrap=True, overflow="ellipsis")
        return Group(self._above(console), shown) if self._above else shown

    def _say_now_and_then(self) -> None:
        while not self._ended.wait(self._plain_every):
            if words := self._line():
                click.echo(printable(words), err=True)


def _terminal() -> Console | None:
    """Standard error, where it is a terminal that can show what changes."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console  # takes longer to import than many commands take

    console = Console(stderr=True, highlight=False)
    return console if console.is_terminal and not console.is_dumb_terminal else None
