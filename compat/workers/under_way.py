"""Which cells this process is attempting right now, and since when: for whoever shows what is slow. Decides nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from compat.model import Cell
from compat.workers.attempt import Flight

_Look = Callable[[], Flight | None]

_LOCK = threading.Lock()
_WATCHED: dict[int, _Look] = {}


@contextmanager
def watched(in_flight: _Look) -> Iterator[None]:
    """While this is entered, ``in_flight`` gives the attempt that a child is at, if any. It may be called from any thread."""
    with _LOCK:
        _WATCHED[id(in_flight)] = in_flight
    try:
        yield
    finally:
        with _LOCK:
            del _WATCHED[id(in_flight)]


def longer_than(seconds: float) -> tuple[tuple[Cell, float], ...]:
    """The cells whose attempt has taken longer than that so far, with the seconds that it has; the longest first."""
    with _LOCK:
        looks = tuple(_WATCHED.values())
    now = time.monotonic()
    flights = [flight for look in looks if (flight := look()) is not None]
    found = [(flight.cell, now - flight.started) for flight in flights if now - flight.started > seconds]
    return tuple(sorted(found, key=lambda each: -each[1]))
