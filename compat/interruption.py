"""The request to stop the running command, from the user or because its time is over.

A signal can arrive at any line of the program. An exception raised there may interrupt cleanup
code, or be lost in a callback. So the command line only records the request here
(:mod:`compat.cli.start`). Code that waits or runs for long checks for it and ends in order.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

REQUESTED = threading.Event()
"""Set when all running work must end, for code that waits for an event."""


class Stopped(Exception):
    """Running work stopped on request.

    Finished results are kept. Unfinished work has no result.
    """


def ask() -> None:
    """Request that all running work ends."""
    REQUESTED.set()


def is_requested() -> bool:
    """Whether all running work must end."""
    return REQUESTED.is_set()


def clear() -> None:
    """Withdraw the request, so that the command can finish something before it ends."""
    REQUESTED.clear()


def check() -> None:
    """Raise :class:`Stopped` if all running work must end."""
    if REQUESTED.is_set():
        raise Stopped


class Budget:
    """A time limit in seconds, which starts when the object is created. ``None``: no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds if seconds is not None else math.inf
        self._began = time.monotonic()

    @property
    def bounded(self) -> bool:
        """Whether there is a limit."""
        return math.isfinite(self.seconds)

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    @property
    def remaining_seconds(self) -> float:
        """Remaining seconds; infinite without a limit."""
        return max(0.0, self.seconds - self.elapsed_seconds)

    @contextmanager
    def stopping(self, reserve: float = 0.0) -> Iterator[threading.Event]:
        """Provide an event that is set once no more than ``reserve`` seconds remain."""
        stop = threading.Event()
        timer = None
        if self.bounded:
            timer = threading.Timer(max(0.0, self.remaining_seconds - reserve), stop.set)
            timer.daemon = True
            timer.start()
        try:
            yield stop
        finally:
            if timer is not None:
                timer.cancel()
