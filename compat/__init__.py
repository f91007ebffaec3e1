"""Triton-version compatibility: compile kernels on every release, say what fails, since when and why.

``with compat.capture("captured"):`` writes kernel files of what a program launches inside of the block; it is
:func:`compat.capturing.capturing.capture`, which is imported when it is first asked for.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "capture":
        from compat.capturing.capturing import capture

        return capture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
