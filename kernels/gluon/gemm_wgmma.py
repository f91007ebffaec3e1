"""C = A · B with wgmma for sm_90: A[m, k] and B[k, n] in fp16, a ring of STAGES tiles that TMA fills and mbarriers guard.

One program makes one tile of C. The first STAGES - 1 loads are under way before the first product. In each step, a load into the tile
that the last product has read begins, and then the product waits for its own tile.

The releases have three forms of the same steps. They call loads and stores by other names (``async_copy_global_to_shared``, and
``async_load`` from 3.8.0 on). A descriptor is an argument, or the kernel makes it (from 3.6.0 on).
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@gluon.jit
def begin_load(a_desc, b_desc, row, column, k, a_tiles, b_tiles, barriers, slot, BYTES: gl.constexpr):
    """Load the tiles of A and B at column and row k into a slot of the ring."""
    barrier = barriers.index(slot)
    mbarrier.expect(barrier, BYTES)
    load_tile(a_desc, [row, k], barrier, a_tiles.index(slot))
    load_tile(b_desc, [k, column], barrier, b_tiles.index(slot))


@gluon.jit
def multiply(
    a_desc, b_desc, c_desc, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, STAGES: gl.constexpr,
    WARPS: gl.constexpr,
):
    """Make one tile of C out of descriptors."""
    dtype: gl.constexpr = gl.float16
    bytes_of_stage: gl.constexpr = (BLOCK_M + BLOCK_N) * BLOCK_K * 2
    row, column = gl.program_id(0) * BLOCK_M, gl.program_id(1) * BLOCK_N
    a_tiles = gl.allocate_shared_memory(dtype, [STAGES, BLOCK_M, BLOCK_K], a_desc.layout)
    b_tiles = gl.allocate_shared_memory(dtype, [STAGES, BLOCK_K, BLOCK_N], b_desc.layout)
    barriers = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for first in gl.static_range(STAGES):
        mbarrier.init(barriers.index(first), count=1)
    hopper.fence_async_shared()

    for early in gl.static_range(STAGES - 1):
        if early * BLOCK_K < k:
            begin_load(a_desc, b_desc, row, column, early * BLOCK_K, a_tiles, b_tiles, barriers, early, bytes_of_stage)
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[WARPS, 1], instr_shape=[16, BLOCK_N, 16])
    c = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, layout)
    step = 0
    for start in range(0, k, BLOCK_K):
        slot = step % STAGES
        mbarrier.wait(barriers.index(slot), (step // STAGES) & 1)
        c = hopper.warpgroup_mma(a_tiles.index(slot), b_tiles.index(slot), c, is_async=True)
        c = hopper.warpgroup_mma_wait(num_outstanding=0, deps=(c,))
        ahead = start + (STAGES - 1) * BLOCK_K
        if ahead < k:
            next_slot = (step + STAGES - 1) % STAGES
            begin_load(a_desc, b_desc, row, column, ahead, a_tiles, b_tiles, barriers, next_slot, bytes_of_stage)
        step += 1
    for last in gl.static_range(STAGES):
        mbarrier.invalidate(barriers.index(last))

    c_tile = gl.allocate_shared_memory(dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    c_tile.store(c.to(dtype))
    hopper.fence_async_shared()
    store_tile(c_desc, [row, column], c_tile)
    tma.store_wait(0)


@gluon.jit
def gemm_of_descriptors(
    a_desc, b_desc, c_desc, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, STAGES: gl.constexpr,
    WARPS: gl.constexpr,
):
    """Descriptors that the host makes."""
    multiply(a_desc, b_desc, c_desc, k, BLOCK_M, BLOCK_N, BLOCK_K, STAGES, WARPS)


@gluon.jit
def gemm_of_pointers(
    a_ptr, b_ptr, c_ptr, m, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, STAGES: gl.constexpr,
    WARPS: gl.constexpr,
):
    """Descriptors that each program makes."""
    a_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_M, BLOCK_K], gl.float16)
    b_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_K, BLOCK_N], gl.float16)
    c_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_M, BLOCK_N], gl.float16)
    a_desc = tma.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BLOCK_M, BLOCK_K], a_layout)
    b_desc = tma.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [BLOCK_K, BLOCK_N], b_layout)
    c_desc = tma.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BLOCK_M, BLOCK_N], c_layout)
    multiply(a_desc, b_desc, c_desc, k, BLOCK_M, BLOCK_N, BLOCK_K, STAGES, WARPS)
