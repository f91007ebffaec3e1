"""Whether the running command is to end: since the user has asked for it, or since the seconds that
it may take are used.

A signal can come at any line of the program, and an exception raised there may break off just what
tidies up, or be lost in a callback. So the command line only notes it here
(:mod:`compat.cli.start`), and whatever waits or runs for long looks here and ends in order.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

REQUESTED = threading.Event()
"""Is set where everything is to end: for what waits for an event."""


class Stopped(Exception):
    """What was under way was asked to stop.

    What was finished before is kept; what was not has no result.
    """


def ask() -> None:
    """Have everything end that is under way."""
    REQUESTED.set()


def asked() -> bool:
    """Whether everything is to end."""
    return REQUESTED.is_set()


def clear() -> None:
    """Go on: the command has noticed, and has something to finish before it ends."""
    REQUESTED.clear()


def check() -> None:
    """Raise :class:`Stopped` where everything is to end."""
    if REQUESTED.is_set():
        raise Stopped


class Budget:
    """Seconds from now on; without a number there is no end."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds if seconds is not None else math.inf
        self._began = time.monotonic()

    @property
    def bounded(self) -> bool:
        """Whether there is an end."""
        return math.isfinite(self.seconds)

    @property
    def used(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds that are left; infinite without a budget."""
        return max(0.0, self.seconds - self.used)

    @contextmanager
    def stopping(self, reserve: float = 0.0) -> Iterator[threading.Event]:
        """An event that is set once no more than ``reserve`` seconds are left."""
        stop = threading.Event()
        timer = None
        if self.bounded:
            timer = threading.Timer(max(0.0, self.left - reserve), stop.set)
            timer.daemon = True
            timer.start()
        try:
            yield stop
        finally:
            if timer is not None:
                timer.cancel()
