"""Attention, forward, with tcgen05: O = softmax(Q · Kᵀ · scale) · V for each head, with head dims from 64 to 512.

A block has 128 queries and goes over the keys in blocks of 128. Four warps are the softmax, a thread for each query. With six warps
one more loads (TMA) and one multiplies; with four, the first warp does all three. S, P and O lie in tensor memory, which has 512
columns: so a block makes at most 256 columns of O, and at head dim 512 there are two blocks for the same queries, each with the whole
of S. Q · Kᵀ is summed over parts of 64 of the head dim.

Nothing of one block of keys overlaps with the next: the aim is a kernel that can be read, not the fastest.
"""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, make_tiled_tma_atom_A, make_tiled_tma_atom_B, tcgen05
from cutlass.utils import SmemAllocator, blackwell_helpers

ROWS, KEYS, PART = 128, 128, 64
STAGES = 2
"""Parts of Q and K that are on their way."""
SOFTMAX_THREADS = 128
S_AT, P_AT, O_AT, COLUMNS = 0, 128, 256, 512
"""Columns of tensor memory where each begins; P has two numbers of 16 bits in a column."""
LANE = 1 << 16
"""A lane of tensor memory is a row; its number stands in the upper half of an address."""
CHUNK = 32
"""Columns of O that a thread has in registers at a time."""


