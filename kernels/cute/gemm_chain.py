"""Products of one tile in a row: what Python's ``range`` leaves of a loop over ``cute.gemm``.

``CHAIN`` × 4 ``tcgen05.mma`` go into one accumulator in tensor memory. Tracing takes a time that grows with ``CHAIN``; the passes of
MLIR take one that grows with its cube. Shared memory has nothing in it, so the sums mean nothing.
"""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import tcgen05
from cutlass.utils import SmemAllocator, blackwell_helpers

TILE = (128, 128, 64)
"""128 × 128 sums of 32 bits take 128 columns of tensor memory; 64 is four times the K of one product."""


@cute.kernel
def chain_kernel(tiled_mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, CHAIN: cutlass.Constexpr):
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    memory = SmemAllocator()
    tile_a = memory.allocate_tensor(cutlass.Float16, layout_a.outer, 1024, swizzle=layout_a.inner)
    tile_b = memory.allocate_tensor(cutlass.Float16, layout_b.outer, 1024, swizzle=layout_b.inner)
    done = memory.allocate_array(cutlass.Int64)
    held = memory.allocate_array(cutlass.Int32)
    if warp == 0:
        cute.arch.alloc_tmem(128, held)
        with cute.arch.elect_one():
            cute.arch.mbarrier_init(done, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()
    address = cute.arch.retrieve_tmem_ptr(cutlass.Float32, alignment=16, ptr_to_buffer_holding_addr=held)
    sums = cute.make_tensor(address, tiled_mma.make_fragment_C(tiled_mma.partition_shape_C(TILE[:2])).layout)
    operand_a, operand_b = tiled_mma.make_fragment_A(tile_a), tiled_mma.make_fragment_B(tile_b)
    if warp == 0:
        for _ in cutlass.range_constexpr(CHAIN):
            for k in cutlass.range_constexpr(4):
                cute.gemm(tiled_mma, sums, operand_a[None, None, k, 0], operand_b[None, None, k, 0], sums)
                tiled_mma.set(tcgen05.Field.ACCUMULATE, True)
        with cute.arch.elect_one():
            tcgen05.commit(done)
    cute.arch.mbarrier_wait(done, 0)
    cute.arch.barrier()
    if warp == 0:
        cute.arch.relinquish_tmem_alloc_permit()
        cute.arch.dealloc_tmem(address, 128)


@cute.jit
def chain(CHAIN: cutlass.Constexpr):
    major = tcgen05.OperandMajorMode.K
    op = tcgen05.MmaF16BF16Op(
        cutlass.Float16, cutlass.Float32, (128, 128, 16), tcgen05.CtaGroup.ONE, tcgen05.OperandSource.SMEM, major, major
    )
    tiled_mma = cute.make_tiled_mma(op)
    layout_a = blackwell_helpers.make_smem_layout_a(tiled_mma, TILE, cutlass.Float16, 1)
    layout_b = blackwell_helpers.make_smem_layout_b(tiled_mma, TILE, cutlass.Float16, 1)
    size = 2 * 2 * TILE[0] * TILE[2] + 1024
    chain_kernel(tiled_mma, layout_a, layout_b, CHAIN).launch(grid=(1, 1, 1), block=(128, 1, 1), smem=size)
