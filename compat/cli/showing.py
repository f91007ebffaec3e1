"""What goes on while a user waits, on standard error: on a terminal a line that changes, elsewhere a plain line now and then.

Where one thing is shown inside of another, a terminal shows the inner one's line below. ``--quiet`` shows nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import click

from compat.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

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