class Fmha:
    def __init__(self, head_dim: int, p_in: str, pv_n_tile: int, kv_blocks: int, warps: int, elementwise: bool):
        """P goes to the second product through tensor memory (``p_in="tmem"``) or shared memory (``"smem"``).

        ``pv_n_tile`` are the columns of O that one product makes. ``kv_blocks`` unrolls the loop over so many blocks of keys; with
        0 it is a loop at run time. The softmax is written for whole rows, or ``elementwise``, in Python's loops over a row.
        """
        assert warps == 6 or kv_blocks == 0, "the loop over the keys is unrolled for six warps only"
        self.columns = min(head_dim, 256)
        self.n_tile = min(pv_n_tile, self.columns)
        self.n_tiles = self.columns // self.n_tile
        self.parts = head_dim // PART
        self.p_in_tmem = p_in == "tmem"
        self.unrolled = kv_blocks
        self.warps = warps
        self.loader, self.multiplier = (4, 5) if warps == 6 else (0, 0)
        self.elementwise = elementwise

    @cute.jit
    def __call__(self, q: cute.Tensor, k: cute.Tensor, v: cute.Tensor, o: cute.Tensor, scale: cutlass.Float32):
        self.kind = kind = q.element_type
        one, major = tcgen05.CtaGroup.ONE, tcgen05.OperandMajorMode
        p_source = tcgen05.OperandSource.TMEM if self.p_in_tmem else tcgen05.OperandSource.SMEM
        qk = cute.make_tiled_mma(
            tcgen05.MmaF16BF16Op(kind, cutlass.Float32, (ROWS, KEYS, 16), one, tcgen05.OperandSource.SMEM, major.K, major.K)
        )
        pv = cute.make_tiled_mma(
            tcgen05.MmaF16BF16Op(kind, cutlass.Float32, (ROWS, self.n_tile, 16), one, p_source, major.K, major.MN)
        )
        qk_tile, pv_tile = (ROWS, KEYS, PART), (ROWS, self.n_tile, KEYS)
        layout_q = blackwell_helpers.make_smem_layout_a(qk, qk_tile, kind, STAGES)
        layout_k = blackwell_helpers.make_smem_layout_b(qk, qk_tile, kind, STAGES)
        layout_p = blackwell_helpers.make_smem_layout_a(pv, pv_tile, kind, 1)
        layout_v = blackwell_helpers.make_smem_layout_b(pv, pv_tile, kind, self.n_tiles)
        first = (None, None, None, 0)
        load = cpasync.CopyBulkTensorTileG2SOp(one)
        q_rows, k_rows = (cute.make_tensor(x.iterator, cute.select(x.layout, mode=[1, 2, 0])) for x in (q, k))
        v_columns = cute.make_tensor(v.iterator, cute.select(v.layout, mode=[2, 1, 0]))
        load_q, tma_q = make_tiled_tma_atom_A(load, q_rows, cute.slice_(layout_q, first), qk_tile, qk)
        load_k, tma_k = make_tiled_tma_atom_B(load, k_rows, cute.slice_(layout_k, first), qk_tile, qk)
        load_v, tma_v = make_tiled_tma_atom_B(load, v_columns, cute.slice_(layout_v, first), pv_tile, pv)
        size = 2 * (STAGES * (ROWS + KEYS) * PART + self.columns * KEYS + (0 if self.p_in_tmem else ROWS * KEYS)) + 1024
        grid = (q.shape[1] // ROWS, q.shape[2] // self.columns, q.shape[0])
        loads = (load_q, load_k, load_v)
        self.kernel(qk, pv, loads, tma_q, tma_k, tma_v, o, scale, layout_q, layout_k, layout_p, layout_v).launch(
            grid=grid, block=(32 * self.warps, 1, 1), smem=size
        )

    @cute.kernel
    def kernel(
        self,
        qk: cute.TiledMma,
        pv: cute.TiledMma,
        loads: tuple,
        tma_q: cute.Tensor,
        tma_k: cute.Tensor,
        tma_v: cute.Tensor,
        o: cute.Tensor,
        scale: cutlass.Float32,
        layout_q: cute.ComposedLayout,
        layout_k: cute.ComposedLayout,
        layout_p: cute.ComposedLayout,
        layout_v: cute.ComposedLayout,
    ):
        thread, _, _ = cute.arch.thread_idx()
        block, share, head = cute.arch.block_idx()
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        kind = self.kind

        memory = SmemAllocator()
        tiles_q = memory.allocate_tensor(kind, layout_q.outer, 1024, swizzle=layout_q.inner)
        tiles_k = memory.allocate_tensor(kind, layout_k.outer, 1024, swizzle=layout_k.inner)
        tiles_v = memory.allocate_tensor(kind, layout_v.outer, 1024, swizzle=layout_v.inner)
        loaded = memory.allocate_array(cutlass.Int64, STAGES)  # a part of Q and K is there
        spent = memory.allocate_array(cutlass.Int64, STAGES)  # … and was multiplied
        values = memory.allocate_array(cutlass.Int64)  # V is there
        scored = memory.allocate_array(cutlass.Int64)  # S is there
        weighted = memory.allocate_array(cutlass.Int64)  # P is there, S was read, O is scaled
        summed = memory.allocate_array(cutlass.Int64)  # O is there, P and V were multiplied
        held = memory.allocate_array(cutlass.Int32)
        if warp == self.multiplier:
            cute.arch.alloc_tmem(COLUMNS, held)
            with cute.arch.elect_one():
                for stage in cutlass.range_constexpr(STAGES):
                    cute.arch.mbarrier_init(loaded + stage, 1)
                    cute.arch.mbarrier_init(spent + stage, 1)
                cute.arch.mbarrier_init(values, 1)
                cute.arch.mbarrier_init(scored, 1)
                cute.arch.mbarrier_init(weighted, SOFTMAX_THREADS)
                cute.arch.mbarrier_init(summed, 1)
        cute.arch.mbarrier_init_fence()
        cute.arch.barrier()
        address = cute.arch.retrieve_tmem_ptr(cutlass.Float32, alignment=16, ptr_to_buffer_holding_addr=held)
        scores = cute.make_tensor(address + S_AT, qk.make_fragment_C(qk.partition_shape_C((ROWS, KEYS))).layout)
        if cutlass.const_expr(self.p_in_tmem):
            operand_p = pv.make_fragment_A(pv.partition_shape_A((ROWS, KEYS)))
            operand_p = cute.make_tensor(cute.recast_ptr(address + P_AT, dtype=kind), operand_p.layout)
            tile_p = self.columns_at(address, P_AT, KEYS // 2)
        else:
            tile_p = memory.allocate_tensor(kind, layout_p.outer, 1024, swizzle=layout_p.inner)[None, None, None, 0]
            operand_p = pv.make_fragment_A(tile_p)

        from_q = qk.get_slice(0).partition_A(cute.local_tile(tma_q, (ROWS, PART), (block, None, head)))
        from_k = qk.get_slice(0).partition_B(cute.local_tile(tma_k, (KEYS, PART), (None, None, head)))
        from_v = pv.get_slice(0).partition_B(cute.local_tile(tma_v, (self.n_tile, KEYS), (None, None, head)))
        moves = [self.move(*each) for each in zip(loads, (tiles_q, tiles_k, tiles_v), (from_q, from_k, from_v))]
        operands = (qk.make_fragment_A(tiles_q), qk.make_fragment_B(tiles_k), operand_p, pv.make_fragment_B(tiles_v))
        parts, sums = (loaded, spent), (values, weighted, summed)
        rows = (thread, scale, address, tile_p, scored, weighted, summed)
        blocks = cute.size(tma_k, mode=[0]) // KEYS
        highest, total = -cutlass.Float32.inf, cutlass.Float32(0.0)
        # Each loop stands here twice, since only what is written out in a kernel can become a loop at run time.
        if cutlass.const_expr(self.warps == 4):
            for index in cutlass.range(blocks, unroll=1):
                if warp == 0:
                    self.load_values(index, share, moves, values, summed)
                    qk = self.score(index, qk, operands, scores, parts, scored, moves)
                highest, total = self.weigh(index, highest, total, *rows)
                if warp == 0:
                    pv = self.sum(index, pv, operands, address, *sums)
        elif warp == self.loader:
            if cutlass.const_expr(self.unrolled > 0):
                for index in cutlass.range_constexpr(self.unrolled):
                    self.load(index, share, moves, parts, values, summed)
            else:
                for index in cutlass.range(blocks, unroll=1):
                    self.load(index, share, moves, parts, values, summed)
        elif warp == self.multiplier:
            if cutlass.const_expr(self.unrolled > 0):
                for index in cutlass.range_constexpr(self.unrolled):
                    qk = self.score(index, qk, operands, scores, parts, scored, None)
                    pv = self.sum(index, pv, operands, address, *sums)
            else:
                for index in cutlass.range(blocks, unroll=1):
                    qk = self.score(index, qk, operands, scores, parts, scored, None)
                    pv = self.sum(index, pv, operands, address, *sums)
        elif cutlass.const_expr(self.unrolled > 0):
            for index in cutlass.range_constexpr(self.unrolled):
                highest, total = self.weigh(index, highest, total, *rows)
        else:
            for index in cutlass.range(blocks, unroll=1):
                highest, total = self.weigh(index, highest, total, *rows)
        if warp < 4:
            last = self.unrolled - 1 if self.unrolled > 0 else blocks - 1
            cute.arch.mbarrier_wait(summed, last & 1)
            tile = cute.local_tile(o[head, None, None], (ROWS, self.columns), (block, share))
            self.store(address, thread, 1.0 / total, tile[thread, None])
        cute.arch.barrier()  # Nobody reads tensor memory any more.
        if warp == self.multiplier:
            cute.arch.relinquish_tmem_alloc_permit()
            cute.arch.dealloc_tmem(address, COLUMNS)

    # --- the loader ---------------------------------------------------------------------------------------------------------

    def move(self, load, tiles, source):
        """A load, where it puts tiles, and what it copies there: one mode each for a whole tile, then those that count tiles."""
        one = cute.make_layout(1)
        return load, *cpasync.tma_partition(load, 0, one, cute.group_modes(tiles, 0, 3), cute.group_modes(source, 0, 3))

    def load(self, index, share, moves, parts, values, summed):
        for part in range(self.parts):
            self.load_part(index, part, moves, *parts)
        self.load_values(index, share, moves, values, summed)

    def load_part(self, index, part, moves, loaded, spent):
        (load_q, to_q, from_q), (load_k, to_k, from_k), _ = moves
        stage, turn = self.turn(index, part)
        # A new barrier counts as if "turn 1" was over: the first round does not wait.
        cute.arch.mbarrier_wait(spent + stage, turn ^ 1)
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(loaded + stage, 2 * (ROWS + KEYS) * PART)
        cute.copy(load_q, from_q[None, part], to_q[None, stage], tma_bar_ptr=loaded + stage)
        cute.copy(load_k, from_k[None, index, part], to_k[None, stage], tma_bar_ptr=loaded + stage)

    def load_values(self, index, share, moves, values, summed):
        load_v, to_v, from_v = moves[2]
        cute.arch.mbarrier_wait(summed, (index & 1) ^ 1)
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(values, 2 * self.columns * KEYS)
        for n in range(self.n_tiles):
            cute.copy(load_v, from_v[None, share * self.n_tiles + n, index], to_v[None, n], tma_bar_ptr=values)

    def turn(self, index, part):
        """The stage of a part, and whether the ring has gone round an even or an odd number of times."""
        count = index * self.parts + part
        return count % STAGES, (count // STAGES) & 1

    # --- the multiplier: what `set` has changed goes back to the kernel, since a loop at run time has to see that ------------

    def score(self, index, qk, operands, scores, parts, scored, moves):
        loaded, spent = parts
        for part in range(self.parts):
            if moves is not None:
                self.load_part(index, part, moves, loaded, spent)
            stage, turn = self.turn(index, part)
            cute.arch.mbarrier_wait(loaded + stage, turn)
            for k in range(PART // 16):
                qk.set(tcgen05.Field.ACCUMULATE, part > 0 or k > 0)
                cute.gemm(qk, scores, operands[0][None, None, k, stage], operands[1][None, None, k, stage], scores)
            with cute.arch.elect_one():
                tcgen05.commit(spent + stage)
        with cute.arch.elect_one():
            tcgen05.commit(scored)
        return qk

    def sum(self, index, pv, operands, address, values, weighted, summed):
        cute.arch.mbarrier_wait(values, index & 1)
        cute.arch.mbarrier_wait(weighted, index & 1)
        layout = pv.make_fragment_C(pv.partition_shape_C((ROWS, self.n_tile))).layout
        for n in range(self.n_tiles):
            sums = cute.make_tensor(address + (O_AT + n * self.n_tile), layout)
            for k in range(KEYS // 16):
                pv.set(tcgen05.Field.ACCUMULATE, index > 0 if k == 0 else True)
                cute.gemm(pv, sums, operands[2][None, None, k], operands[3][None, None, k, n], sums)
        with cute.arch.elect_one():
            tcgen05.commit(summed)
        return pv

    # --- the softmax --------------------------------------------------------------------------------------------------------

    def columns_at(self, address, begin, count):
        """Columns of tensor memory as a table: lanes, columns."""
        return cute.make_tensor(address + begin, cute.make_layout((ROWS, count), stride=(LANE, 1)))

    def registers(self, table, thread):
        """Copies between a row of tensor memory and registers, both ways; the row in tensor memory; registers for it."""
        kind = cutlass.Float32
        read = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x32, tcgen05.Pack.NONE), kind)
        write = cute.make_copy_atom(tcgen05.St32x32bOp(tcgen05.Repetition.x32, tcgen05.Unpack.NONE), kind)
        read, write = (tcgen05.make_tmem_copy(atom, table).get_slice(thread) for atom in (read, write))
        row = read.partition_S(table)
        values = cute.make_rmem_tensor(read.partition_D(cute.make_identity_tensor(table.shape)).shape, kind)
        return read, write, row, values

    def weigh(self, index, highest, total, thread, scale, address, tile_p, scored, weighted, summed):
        """P of one block of keys, and O as it is with the new maximum; the maximum and the sum of P so far."""
        cute.arch.mbarrier_wait(scored, index & 1)
        read, _, row, values = self.registers(self.columns_at(address, S_AT, KEYS), thread)
        cute.copy(read, row, values)
        cute.arch.fence_view_async_tmem_load()
        if self.elementwise:
            now = highest
            for key in range(KEYS):
                now = cute.arch.fmax(now, values[key])
            factor = cute.arch.exp2((highest - now) * scale)
            total = total * factor
            for key in range(KEYS):
                values[key] = cute.arch.exp2(values[key] * scale - now * scale)
                total = total + values[key]
            weights = values.load()
        else:
            scores = values.load()
            now = scores.reduce(cute.ReductionOp.MAX, highest, 0)
            factor = cute.arch.exp2((highest - now) * scale)
            weights = cute.math.exp2(scores * scale - now * scale, fastmath=True)
            total = weights.reduce(cute.ReductionOp.ADD, total * factor, 0)
        cute.arch.mbarrier_wait(summed, (index & 1) ^ 1)  # P and V of the block before were multiplied, and O is there.
        self.keep(weights, tile_p, thread)
        # Of the first block O has no meaning yet; the product after it does not add to that.
        for chunk in range(self.columns // CHUNK):
            read, write, row, values = self.registers(self.columns_at(address, O_AT + chunk * CHUNK, CHUNK), thread)
            cute.copy(read, row, values)
            cute.arch.fence_view_async_tmem_load()
            values.store(values.load() * factor)
            cute.copy(write, values, row)
        cute.arch.fence_view_async_tmem_store()
        cute.arch.mbarrier_arrive(weighted)
        return now, total

    def keep(self, weights, tile_p, thread):
        """Write a row of P to where the second product reads it."""
        if self.p_in_tmem:
            _, write, row, values = self.registers(tile_p, thread)
            narrow = cute.recast_tensor(values, self.kind)
            narrow.store(weights.to(self.kind).reshape(narrow.shape))
            cute.copy(write, values, row)
        else:
            # Of 16 bytes the swizzle keeps the order, and no more: so a row goes in pieces of 8 numbers.
            narrow = cute.make_rmem_tensor(KEYS, self.kind)
            narrow.store(weights.to(self.kind).reshape(narrow.shape))
            own = cute.group_modes(tile_p[(thread, None), 0, None], 0, 2)
            store = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), self.kind, num_bits_per_copy=128)
            cute.copy(store, cute.zipped_divide(narrow, (8,)), cute.zipped_divide(own, (8,)))
            cute.arch.fence_view_async_shared()

    def store(self, address, thread, factor, target):
        for chunk in range(self.columns // CHUNK):
            read, _, row, values = self.registers(self.columns_at(address, O_AT + chunk * CHUNK, CHUNK), thread)
            cute.copy(read, row, values)
            cute.arch.fence_view_async_tmem_load()
            result = cute.make_rmem_tensor(CHUNK, target.element_type)
            result.store((values.load() * factor).to(target.element_type).reshape(result.shape))
            cute.autovec_copy(result, cute.local_tile(target, (CHUNK,), (chunk,)))
