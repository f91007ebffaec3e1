"""A kernel that does nothing, whose compile makes a context, a compiler and a pipeline.

The adapter compiles a file of IR with them instead of this kernel.
"""

from __future__ import annotations

from cutlass import cute


@cute.kernel
def nothing():  # type: ignore[no-untyped-def]
    """Do nothing."""
    cute.arch.thread_idx()


@cute.jit
def launch():  # type: ignore[no-untyped-def]
    """Launch the kernel."""
    nothing().launch(grid=[1, 1, 1], block=[32, 1, 1])
