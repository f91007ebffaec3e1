"""Waiting for an event itself, with a limit that only a defect reaches, however busy the machine
is.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds until a test gives up waiting.

They are below pytest's own limit, and above the time that a machine under a load of 8 needed.
"""

SOON = 30.0
"""Seconds for the end of a process that a command must end itself.

They are below the time after which an unused worker ends (``KEPT``).
"""


def wait_until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Return once the condition is true. Raises AssertionError after ``seconds``."""
    give_up, pause = time.monotonic() + seconds, 0.01
    while not condition():
        assert time.monotonic() < give_up, (
            f"this did not become true within {seconds:g} s: {condition}"
        )
        time.sleep(pause)
        pause = min(2 * pause, 0.1)
