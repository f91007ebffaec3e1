"""The seconds that a search may take, all in all."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


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
