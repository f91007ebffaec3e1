"""Recorder of a program's launches with Triton, in every release from 3.0.

``toolchains/inside/recorder/`` says how recorders work.
"""

from __future__ import annotations


def begin(settings: dict[str, object]) -> object:
    """Record what this process launches from now on.

    The result has ``stop()``, which restores everything.
    """
    from .recording import TritonRecording

    recording = TritonRecording(settings)
    recording.start()
    return recording
