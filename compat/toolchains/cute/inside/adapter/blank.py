"""A kernel that does nothing, whose compile makes a context, a compiler and a pipeline.

A file of IR takes its place in them.
"""

from __future__ import annotations

from cutlass import cute


@cute.kernel
def nothing():  # type: ignore[no-untyped-def]
    """Do nothing."""
    cute.arch.thread_idx()


@cute.jit
def launch():  # type: ignore[no-untyped-def]
    """Launch that."""
    nothing().launch(grid=[1, 1, 1], block=[32, 1, 1])
