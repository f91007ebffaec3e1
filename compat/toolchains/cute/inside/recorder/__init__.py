"""Recorder of what a program compiles and launches with CuTe DSL, in every release.

``toolchains/inside/recorder/`` says how recorders work. All releases hand both ``cute.compile(…)``
and the call of a function below ``@cute.jit`` to one method, ``BaseDSL._func``. The recorder writes
down its arguments there. Without a GPU, a launch ends there. What the program would have compiled
is compiled only for comparison.
"""

from __future__ import annotations


def begin(settings: dict[str, object]) -> object:
    """Record what this process launches from now on.

    The result has ``stop()``, which restores everything.
    """
    from .recording import CuteRecording

    recording = CuteRecording(settings)
    recording.start()
    return recording
