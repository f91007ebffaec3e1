"""C = A · B with tcgen05 for sm_100: A[m, k] and B[k, n] in fp16, accumulated in tensor memory.

One program makes one tile of C. TMA loads a tile of A and of B, one thread starts the product, and its barrier says when the tiles may be
loaded again. The layout of tensor memory says ``unpacked`` up to 3.5.1, and ``col_stride`` from 3.6.0 on. The names of loads change, as
in ``gemm_wgmma.py``.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell, hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@gluon.jit
def multiply(
    a_desc, b_desc, c_desc, k, LAYOUT: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
    WARPS: gl.constexpr,
):
    """Make one tile of C, whose layout in tensor memory is LAYOUT."""
    dtype: gl.constexpr = gl.float16
    bytes_of_tiles: gl.constexpr = (BLOCK_M + BLOCK_N) * BLOCK_K * 2
    row, column = gl.program_id(0) * BLOCK_M, gl.program_id(1) * BLOCK_N
    a_tile = gl.allocate_shared_memory(dtype, [BLOCK_M, BLOCK_K], a_desc.layout)
    b_tile = gl.allocate_shared_memory(dtype, [BLOCK_K, BLOCK_N], b_desc.layout)
    loaded = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    multiplied = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(loaded, count=1)
    mbarrier.init(multiplied, count=1)
    hopper.fence_async_shared()
    c = blackwell.allocate_tensor_memory(gl.float32, [BLOCK_M, BLOCK_N], LAYOUT)
    phase = 0
    for start in range(0, k, BLOCK_K):
        mbarrier.expect(loaded, bytes_of_tiles)
        load_tile(a_desc, [row, start], loaded, a_tile)
        load_tile(b_desc, [start, column], loaded, b_tile)
        mbarrier.wait(loaded, phase)
        blackwell.tcgen05_mma(a_tile, b_tile, c, use_acc=start > 0, mbarriers=[multiplied], mbarrier_preds=[True])
        mbarrier.wait(multiplied, phase)
        phase ^= 1
    mbarrier.invalidate(loaded)
    mbarrier.invalidate(multiplied)

    rows: gl.constexpr = gl.BlockedLayout([1, BLOCK_N], [32, 1], [WARPS, 1], [0, 1])
    c_tile = gl.allocate_shared_memory(dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    c_tile.store(c.load(rows).to(dtype))
    hopper.fence_async_shared()
    store_tile(c_desc, [row, column], c_tile)
    tma.store_wait(0)


@gluon.jit
def gemm_unpacked(
    a_desc, b_desc, c_desc, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, WARPS: gl.constexpr,
):
    """The layout up to 3.5.1."""
    layout: gl.constexpr = blackwell.TensorMemoryLayout([BLOCK_M, BLOCK_N], unpacked=True)
    multiply(a_desc, b_desc, c_desc, k, layout, BLOCK_M, BLOCK_N, BLOCK_K, WARPS)


@gluon.jit
def gemm_col_stride(
    a_desc, b_desc, c_desc, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, WARPS: gl.constexpr,
):
    """The layout from 3.6.0 on."""
    layout: gl.constexpr = blackwell.TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1)
    multiply(a_desc, b_desc, c_desc, k, layout, BLOCK_M, BLOCK_N, BLOCK_K, WARPS)


@gluon.jit
def gemm_of_pointers(
    a_ptr, b_ptr, c_ptr, m, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, WARPS: gl.constexpr,
):
    """The layout from 3.6.0 on, and descriptors that each program makes."""
    a_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_M, BLOCK_K], gl.float16)
    b_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_K, BLOCK_N], gl.float16)
    c_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_M, BLOCK_N], gl.float16)
    a_desc = tma.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BLOCK_M, BLOCK_K], a_layout)
    b_desc = tma.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [BLOCK_K, BLOCK_N], b_layout)
    c_desc = tma.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BLOCK_M, BLOCK_N], c_layout)
    layout: gl.constexpr = blackwell.TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1)
    multiply(a_desc, b_desc, c_desc, k, layout, BLOCK_M, BLOCK_N, BLOCK_K, WARPS)
