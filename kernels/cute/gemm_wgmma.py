"""C[m, n] = A[m, k] · B[n, k] on Hopper: loads by TMA, mbarriers, and products of whole warpgroups (wgmma).

A block makes one tile of C. Its last warp, the producer, asks the TMA for tiles of A and B; the warpgroups before it, the consumers,
multiply them. Tiles wait in a ring of stages in shared memory, and each stage has two barriers:

    full    the producer arrives once and says how many bytes will come; the phase ends when they are there
    empty   each consumer warp arrives when it no longer reads the stage

The n-th use of a stage is its *turn* n. A barrier's phases alternate in parity: the consumers' turn n waits for parity n % 2 of ``full``,
and the producer's for that of the turn before of ``empty``. There is none before turn 0, and a barrier that was just made lets pass
who waits for parity 1.

m, n and k need not fill tiles: the TMA reads zeros beyond the end of A and B, and C is written element by element behind a check. k is a
multiple of 8, since the TMA wants strides that are multiples of 16 bytes.
"""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, warpgroup
from cutlass.utils import SmemAllocator

WARP, WARPGROUP = 32, 128
ROWS = 64
"""Rows of C that a warpgroup makes: what wgmma is made for."""
TILE_K, MMA_K = 64, 16
"""A row of 64 elements of 16 bits is 128 bytes: as wide as the widest swizzle."""


