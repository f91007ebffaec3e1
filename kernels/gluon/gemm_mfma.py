"""C = A · B with MFMA for gfx942 and gfx950: A[m, k] and B[k, n] in fp16.

One program makes one tile of C. Blocks come by plain loads, and change into the layout of operands through shared memory. The shape of the
instruction has two numbers in 3.5, and three from 3.6.0 on. VERSION is 3 for gfx942, and 4 for gfx950.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout, cdna3


@gluon.jit
def multiply(
    a_ptr, b_ptr, c_ptr, m, n, k, MFMA: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
    K_WIDTH: gl.constexpr,
):
    """Make one tile of C, in the layout MFMA of the instruction."""
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0])
    rows: gl.constexpr = gl.SliceLayout(1, wide)
    columns: gl.constexpr = gl.SliceLayout(0, wide)
    row = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=rows)
    column = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=columns)
    across, down = gl.arange(0, BLOCK_K, layout=columns), gl.arange(0, BLOCK_K, layout=rows)
    no_a = gl.full([BLOCK_M, BLOCK_K], 0.0, gl.float16, wide)
    no_b = gl.full([BLOCK_K, BLOCK_N], 0.0, gl.float16, wide)
    c = gl.full([BLOCK_M, BLOCK_N], 0.0, gl.float32, MFMA)
    for start in range(0, k, BLOCK_K):
        a_inside = (row < m)[:, None] & (start + across < k)[None, :]
        b_inside = (start + down < k)[:, None] & (column < n)[None, :]
        a = gl.load(a_ptr + row[:, None] * k + (start + across)[None, :], mask=a_inside, other=no_a)
        b = gl.load(b_ptr + (start + down)[:, None] * n + column[None, :], mask=b_inside, other=no_b)
        a = gl.convert_layout(a, gl.DotOperandLayout(0, MFMA, K_WIDTH))
        b = gl.convert_layout(b, gl.DotOperandLayout(1, MFMA, K_WIDTH))
        c = cdna3.mfma(a, b, c)
    tile = gl.convert_layout(c.to(gl.float16), wide)
    gl.store(c_ptr + row[:, None] * n + column[None, :], tile, mask=(row < m)[:, None] & (column < n)[None, :])


@gluon.jit
def gemm_of_two(
    a_ptr, b_ptr, c_ptr, m, n, k, VERSION: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
    DEPTH: gl.constexpr, K_WIDTH: gl.constexpr,
):
    """The instruction of 3.5: rows and columns."""
    mfma: gl.constexpr = AMDMFMALayout(VERSION, [32, 32], True, [2, 2])
    multiply(a_ptr, b_ptr, c_ptr, m, n, k, mfma, BLOCK_M, BLOCK_N, BLOCK_K, K_WIDTH)


@gluon.jit
def gemm_of_three(
    a_ptr, b_ptr, c_ptr, m, n, k, VERSION: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
    DEPTH: gl.constexpr, K_WIDTH: gl.constexpr,
):
    """The instruction from 3.6.0 on: rows, columns and depth."""
    mfma: gl.constexpr = AMDMFMALayout(VERSION, [32, 32, DEPTH], True, [2, 2])
    multiply(a_ptr, b_ptr, c_ptr, m, n, k, mfma, BLOCK_M, BLOCK_N, BLOCK_K, K_WIDTH)
