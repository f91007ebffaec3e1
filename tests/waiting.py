"""Waiting for what must happen: by the event itself, with a limit that only a defect reaches,
however busy the machine is.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds until a test gives up waiting: below pytest's own limit, and above what a machine under a
load of 8 has needed.
"""

SOON = 30.0
"""Seconds for what a command must end itself: below the time after which a worker that nobody ends
would end (``KEPT``).
"""


def wait_until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Return once the condition is true. Raises AssertionError after so many seconds."""
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, (
            f"this did not become true within {seconds:g} s: {condition}"
        )
        time.sleep(0.02)
