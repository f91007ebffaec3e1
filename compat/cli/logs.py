"""Messages of a working command: notes and progress on standard error, and the log of the run.

Standard error shows as many steps as the user asks for. The log has all of them, in a file for each
run in the project's ``.compat/log``. Messages are kept in memory until the project is known. They
are dropped if a command ends without a project.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from logging.handlers import MemoryHandler
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import click

from compat.text import printable, write_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from compat.errors import CompatError

VERBOSE_HELP = "Log each step to standard error; given twice, log everything."
"""The help of ``-v``, before a command and after it."""
JSON_AWAITED = "compat.json_awaited"
"""The key in a context's ``meta``: whether a program awaits JSON on standard output."""
FOLDER = "log"
"""The name of the folder of the logs, inside the folder that outlives a run."""
_KEPT = 20
"""The number of log files that stay. The newest ones do."""
_EARLY = 10_000
"""The capacity of the buffer for records that wait until the project is known.

The handler has no target until then, so it keeps more records, too.
"""
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)

_log = logging.getLogger("compat")
_early = MemoryHandler(_EARLY, flushLevel=logging.CRITICAL + 1, flushOnClose=False)


class _Lines(logging.Formatter):
    """Formats a record as one line, except for a traceback, without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(printable, super().format(record).split("\n")))


def begin(verbosity: int) -> None:
    """Show warnings on standard error, with a verbosity of 1 also steps, with 2 everything."""
    # The command itself reports a full disk or a lost terminal.
    logging.raiseExceptions = False
    _log.setLevel(logging.DEBUG)
    end()
    _log.propagate = False
    shown = logging.StreamHandler(sys.stderr)
    shown.setLevel(_LEVELS[min(verbosity, len(_LEVELS) - 1)])
    shown.setFormatter(_Lines("%(levelname)s %(name)s: %(message)s"))
    _log.addHandler(shown)
    _log.addHandler(_early)
    _log.debug("%s", " ".join(sys.argv))


def show(more: int) -> None:
    """Show more on standard error than so far: 1 for steps, 2 for everything."""
    for shown in filter(_is_shown, _log.handlers):
        shown.setLevel(_LEVELS[min(_LEVELS.index(shown.level) + more, len(_LEVELS) - 1)])


def is_verbose() -> bool:
    """Whether the user asked for the steps of the command."""
    return any(shown.level < logging.WARNING for shown in filter(_is_shown, _log.handlers))


def _is_shown(handler: logging.Handler) -> bool:
    return type(handler) is logging.StreamHandler


def keep(state: Path) -> None:
    """Write the log of this run below ``state``, if that is possible.

    Earlier messages go first.
    """
    if any(isinstance(handler, logging.FileHandler) for handler in _log.handlers):
        return
    folder = state / FOLDER
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old(folder)
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
        written = logging.FileHandler(folder / name, encoding="utf-8", errors="backslashreplace")
        written.setFormatter(
            _Lines(
                "%(asctime)s.%(msecs)03d %(levelname)s %(threadName)s %(name)s: %(message)s",
                "%H:%M:%S",
            )
        )
        _early.setTarget(written)
        _early.flush()
        _log.removeHandler(_early)
        _log.addHandler(written)


def end() -> None:
    """Close what :func:`begin` and :func:`keep` opened."""
    for handler in list(_log.handlers):
        _log.removeHandler(handler)
        with suppress(OSError):  # a full disk
            handler.close()
    _early.setTarget(None)
    _early.buffer.clear()
    _log.propagate = True


def _forget_old(folder: Path) -> None:
    for path in sorted(folder.glob("*.log"))[: 1 - _KEPT]:
        path.unlink(missing_ok=True)


PER_SECOND = 4
"""How many times per second a terminal is drawn again."""
_PLAIN_EVERY = 10.0
"""Seconds between two progress lines without a terminal."""
_QUIET = "compat.quiet"

Line = Callable[[], str]
"""Returns the progress in one line, which is empty if there is none to show.

Other threads call it.
"""


def be_quiet() -> None:
    """Stop all notes and progress of the running command."""
    click.get_current_context().meta[_QUIET] = True


def is_quiet() -> bool:
    """Whether the user asked for no notes and no progress."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_QUIET))


def say(message: str) -> None:
    """Print a note on standard error, above the progress."""
    if is_quiet():
        return
    if Showing.live is not None:
        from rich.text import Text

        Showing.live.console.print(Text(printable(message)), soft_wrap=True)
    else:
        click.echo(printable(message), err=True)


def print_json_of_error(error: CompatError, context: click.Context) -> None:
    """Print an error as the JSON that a program awaits from a command, unless it has its answer."""
    if context.meta.get(JSON_AWAITED):
        with suppress(OSError):  # the error itself is on standard error
            click.echo(write_json({"error": str(error), "hint": error.hint}, indent=2))


@contextmanager
def show_task(subject: str) -> Iterator[Callable[[str], None]]:
    """Show a task as progress, with its current step and its duration so far.

    It yields a function that sets the text of the step.
    """
    began, now = time.monotonic(), [""]
    with Showing(
        lambda: ", ".join(filter(None, (subject, now[0], f"{time.monotonic() - began:.0f} s")))
    ):
        yield lambda message: now.__setitem__(0, message)


class Showing:
    """A context manager that shows progress."""

    live: ClassVar[Live | None] = None
    """The current display of the terminal. Only the outermost context draws, and it also draws the
    lines of the contexts inside it.
    """
    _inside: ClassVar[list[Line]] = []

    def __init__(
        self,
        line: Line,
        above: Callable[[Console], RenderableType] | None = None,
        *,
        plain_every: float = _PLAIN_EVERY,
    ) -> None:
        """``above`` returns what a terminal shows above the line."""
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

    def _view(self, console: Console) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        lines = filter(None, (self._line(), *(line() for line in tuple(Showing._inside))))
        shown = Text(printable(" · ".join(lines)), style="dim", no_wrap=True, overflow="ellipsis")
        return Group(self._above(console), shown) if self._above else shown

    def _say_now_and_then(self) -> None:
        printed = ""
        while not self._ended.wait(self._plain_every):
            if (line := self._line()) and line != printed:
                click.echo(printable(line), err=True)
                printed = line


def _terminal() -> Console | None:
    """Standard error, if it is a terminal that can redraw lines; else ``None``."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console  # takes longer to import than many commands take

    console = Console(stderr=True, highlight=False)
    return console if console.is_terminal and not console.is_dumb_terminal else None
