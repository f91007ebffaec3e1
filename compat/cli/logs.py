"""What a command did, step by step: on standard error as far as is asked for, and whole in a file for each run.

The file lies in the project's ``.compat/log``. What is logged before the project is known is kept until it is, and forgotten where
a command ends without one.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import suppress
from logging.handlers import MemoryHandler
from pathlib import Path

from compat.text import printable

VERBOSE_HELP = "Log what is done to standard error; twice, log everything."
"""What ``-v`` does, before a command and after it."""
FOLDER = "log"
"""Inside the folder for what is kept between runs."""
_KEPT = 20
"""Files that are kept, the newest."""
_EARLY = 10_000
"""Records that wait for the project to be known."""
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)

_log = logging.getLogger("compat")
_early = MemoryHandler(_EARLY, flushLevel=logging.CRITICAL + 1, flushOnClose=False)


class _Lines(logging.Formatter):
    """One line for each record, tracebacks aside, and nothing in it that a terminal obeys."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(printable, super().format(record).split("\n")))


def begin(verbosity: int) -> None:
    """Show warnings on standard error, and with a verbosity of 1 or 2 also what is done, or everything."""
    logging.raiseExceptions = False  # a disk that is full, or a terminal that is gone, is told of by the command itself
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
    """Show so much more on standard error than is shown by now: 1 for what is done, 2 for everything."""
    for shown in filter(_is_shown, _log.handlers):
        shown.setLevel(_LEVELS[min(_LEVELS.index(shown.level) + more, len(_LEVELS) - 1)])


def is_verbose() -> bool:
    """Whether the user wants to see what is done."""
    return any(shown.level < logging.WARNING for shown in filter(_is_shown, _log.handlers))


def _is_shown(handler: logging.Handler) -> bool:
    return type(handler) is logging.StreamHandler


def keep(state: Path) -> None:
    """Write the log of this run below ``state``, where that can be; what was logged so far goes first."""
    if any(isinstance(handler, logging.FileHandler) for handler in _log.handlers):
        return
    folder = state / FOLDER
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old(folder)
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
        written = logging.FileHandler(folder / name, encoding="utf-8", errors="backslashreplace")
        written.setFormatter(_Lines("%(asctime)s.%(msecs)03d %(levelname)s %(threadName)s %(name)s: %(message)s", "%H:%M:%S"))
        _early.setTarget(written)
        _early.flush()
        _log.removeHandler(_early)
        _log.addHandler(written)


def end() -> None:
    """Close what :func:`begin` and :func:`keep` opened."""
    for handler in list(_log.handlers):
        _log.removeHandler(handler)
        handler.close()
    _early.setTarget(None)
    _early.buffer.clear()
    _log.propagate = True


def _forget_old(folder: Path) -> None:
    for path in sorted(folder.glob("*.log"))[: 1 - _KEPT]:
        path.unlink(missing_ok=True)
