"""Records what a program compiles and launches with CuTe DSL, in every release (see
``toolchains/inside/recorder/``).

All releases hand both ``cute.compile(…)`` and the call of a function below ``@cute.jit`` to one
method, ``BaseDSL._func``. What it is given is written down there. Where there is no GPU, a launch
ends there; what the program would have compiled is compiled only to be compared with.
"""

from __future__ import annotations

from typing import Any


def begin(settings: dict[str, Any]) -> Any:
    """Record what this process launches from now on.

    What is returned has ``stop()``, which leaves all as it was before.
    """
    from .recording import CuteRecording

    recording = CuteRecording(settings)
    recording.start()
    return recording
