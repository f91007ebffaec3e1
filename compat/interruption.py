"""Whether the running command is to end, by the user's wish or because its time is over.

A signal can come at any line of the program, and an exception raised there may interrupt the very
code that tidies up, or be lost in a callback. So the command line only notes it here
(:mod:`compat.cli.start`), and code that waits or runs for long looks here and ends in order.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

REQUESTED = threading.Event()
"""Set when everything must end, for code that waits for an event."""


class Stopped(Exception):
    """Work under way was asked to stop.

    Results that were finished before are kept, and the rest has none.
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