class Gemm:
    def __init__(self, tile_n: int, warpgroups: int, stages: int):
        self.tile_m, self.tile_n = ROWS * warpgroups, tile_n
        self.warpgroups, self.stages = warpgroups, stages
        self.consumers = warpgroups * WARPGROUP // WARP

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        kind, k_major = a.element_type, warpgroup.OperandMajorMode.K
        op = warpgroup.MmaF16BF16Op(
            kind, cutlass.Float32, (ROWS, self.tile_n, MMA_K), warpgroup.OperandSource.SMEM, k_major, k_major
        )
        tiled_mma = cute.make_tiled_mma(op, cute.make_layout((self.warpgroups, 1, 1)))

        # Eight rows of 128 bytes, whose 16-byte pieces are permuted from row to row, so that wgmma reads columns without bank conflicts.
        atom = warpgroup.make_smem_layout_atom(warpgroup.SmemLayoutAtomKind.K_SW128, kind)
        layout_a = cute.tile_to_shape(atom, (self.tile_m, TILE_K, self.stages), (0, 1, 2))
        layout_b = cute.tile_to_shape(atom, (self.tile_n, TILE_K, self.stages), (0, 1, 2))
        load = cpasync.CopyBulkTensorTileG2SOp()
        load_a, tma_a = cpasync.make_tiled_tma_atom(load, a, cute.select(layout_a, [0, 1]), (self.tile_m, TILE_K))
        load_b, tma_b = cpasync.make_tiled_tma_atom(load, b, cute.select(layout_b, [0, 1]), (self.tile_n, TILE_K))

        tiles = (self.tile_m + self.tile_n) * TILE_K * self.stages * kind.width // 8
        barriers = 2 * self.stages * cutlass.Int64.width // 8
        self.kernel(load_a, tma_a, load_b, tma_b, c, tiled_mma, layout_a, layout_b).launch(
            grid=(cute.ceil_div(c.shape[0], self.tile_m), cute.ceil_div(c.shape[1], self.tile_n), 1),
            block=((self.consumers + 1) * WARP, 1, 1),
            smem=tiles + barriers,
        )

    @cute.kernel
    def kernel(
        self,
        load_a: cute.CopyAtom,
        a: cute.Tensor,
        load_b: cute.CopyAtom,
        b: cute.Tensor,
        c: cute.Tensor,
        tiled_mma: cute.TiledMma,
        layout_a: cute.ComposedLayout,
        layout_b: cute.ComposedLayout,
    ):
        thread, _, _ = cute.arch.thread_idx()
        row, column, _ = cute.arch.block_idx()
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())

        # The swizzle goes with the pointer: wgmma wants plain layouts. Its pattern repeats every 1024 bytes, so that tiles begin there.
        memory, kind = SmemAllocator(), c.element_type
        shared_a = memory.allocate_tensor(kind, layout_a.outer, 1024, layout_a.inner)
        shared_b = memory.allocate_tensor(kind, layout_b.outer, 1024, layout_b.inner)
        full = memory.allocate_array(cutlass.Int64, self.stages)
        empty = memory.allocate_array(cutlass.Int64, self.stages)
        if thread == 0:
            for stage in cutlass.range_constexpr(self.stages):
                cute.arch.mbarrier_init(full + stage, 1)
                cute.arch.mbarrier_init(empty + stage, self.consumers)
        cute.arch.mbarrier_init_fence()  # so that the TMA sees them, too
        cute.arch.barrier()

        tiles_a = cute.local_tile(a, (self.tile_m, TILE_K), (row, None))
        tiles_b = cute.local_tile(b, (self.tile_n, TILE_K), (column, None))
        steps = cute.size(tiles_a, mode=[2])
        if warp == self.consumers:
            alone = cute.make_layout(1)  # of the cluster: nobody shares what is loaded
            into_a, from_a = cpasync.tma_partition(
                load_a, 0, alone, cute.group_modes(shared_a, 0, 2), cute.group_modes(tiles_a, 0, 2)
            )
            into_b, from_b = cpasync.tma_partition(
                load_b, 0, alone, cute.group_modes(shared_b, 0, 2), cute.group_modes(tiles_b, 0, 2)
            )
            size = (self.tile_m + self.tile_n) * TILE_K * kind.width // 8  # zeros beyond the end count, too
            for step in range(steps):
                stage, turn = step % self.stages, step // self.stages
                cute.arch.mbarrier_wait(empty + stage, (turn + 1) % 2)
                with cute.arch.elect_one():
                    cute.arch.mbarrier_arrive_and_expect_tx(full + stage, size)
                # One thread of the warp issues them: a copy by TMA elects it itself.
                cute.copy(load_a, from_a[None, step], into_a[None, stage], tma_bar_ptr=full + stage)
                cute.copy(load_b, from_b[None, step], into_b[None, stage], tma_bar_ptr=full + stage)
        else:
            own = tiled_mma.get_slice(thread)
            operand_a = tiled_mma.make_fragment_A(own.partition_A(shared_a))  # descriptors, no registers
            operand_b = tiled_mma.make_fragment_B(own.partition_B(shared_b))
            tile_c = cute.local_tile(c, (self.tile_m, self.tile_n), (row, column))
            own_c = own.partition_C(tile_c)
            sums = tiled_mma.make_fragment_C(own_c.shape)
            sums.fill(0.0)
            tiled_mma.set(warpgroup.Field.ACCUMULATE, True)
            for step in range(steps):
                stage, turn = step % self.stages, step // self.stages
                cute.arch.mbarrier_wait(full + stage, turn % 2)
                warpgroup.fence()  # of registers that were written: the zeros
                for k in cutlass.range_constexpr(TILE_K // MMA_K):
                    cute.gemm(tiled_mma, sums, operand_a[None, None, k, stage], operand_b[None, None, k, stage], sums)
                warpgroup.commit_group()
                warpgroup.wait_group(1)  # all but this step's: the stage before is read
                if step > 0:
                    with cute.arch.elect_one():
                        cute.arch.mbarrier_arrive(empty + (step - 1) % self.stages)
            warpgroup.wait_group(0)

            everywhere = cute.make_identity_tensor(c.shape)
            places = own.partition_C(cute.local_tile(everywhere, (self.tile_m, self.tile_n), (row, column)))
            for index in cutlass.range_constexpr(cute.size(sums)):
                if cute.elem_less(places[index], c.shape):
                    own_c[index] = sums[index].to(kind)
