"""The recorder of a program's compiles and launches with CuTe DSL, in every release.

``toolchains/inside/recorder/`` describes recorders. In all releases, both ``cute.compile(…)`` and
the call of a function with the decorator ``@cute.jit`` go through one method, ``BaseDSL._func``.
The recorder writes down the arguments of this method. Without a GPU, a launch ends there, and the
program's own code is compiled only for comparison.
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
