"""Records what a program launches with Triton, in every release from 3.0 (see
``toolchains/inside/recorder/``).
"""

from __future__ import annotations

from typing import Any


def begin(settings: dict[str, Any]) -> Any:
    """Record what this process launches from now on.

    What is returned has ``stop()``, which leaves all as it was before.
    """
    from .recording import TritonRecording

    recording = TritonRecording(settings)
    recording.start()
    return recording
