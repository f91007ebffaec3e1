"""O = softmax(scale · Q · Kᵀ) · V on Hopper, with wgmma: the online softmax, for heads of 64 to 512 features.

    Q, O  [z, m, d]     K, V  [z, n, d]     n is at least 1, m and n need not fill tiles, and scale is positive

A block is one warpgroup. It has 64 queries and passes over the keys once, 64 at a time. Of each step's scores S it makes weights P; what
was accumulated of O before shrinks as the maximum of a row grows. P is the first operand of P · V: wgmma takes it from registers, where
it is, or from shared memory (``p_in_registers``). One product makes ``pv_n_tile`` columns of O.

V comes in tiles of all features, K in tiles of ``k_tile`` features, over which S is accumulated. Each has a ring of stages in shared
memory, with a barrier for each stage: a stage's n-th use waits for parity n % 2. The first warp asks the TMA to fill a stage
again once the barrier of the block says that all four warps have read it.

The TMA reads zeros beyond the end of a sequence. Keys there are masked; queries there are not written.
"""

import math

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, warpgroup
from cutlass.utils import SmemAllocator, hopper_helpers

QUERIES, KEYS, THREADS = 64, 64, 128
BARRIER = 8
"""Bytes of an mbarrier."""


class Attention:
    def __init__(self, p_in_registers: bool, d: int, k_tile: int, pv_n_tile: int, k_stages: int, v_stages: int, unrolled: bool):
        self.p_in_registers, self.unrolled = p_in_registers, unrolled
        self.d, self.k_tile, self.pv_n_tile = d, k_tile, pv_n_tile
        self.parts, self.k_stages, self.v_stages = d // k_tile, k_stages, v_stages
        self.barriers = self.parts + k_stages + v_stages

    def layouts(self, kind):
        """Of Q, K, V and P in shared memory, in rows of 128 bytes: along d in Q, K and V, along the keys in P."""
        along_sum = warpgroup.make_smem_layout_atom(warpgroup.SmemLayoutAtomKind.K_SW128, kind)
        along_columns = warpgroup.make_smem_layout_atom(warpgroup.SmemLayoutAtomKind.MN_SW128, kind)
        return (
            cute.tile_to_shape(along_sum, (QUERIES, self.k_tile, self.parts), (0, 1, 2)),
            cute.tile_to_shape(along_sum, (KEYS, self.k_tile, self.k_stages), (0, 1, 2)),
            cute.tile_to_shape(along_columns, (self.d, KEYS, self.v_stages), (1, 0, 2)),
            cute.tile_to_shape(along_sum, (QUERIES, KEYS), (0, 1)),
        )

    @cute.jit
    def __call__(self, q: cute.Tensor, k: cute.Tensor, v: cute.Tensor, o: cute.Tensor, scale: cutlass.Float32):
        kind, major = o.element_type, warpgroup.OperandMajorMode
        qk_form = (kind, kind, major.K, major.K, cutlass.Float32, (1, 1, 1), (QUERIES, KEYS))
        qk = hopper_helpers.make_trivial_tiled_mma(*qk_form)
        pv_form = (kind, kind, major.K, major.MN, cutlass.Float32, (1, 1, 1), (QUERIES, self.pv_n_tile))
        if cutlass.const_expr(self.p_in_registers):
            pv = hopper_helpers.make_trivial_tiled_mma(*pv_form, a_source=warpgroup.OperandSource.RMEM)
        else:
            pv = hopper_helpers.make_trivial_tiled_mma(*pv_form)

        # Heads come last. V is [d, n, z]: the second operand of a product is [columns, what is summed].
        q, k, v, o = modes(q, [1, 2, 0]), modes(k, [1, 2, 0]), modes(v, [2, 1, 0]), modes(o, [1, 2, 0])
        layout_q, layout_k, layout_v, layout_p = self.layouts(kind)
        load_q, tma_q = by_tma(q, layout_q, (QUERIES, self.k_tile))
        load_k, tma_k = by_tma(k, layout_k, (KEYS, self.k_tile))
        load_v, tma_v = by_tma(v, layout_v, (self.d, KEYS))

        elements = cute.cosize(layout_q) + cute.cosize(layout_k) + cute.cosize(layout_v)
        if cutlass.const_expr(not self.p_in_registers):
            elements += cute.cosize(layout_p)
        self.kernel(load_q, tma_q, load_k, tma_k, load_v, tma_v, o, qk, pv, scale * math.log2(math.e)).launch(
            grid=(cute.ceil_div(o.shape[0], QUERIES), o.shape[2], 1),
            block=(THREADS, 1, 1),
            smem=elements * kind.width // 8 + self.barriers * BARRIER,
        )

    @cute.kernel
    def kernel(
        self, load_q, q, load_k, k, load_v, v, o: cute.Tensor, qk: cute.TiledMma, pv: cute.TiledMma, factor: cutlass.Float32
    ):
        thread, _, _ = cute.arch.thread_idx()
        tile, head, _ = cute.arch.block_idx()
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        kind = o.element_type

        # The swizzle goes with the pointer: wgmma wants plain layouts. Its pattern repeats every 1024 bytes, so that tiles begin there.
        memory = SmemAllocator()
        layout_q, layout_k, layout_v, layout_p = self.layouts(kind)
        shared_q = memory.allocate_tensor(kind, layout_q.outer, 1024, layout_q.inner)
        shared_k = memory.allocate_tensor(kind, layout_k.outer, 1024, layout_k.inner)
        shared_v = memory.allocate_tensor(kind, layout_v.outer, 1024, layout_v.inner)
        own_qk, own_pv = qk.get_slice(thread), pv.get_slice(thread)
        if cutlass.const_expr(self.p_in_registers):
            weights = pv.make_fragment_A(pv.partition_shape_A((QUERIES, KEYS)))
            written = weights  # where P is written, and where wgmma reads it
        else:
            shared_p = memory.allocate_tensor(kind, layout_p.outer, 1024, layout_p.inner)
            weights = pv.make_fragment_A(own_pv.partition_A(shared_p))
            written = own_qk.partition_C(shared_p)
        full_q = memory.allocate_array(cutlass.Int64, self.barriers)
        full_k, full_v = full_q + self.parts, full_q + self.parts + self.k_stages
        if thread == 0:
            for index in cutlass.range_constexpr(self.barriers):
                cute.arch.mbarrier_init(full_q + index, 1)
        cute.arch.mbarrier_init_fence()  # so that the TMA sees them, too
        cute.arch.barrier()

        tiles_q = cute.local_tile(q[None, None, head], (QUERIES, self.k_tile), (tile, None))
        tiles_k = cute.local_tile(k[None, None, head], (KEYS, self.k_tile), (None, None))
        tiles_v = cute.local_tile(v[None, None, head], (self.d, KEYS), (0, None))
        blocks, n = cute.size(tiles_k, mode=[2]), k.shape[0]
        ring_q = ring(load_q, tiles_q, shared_q, full_q)
        ring_k = ring(load_k, tiles_k, shared_k, full_k)
        ring_v = ring(load_v, tiles_v, shared_v, full_v)
        if warp == 0:
            for part in cutlass.range_constexpr(self.parts):
                fill(ring_q, part, part)
            for stage in cutlass.range_constexpr(self.k_stages):
                if stage // self.parts < blocks:
                    fill(ring_k, stage, stage // self.parts, stage % self.parts)
            for stage in cutlass.range_constexpr(self.v_stages):
                if stage < blocks:
                    fill(ring_v, stage, stage)

        operand_q = qk.make_fragment_A(own_qk.partition_A(shared_q))  # descriptors, no registers
        operand_k = qk.make_fragment_B(own_qk.partition_B(shared_k))
        operand_v = pv.make_fragment_B(own_pv.partition_B(shared_v))
        qk.set(warpgroup.Field.ACCUMULATE, True)
        pv.set(warpgroup.Field.ACCUMULATE, True)
        scores = qk.make_fragment_C(qk.partition_shape_C((QUERIES, KEYS)))
        sums = pv.make_fragment_C(pv.partition_shape_C((QUERIES, self.d)))
        sums.fill(0.0)
        peaks = cute.make_fragment_like(scores[(0, None, 0), 0, 0])  # of the two rows of which a thread has elements
        totals = cute.make_fragment_like(peaks)
        peaks.fill(-cutlass.Float32.inf)
        totals.fill(0.0)
        places = own_qk.partition_C(cute.make_identity_tensor((QUERIES, KEYS)))

        for part in cutlass.range_constexpr(self.parts):
            cute.arch.mbarrier_wait(full_q + part, 0)
        fixed = (warp, blocks, n, factor, qk, pv, ring_k, ring_v, operand_q, operand_k, operand_v, weights, written, places)
        if cutlass.const_expr(self.unrolled):
            for block in cutlass.range_constexpr(blocks):
                self.attend(block, fixed, scores, sums, peaks, totals)
        else:
            for block in cutlass.range(blocks, unroll=1):
                self.attend(block, fixed, scores, sums, peaks, totals)

        result = cute.make_fragment_like(sums, kind)
        own_o = own_pv.partition_C(cute.local_tile(o[None, None, head], (QUERIES, self.d), (tile, 0)))
        for row in cutlass.range_constexpr(2):
            total = over_four(totals[row], add)
            for column in cutlass.range_constexpr(self.d // 4):
                index = at(row, column)
                result[index] = (sums[index] / total).to(kind)
            if tile * QUERIES + places[at(row, 0)][0] < o.shape[0]:
                cute.autovec_copy(result[(None, row, None), 0, None], own_o[(None, row, None), 0, None])

    @cute.jit
    def attend(self, block, fixed, scores: cute.Tensor, sums: cute.Tensor, peaks: cute.Tensor, totals: cute.Tensor):
        """One step: 64 keys more."""
        warp, blocks, n, factor, qk, pv, ring_k, ring_v, operand_q, operand_k, operand_v, weights, written, places = fixed
        scores.fill(0.0)
        for part in cutlass.range_constexpr(self.parts):
            use = block * self.parts + part
            stage = use % self.k_stages
            cute.arch.mbarrier_wait(ring_k[-1] + stage, use // self.k_stages % 2)
            multiply(qk, operand_q[None, None, None, part], operand_k[None, None, None, stage], scores)
            cute.arch.barrier()  # all warps have read this part of K
            again = use + self.k_stages
            if warp == 0:
                if again < blocks * self.parts:
                    fill(ring_k, stage, again // self.parts, again % self.parts)

        self.weigh(block, n, factor, scores, sums, peaks, totals, places)
        if cutlass.const_expr(self.p_in_registers):
            # A fragment of C has the elements of a fragment of A in the same order.
            written.store(cute.make_tensor(scores.iterator, written.layout).load().to(written.element_type))
        else:
            rounded = cute.make_fragment_like(scores, written.element_type)
            rounded.store(scores.load().to(written.element_type))
            cute.autovec_copy(rounded, written)
            fence_async_shared()  # wgmma reads through another proxy than these stores went
            cute.arch.barrier()

        stage = block % self.v_stages
        cute.arch.mbarrier_wait(ring_v[-1] + stage, block // self.v_stages % 2)
        multiply(pv, weights, operand_v[None, None, None, stage], sums)
        cute.arch.barrier()  # all warps have read V, and P
        if warp == 0:
            if block + self.v_stages < blocks:
                fill(ring_v, stage, block + self.v_stages)

    def weigh(self, block, n, factor, scores, sums, peaks, totals, places):
        """Make weights of the scores, relative to the greatest score of each row so far, and shrink what was accumulated before."""
        for row in range(2):
            peak = peaks[row]
            for column in range(KEYS // 4):
                index = at(row, column)
                seen = block * KEYS + places[index][1] < n
                scores[index] = cutlass.Float32(cutlass.select_(seen, scores[index], -cutlass.Float32.inf))
                peak = cute.arch.fmax(peak, scores[index])
            peak = over_four(peak, cute.arch.fmax)  # finite: the first key of a block is there
            shrink = cute.arch.exp2((peaks[row] - peak) * factor)
            total = totals[row] * shrink
            for column in range(KEYS // 4):
                index = at(row, column)
                scores[index] = cute.arch.exp2((scores[index] - peak) * factor)
                total += scores[index]
            peaks[row], totals[row] = peak, total
            for column in range(self.d // 4):
                sums[at(row, column)] = sums[at(row, column)] * shrink


def modes(tensor, order):
    """The tensor with its modes in another order."""
    return cute.make_tensor(tensor.iterator, cute.select(tensor.layout, order))


def at(row, column):
    """Where a fragment has an element: pairs of columns, of two rows that are 8 apart, then the next 8 columns. Four threads share rows."""
    return column % 2 + 2 * row + 4 * (column // 2)


def add(x, y):
    return x + y


def over_four(value, combine):
    """Combine what the four threads have that share a row."""
    value = combine(value, cute.arch.shuffle_sync_bfly(value, offset=1))
    return combine(value, cute.arch.shuffle_sync_bfly(value, offset=2))


def by_tma(tensor, layout, tile):
    """How the TMA loads tiles of a tensor into stages of this layout, and the tensor as it counts in it."""
    return cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), tensor, cute.select(layout, [0, 1]), tile)


def ring(load, tiles, stages, full):
    """How tiles of global memory come into stages of shared memory, and the barriers that say when they are there."""
    into, tiles = cpasync.tma_partition(load, 0, cute.make_layout(1), cute.group_modes(stages, 0, 2), cute.group_modes(tiles, 0, 2))
    return load, tiles, into, cute.cosize(stages[None, None, 0].layout) * stages.element_type.width // 8, full


def fill(ring, stage, *tile):
    """Have the TMA load a tile into a stage: a warp asks, and one of its threads says how many bytes the barrier waits for."""
    load, tiles, into, size, full = ring
    with cute.arch.elect_one():
        cute.arch.mbarrier_arrive_and_expect_tx(full + stage, size)
    cute.copy(load, tiles[(None, *tile)], into[None, stage], tma_bar_ptr=full + stage)


def multiply(mma, a, b, sums):
    """Add a product to sums, and wait for it."""
    warpgroup.fence()  # of registers that were written: sums, and P
    for k in range(cute.size(b, mode=[2])):
        cute.gemm(mma, sums, a[None, None, k], b[None, None, k], sums)
    warpgroup.commit_group()
    warpgroup.wait_group(0)


def fence_async_shared():
    """Order stores to shared memory before what TMA and wgmma do with it. (There by this name from 4.3 on.)"""
    if hasattr(cute.arch, "fence_view_async_shared"):
        cute.arch.fence_view_async_shared()
    else:
        cute.arch.fence_proxy(cute.arch.ProxyKind.async_shared, space=cute.arch.SharedSpace.shared_cta)
