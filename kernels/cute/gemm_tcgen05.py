"""C[m, n] = A[m, k] · B[n, k] as Blackwell does it: TMA brings tiles, one warp issues tcgen05.mma, sums lie in tensor memory.

A block makes a tile of 128 × 128. Of its four warps, warp 0 loads, warp 1 multiplies, and all four write the result: each reads the 32
lanes of tensor memory that are its own.
"""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, make_tiled_tma_atom_A, make_tiled_tma_atom_B, tcgen05
from cutlass.utils import SmemAllocator, blackwell_helpers

TILE = (128, 128, 64)
"""64 elements of 16 bits are a row of the 128 bytes within which shared memory is swizzled."""
COLUMNS = 128
"""Of tensor memory: one of 32 bits for each column of the tile. It is given out in powers of two, from 32 on."""
LOADER, MULTIPLIER = 0, 1


class Gemm:
    def __init__(self, stages: int):
        self.stages = stages
        self.bytes = 2 * (TILE[0] + TILE[1]) * TILE[2]

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        major = tcgen05.OperandMajorMode.K
        op = tcgen05.MmaF16BF16Op(
            a.element_type, cutlass.Float32, (*TILE[:2], 16), tcgen05.CtaGroup.ONE, tcgen05.OperandSource.SMEM, major, major
        )
        tiled_mma = cute.make_tiled_mma(op)
        layout_a = blackwell_helpers.make_smem_layout_a(tiled_mma, TILE, a.element_type, self.stages)
        layout_b = blackwell_helpers.make_smem_layout_b(tiled_mma, TILE, b.element_type, self.stages)
        load = cpasync.CopyBulkTensorTileG2SOp(tcgen05.CtaGroup.ONE)
        alone = (1, 1, 1, 1)  # No cluster: nothing is loaded for another block.
        load_a, tma_a = make_tiled_tma_atom_A(load, a, cute.slice_(layout_a, (None, None, None, 0)), TILE, tiled_mma, alone)
        load_b, tma_b = make_tiled_tma_atom_B(load, b, cute.slice_(layout_b, (None, None, None, 0)), TILE, tiled_mma, alone)
        grid = (cute.ceil_div(c.shape[0], TILE[0]), cute.ceil_div(c.shape[1], TILE[1]), 1)
        size = self.stages * self.bytes + 1024
        self.kernel(tiled_mma, load_a, tma_a, load_b, tma_b, c, layout_a, layout_b).launch(grid=grid, block=(128, 1, 1), smem=size)

    @cute.kernel
    def kernel(
        self,
        tiled_mma: cute.TiledMma,
        load_a: cute.CopyAtom,
        tma_a: cute.Tensor,
        load_b: cute.CopyAtom,
        tma_b: cute.Tensor,
        c: cute.Tensor,
        layout_a: cute.ComposedLayout,
        layout_b: cute.ComposedLayout,
    ):
        thread, _, _ = cute.arch.thread_idx()
        row, column, _ = cute.arch.block_idx()
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())

        memory = SmemAllocator()
        tiles_a = memory.allocate_tensor(c.element_type, layout_a.outer, 1024, swizzle=layout_a.inner)
        tiles_b = memory.allocate_tensor(c.element_type, layout_b.outer, 1024, swizzle=layout_b.inner)
        loaded = memory.allocate_array(cutlass.Int64, self.stages)
        spent = memory.allocate_array(cutlass.Int64, self.stages)
        done = memory.allocate_array(cutlass.Int64)
        held = memory.allocate_array(cutlass.Int32)
        if warp == LOADER:
            cute.arch.alloc_tmem(COLUMNS, held)
            with cute.arch.elect_one():
                for stage in cutlass.range_constexpr(self.stages):
                    cute.arch.mbarrier_init(loaded + stage, 1)
                    cute.arch.mbarrier_init(spent + stage, 1)
                cute.arch.mbarrier_init(done, 1)
        cute.arch.mbarrier_init_fence()
        cute.arch.barrier()
        address = cute.arch.retrieve_tmem_ptr(cutlass.Float32, alignment=16, ptr_to_buffer_holding_addr=held)
        sums = cute.make_tensor(address, tiled_mma.make_fragment_C(tiled_mma.partition_shape_C(TILE[:2])).layout)

        # What TMA copies of A and B, by steps along k, and where it puts that, by stages.
        own = tiled_mma.get_slice(0)
        steps_a = own.partition_A(cute.local_tile(tma_a, (TILE[0], TILE[2]), (row, None)))
        steps_b = own.partition_B(cute.local_tile(tma_b, (TILE[1], TILE[2]), (column, None)))
        one = cute.make_layout(1)
        to_a, from_a = cpasync.tma_partition(load_a, 0, one, cute.group_modes(tiles_a, 0, 3), cute.group_modes(steps_a, 0, 3))
        to_b, from_b = cpasync.tma_partition(load_b, 0, one, cute.group_modes(tiles_b, 0, 3), cute.group_modes(steps_b, 0, 3))
        steps = cute.size(steps_a, mode=[3])

        if warp == LOADER:
            for step in cutlass.range(steps, unroll=1):
                stage, turn = step % self.stages, (step // self.stages) & 1
                # The first turn finds "turn 1" of a new barrier over already, and does not wait.
                cute.arch.mbarrier_wait(spent + stage, turn ^ 1)
                with cute.arch.elect_one():
                    cute.arch.mbarrier_arrive_and_expect_tx(loaded + stage, self.bytes)
                cute.copy(load_a, from_a[None, step], to_a[None, stage], tma_bar_ptr=loaded + stage)
                cute.copy(load_b, from_b[None, step], to_b[None, stage], tma_bar_ptr=loaded + stage)
        if warp == MULTIPLIER:
            operand_a, operand_b = tiled_mma.make_fragment_A(tiles_a), tiled_mma.make_fragment_B(tiles_b)
            for step in cutlass.range(steps, unroll=1):
                stage, turn = step % self.stages, (step // self.stages) & 1
                cute.arch.mbarrier_wait(loaded + stage, turn)
                for k in cutlass.range_constexpr(TILE[2] // 16):
                    tiled_mma.set(tcgen05.Field.ACCUMULATE, step > 0 if k == 0 else True)
                    cute.gemm(tiled_mma, sums, operand_a[None, None, k, stage], operand_b[None, None, k, stage], sums)
                with cute.arch.elect_one():
                    tcgen05.commit(spent + stage)
            with cute.arch.elect_one():
                tcgen05.commit(done)

        cute.arch.mbarrier_wait(done, 0)
        self.store(sums, cute.local_tile(c, TILE[:2], (row, column)), thread)
        cute.arch.barrier()  # Nobody reads tensor memory any more.
        if warp == LOADER:
            cute.arch.relinquish_tmem_alloc_permit()
            cute.arch.dealloc_tmem(address, COLUMNS)

    def store(self, sums: cute.Tensor, tile: cute.Tensor, thread: cutlass.Int32):
        """Each thread reads one lane of tensor memory, which is one row of the tile, and writes it."""
        atom = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x32, tcgen05.Pack.NONE), cutlass.Float32)
        flat = cute.make_tensor(sums.iterator, sums.layout[0])
        read = tcgen05.make_tmem_copy(atom, flat).get_slice(thread)
        target = read.partition_D(tile)
        values = cute.make_fragment_like(target, cutlass.Float32)
        cute.copy(read, read.partition_S(flat), values)
        cute.arch.fence_view_async_tmem_load()
        result = cute.make_fragment_like(target, tile.element_type)
        result.store(values.load().to(tile.element_type))
        cute.autovec_copy(result, target)
