"""Whether the user has asked the running command to end.

A signal can come at any line of the program, and an exception raised there may break off just what tidies up, or be lost in a
callback. So the command line only notes it here (:mod:`compat.cli.start`), and whatever waits or runs for long looks here and ends
in order.
"""

from __future__ import annotations

import threading

_ASKED = threading.Event()


class Stopped(Exception):
    """What was under way was asked to stop. What was finished before is kept; what was not has no result."""


def ask() -> None:
    """Have everything end that is under way."""
    _ASKED.set()


def asked() -> bool:
    """Whether everything is to end."""
    return _ASKED.is_set()


def take_back() -> None:
    """Go on: the command has noticed, and has something to finish before it ends."""
    _ASKED.clear()


def check() -> None:
    """Raise :class:`Stopped` where everything is to end."""
    if _ASKED.is_set():
        raise Stopped
