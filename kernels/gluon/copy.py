"""y = x, element by element, in the ways in which Gluon moves memory.

Layouts are made of LANES, the threads of a warp: 32 on NVIDIA, 64 on CDNA. One program copies BLOCK elements.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy(x_ptr, y_ptr, n, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """Through registers: eight elements of a thread are 16 bytes."""
    layout: gl.constexpr = gl.BlockedLayout([8], [LANES], [WARPS], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    inside = at < n
    gl.store(y_ptr + at, gl.load(x_ptr + at, mask=inside), mask=inside)


@gluon.jit
def copy_reversed(x_ptr, y_ptr, n, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """Through registers and shared memory: a block is stored in one layout, and read in another."""
    wide: gl.constexpr = gl.BlockedLayout([8], [LANES], [WARPS], [0])
    narrow: gl.constexpr = gl.BlockedLayout([1], [LANES], [WARPS], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=wide)
    tile = gl.allocate_shared_memory(y_ptr.dtype.element_ty, [BLOCK], shared)
    tile.store(gl.load(x_ptr + at, mask=at < n))
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=narrow)
    gl.store(y_ptr + at, tile.load(narrow), mask=at < n)
