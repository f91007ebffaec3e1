"""Selection attention over packed sequences, the same kernel with its loads written in five ways.

Query row r belongs to sequence ``b = seq[r]`` and attends to a list of ranges of that sequence's keys:

    O[r, h, :] = Σ_l softmax_l(scale · ⟨Q[r, h, :], K[l, :]⟩) · V[l, :]     l over the rows of all ranges of r

    Q          [R, H, D]   the H query heads of row r share its ranges
    K          [T, D]      all sequences packed one after the other
    V          [T, DV]
    O          [R, H, DV]  rows that select nothing are zero
    cu_seqlens [B + 1]     sequence b is rows cu_seqlens[b] … cu_seqlens[b + 1] - 1 of K and V
    seq        [R]         which sequence row r looks into
    cu_ranges  [R + 1]     row r owns ranges cu_ranges[r] … cu_ranges[r + 1] - 1; read only where NUM_RANGES = 0
    ranges     [·, 2]      (start, end) within the sequence, end excluded, clamped to it: (0, anything large) is all of it

Ranges may start and end anywhere, be empty or overlap; they are a list, not a set, so a key that is listed twice weighs twice. Where
every row has the same number of ranges (pad with empty ones) NUM_RANGES is that number, known to the compiler; 0 means that rows
differ. The four index tensors are contiguous, and of 32 or 64 bits.

Every variant takes the same arguments and the same grid, ``(R, cdiv(H, BLOCK_H))``, and runs four loops: twice over the ranges, and
within each over its keys in blocks of ``BLOCK_L``; first for the row maximum ``m`` and the row sum ``s`` of the exponentials, then for
the output. ``BLOCK_D`` ≥ D and ``BLOCK_DV`` ≥ DV hold whole rows, and Q is loaded once. ``BLOCK_H``, the M of both dots, is at least
16, and heads beyond H are padding.

A block of keys may reach past the end of its range, into rows that were not selected. They must not be read, or not be used: their
scores become -∞, and their values zero, because a weight of zero does not silence a neighbour's infinity (0 · ∞ is NaN).

A stride is counted in elements and named for its tensor and axis: ``stride_kL`` is from one key to the next. Pointers are advanced to
the sequence in 64 bits first, so that only offsets within one sequence must fit in 32.
"""

import triton
import triton.language as tl


@triton.jit
def _sequence(cu_seqlens_ptr, seq_ptr, r):
    """First packed row (64 bits) and length (32 bits) of the sequence that query row r looks into."""
    b = tl.load(seq_ptr + r)
    first = tl.load(cu_seqlens_ptr + b)
    length = tl.load(cu_seqlens_ptr + b + 1) - first
    return first.to(tl.int64), length.to(tl.int32)


@triton.jit
def _owned(cu_ranges_ptr, r, NUM_RANGES: tl.constexpr):
    """Bounds of the ranges of query row r: computed where all rows have NUM_RANGES of them, loaded where NUM_RANGES is 0."""
    if NUM_RANGES > 0:
        first = r * NUM_RANGES
        last = first + NUM_RANGES
    else:
        first = tl.load(cu_ranges_ptr + r)
        last = tl.load(cu_ranges_ptr + r + 1)
    return first, last


@triton.jit
def _range(ranges_ptr, i, length):
    """Range i as (start, end), clamped to the sequence; two scalars, because a loop is to run from one to the other."""
    start = tl.load(ranges_ptr + 2 * i)
    end = tl.load(ranges_ptr + 2 * i + 1)
    start = tl.maximum(0, tl.minimum(start, length))
    end = tl.maximum(0, tl.minimum(end, length))
    return start.to(tl.int32), end.to(tl.int32)


@triton.jit
def _fold(scores, m, s):
    """Fold a tile of scores [H, L] into the running row maximum and sum of exponentials, [H] each.

    At least one column of the tile must be a selected key: then the new maximum is finite, and no ∞ - ∞ can arise.
    """
    m_new = tl.maximum(m, tl.max(scores, axis=1))
    s = s * tl.exp(m - m_new) + tl.sum(tl.exp(scores - m_new[:, None]), axis=1)
    return m_new, s


@triton.jit
def _normalize(acc, s):
    """Divide the accumulated output by the row sums.

    The largest score contributes exp(0), so a sum below 1 is that of a row with no key at all, whose output is to be 0, not 0/0.
    """
    return acc / tl.maximum(s, 1.0)[:, None]


@triton.jit
def sel_varlen_broadcast_2d(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Tiles addressed by a column of row offsets plus a row of column offsets: ``[:, None]`` and ``[None, :]`` in pointers and masks."""
    r = tl.program_id(0).to(tl.int64)
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    K_ptr += row * stride_kL
    V_ptr += row * stride_vL

    q_ptrs = Q_ptr + r * stride_qR + offs_H[:, None] * stride_qH + offs_D[None, :] * stride_qd
    q = tl.load(q_ptrs, mask=(offs_H < H)[:, None] & (offs_D < D)[None, :], other=0.0)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < end)[:, None] & (offs_D < D)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            v_ptrs = V_ptr + (l0 + offs_L)[:, None] * stride_vL + offs_V[None, :] * stride_vd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < end)[:, None] & (offs_D < D)[None, :], other=0.0)
            v = tl.load(v_ptrs, mask=(l0 + offs_L < end)[:, None] & (offs_V < DV)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m[:, None])
            acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + r * stride_oR + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


@triton.jit
def sel_varlen_pointer_grid(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """A tile's row and column indices are made whole (2D) first: pointers and masks are then elementwise, with nothing left to broadcast."""
    r = tl.program_id(0).to(tl.int64)
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    q_rows = tl.broadcast_to(offs_H[:, None], (BLOCK_H, BLOCK_D))
    q_cols = tl.broadcast_to(tl.arange(0, BLOCK_D)[None, :], (BLOCK_H, BLOCK_D))
    k_rows = tl.broadcast_to(tl.arange(0, BLOCK_L)[:, None], (BLOCK_L, BLOCK_D))
    k_cols = tl.broadcast_to(tl.arange(0, BLOCK_D)[None, :], (BLOCK_L, BLOCK_D))
    s_cols = tl.broadcast_to(tl.arange(0, BLOCK_L)[None, :], (BLOCK_H, BLOCK_L))
    v_rows = tl.broadcast_to(tl.arange(0, BLOCK_L)[:, None], (BLOCK_L, BLOCK_DV))
    v_cols = tl.broadcast_to(tl.arange(0, BLOCK_DV)[None, :], (BLOCK_L, BLOCK_DV))
    o_rows = tl.broadcast_to(offs_H[:, None], (BLOCK_H, BLOCK_DV))
    o_cols = tl.broadcast_to(tl.arange(0, BLOCK_DV)[None, :], (BLOCK_H, BLOCK_DV))
    # The grids stand at the first key of the sequence; a block of keys is the grid moved by l0 rows.
    k_grid = K_ptr + row * stride_kL + k_rows * stride_kL + k_cols * stride_kd
    v_grid = V_ptr + row * stride_vL + v_rows * stride_vL + v_cols * stride_vd

    q_grid = Q_ptr + r * stride_qR + q_rows * stride_qH + q_cols * stride_qd
    q = tl.load(q_grid, mask=(q_rows < H) & (q_cols < D), other=0.0)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k = tl.load(k_grid + l0 * stride_kL, mask=(l0 + k_rows < end) & (k_cols < D), other=0.0)
            scores = tl.where(l0 + s_cols < end, tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    m_grid = tl.broadcast_to(m[:, None], (BLOCK_H, BLOCK_L))
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k = tl.load(k_grid + l0 * stride_kL, mask=(l0 + k_rows < end) & (k_cols < D), other=0.0)
            v = tl.load(v_grid + l0 * stride_vL, mask=(l0 + v_rows < end) & (v_cols < DV), other=0.0)
            scores = tl.where(l0 + s_cols < end, tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m_grid)
            acc += tl.dot(p.to(v.dtype), v)

    o_grid = O_ptr + r * stride_oR + o_rows * stride_oH + o_cols * stride_od
    tl.store(o_grid, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(o_rows < H) & (o_cols < DV))


@triton.jit
def sel_varlen_loop_1d(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """1D loads, row by row: one key and its value at a time meet the tile of Q, which is loaded once, in products and sums without a dot.

    A row needs one mask, along the features, because a key outside its range is never looped over: BLOCK_L is not used. (In
    ``sel_dense`` the same variant goes column by column instead.)
    """
    r = tl.program_id(0).to(tl.int64)
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    K_ptr += row * stride_kL
    V_ptr += row * stride_vL

    q_ptrs = Q_ptr + r * stride_qR + offs_H[:, None] * stride_qH + offs_D[None, :] * stride_qd
    q = tl.load(q_ptrs, mask=(offs_H < H)[:, None] & (offs_D < D)[None, :], other=0.0).to(tl.float32) * scale

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l in range(start, end):
            k = tl.load(K_ptr + l * stride_kL + offs_D * stride_kd, mask=offs_D < D, other=0.0)
            score = tl.sum(q * k.to(tl.float32)[None, :], axis=1)
            m_new = tl.maximum(m, score)
            s = s * tl.exp(m - m_new) + tl.exp(score - m_new)
            m = m_new

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l in range(start, end):
            k = tl.load(K_ptr + l * stride_kL + offs_D * stride_kd, mask=offs_D < D, other=0.0)
            v = tl.load(V_ptr + l * stride_vL + offs_V * stride_vd, mask=offs_V < DV, other=0.0)
            p = tl.exp(tl.sum(q * k.to(tl.float32)[None, :], axis=1) - m)
            acc += p[:, None] * v.to(tl.float32)[None, :]

    o_ptrs = O_ptr + r * stride_oR + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


@triton.jit
def sel_varlen_block_ptr(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Block pointers: the tensor's shape goes into the pointer, and ``boundary_check`` stands for the mask. Deprecated in 3.7, gone in 3.9.

    The shape given is the sequence's, so the check knows where the sequence ends but not where the range does: what a block reads
    past the end of its range is taken out afterwards.
    """
    r = tl.program_id(0).to(tl.int64)
    h0 = tl.program_id(1) * BLOCK_H
    offs_L = tl.arange(0, BLOCK_L)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    q_block = tl.make_block_ptr(Q_ptr + r * stride_qR, (H, D), (stride_qH, stride_qd), (h0, 0), (BLOCK_H, BLOCK_D), (1, 0))
    k_first = tl.make_block_ptr(K_ptr + row * stride_kL, (length, D), (stride_kL, stride_kd), (0, 0), (BLOCK_L, BLOCK_D), (1, 0))
    v_first = tl.make_block_ptr(V_ptr + row * stride_vL, (length, DV), (stride_vL, stride_vd), (0, 0), (BLOCK_L, BLOCK_DV), (1, 0))
    o_block = tl.make_block_ptr(O_ptr + r * stride_oR, (H, DV), (stride_oH, stride_od), (h0, 0), (BLOCK_H, BLOCK_DV), (1, 0))
    q = tl.load(q_block, boundary_check=(0, 1), padding_option="zero")

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        k_block = tl.advance(k_first, (start, 0))
        for l0 in range(start, end, BLOCK_L):
            k = tl.load(k_block, boundary_check=(0, 1), padding_option="zero")
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)
            k_block = tl.advance(k_block, (BLOCK_L, 0))

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        k_block = tl.advance(k_first, (start, 0))
        v_block = tl.advance(v_first, (start, 0))
        for l0 in range(start, end, BLOCK_L):
            k = tl.load(k_block, boundary_check=(0, 1), padding_option="zero")
            v = tl.load(v_block, boundary_check=(0, 1), padding_option="zero")
            v = tl.where((l0 + offs_L < end)[:, None], v, 0.0).to(v.dtype)
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m[:, None])
            acc += tl.dot(p.to(v.dtype), v)
            k_block = tl.advance(k_block, (BLOCK_L, 0))
            v_block = tl.advance(v_block, (BLOCK_L, 0))

    tl.store(o_block, _normalize(acc, s).to(O_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def sel_varlen_descriptor(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Tensor descriptors made on the device (TMA from sm_90 on, plain pointers below): tiles are named by the index of their corner.

    A descriptor asks for more than the other variants: features must lie next to each other (the innermost strides, taken as 1, are
    ignored), every other stride and every base must be a multiple of 16 bytes, and so must a row of a block. One descriptor spans the
    whole sequence and serves all its ranges: a corner may be any row, and what lies past the end of a range is taken out afterwards.
    """
    r = tl.program_id(0).to(tl.int64)
    h0 = tl.program_id(1) * BLOCK_H
    offs_L = tl.arange(0, BLOCK_L)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    q_desc = tl.make_tensor_descriptor(Q_ptr + r * stride_qR, [H, D], [stride_qH, 1], [BLOCK_H, BLOCK_D])
    k_desc = tl.make_tensor_descriptor(K_ptr + row * stride_kL, [length, D], [stride_kL, 1], [BLOCK_L, BLOCK_D])
    v_desc = tl.make_tensor_descriptor(V_ptr + row * stride_vL, [length, DV], [stride_vL, 1], [BLOCK_L, BLOCK_DV])
    o_desc = tl.make_tensor_descriptor(O_ptr + r * stride_oR, [H, DV], [stride_oH, 1], [BLOCK_H, BLOCK_DV])
    q = q_desc.load([h0, 0])

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k = k_desc.load([l0, 0])
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k = k_desc.load([l0, 0])
            v = v_desc.load([l0, 0])
            v = tl.where((l0 + offs_L < end)[:, None], v, 0.0).to(v.dtype)
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m[:, None])
            acc += tl.dot(p.to(v.dtype), v)

    o_desc.store([h0, 0], _normalize(acc, s).to(O_ptr.dtype.element_ty))


# --- as it was first written, and first mended --------------------------------------------------------------------------------
# Kept with their mistakes, which are the point of them. Do not mend.


@triton.jit
def sel_varlen_as_written(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """The ends of a range are loaded through ``tl.arange(0, 1)``, so they are blocks of shape [1], and one of them bounds a loop.

    A loop's bounds must be scalars. Triton's front end does not check: it asks a block type for its width in bits, and LLVM aborts the
    process. The rest is sound: in Triton's interpreter it computes the right thing. To mend it, load from scalar pointers.
    """
    r = tl.program_id(0).to(tl.int64)
    offs_1 = tl.arange(0, 1)
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    K_ptr += row * stride_kL
    V_ptr += row * stride_vL

    q_ptrs = Q_ptr + r * stride_qR + offs_H[:, None] * stride_qH + offs_D[None, :] * stride_qd
    q = tl.load(q_ptrs, mask=(offs_H < H)[:, None] & (offs_D < D)[None, :], other=0.0)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + offs_1), length))
        end = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + 1 + offs_1), length))
        L = end - start
        for l0 in range(0, L, BLOCK_L):
            k_ptrs = K_ptr + (start + l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < L)[:, None] & (offs_D < D)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < L)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        start = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + offs_1), length))
        end = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + 1 + offs_1), length))
        L = end - start
        for l0 in range(0, L, BLOCK_L):
            k_ptrs = K_ptr + (start + l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            v_ptrs = V_ptr + (start + l0 + offs_L)[:, None] * stride_vL + offs_V[None, :] * stride_vd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < L)[:, None] & (offs_D < D)[None, :], other=0.0)
            v = tl.load(v_ptrs, mask=(l0 + offs_L < L)[:, None] & (offs_V < DV)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < L)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m[:, None])
            acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + r * stride_oR + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


@triton.jit
def sel_varlen_as_written_mask_shape(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Masks broadcast to the shape of the pointers, ``tl.broadcast_to(mask, k_ptrs.shape)``: the first attempt at mending ``as_written``.

    The abort stayed, and these masks were blamed for it. They are innocent: with scalar bounds, as here, this compiles everywhere.
    """
    r = tl.program_id(0).to(tl.int64)
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    K_ptr += row * stride_kL
    V_ptr += row * stride_vL

    q_ptrs = Q_ptr + r * stride_qR + offs_H[:, None] * stride_qH + offs_D[None, :] * stride_qd
    q_mask = tl.broadcast_to((offs_H < H)[:, None], q_ptrs.shape) & tl.broadcast_to((offs_D < D)[None, :], q_ptrs.shape)
    q = tl.load(q_ptrs, mask=q_mask, other=0.0)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            k_mask = tl.broadcast_to((l0 + offs_L < end)[:, None], k_ptrs.shape)
            k_mask = k_mask & tl.broadcast_to((offs_D < D)[None, :], k_ptrs.shape)
            k = tl.load(k_ptrs, mask=k_mask, other=0.0)
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        start, end = _range(ranges_ptr, i, length)
        for l0 in range(start, end, BLOCK_L):
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            v_ptrs = V_ptr + (l0 + offs_L)[:, None] * stride_vL + offs_V[None, :] * stride_vd
            k_mask = tl.broadcast_to((l0 + offs_L < end)[:, None], k_ptrs.shape)
            k_mask = k_mask & tl.broadcast_to((offs_D < D)[None, :], k_ptrs.shape)
            v_mask = tl.broadcast_to((l0 + offs_L < end)[:, None], v_ptrs.shape)
            v_mask = v_mask & tl.broadcast_to((offs_V < DV)[None, :], v_ptrs.shape)
            k = tl.load(k_ptrs, mask=k_mask, other=0.0)
            v = tl.load(v_ptrs, mask=v_mask, other=0.0)
            scores = tl.where((l0 + offs_L < end)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m[:, None])
            acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + r * stride_oR + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


@triton.jit
def sel_varlen_as_written_minmax(
    Q_ptr, K_ptr, V_ptr, O_ptr, cu_seqlens_ptr, seq_ptr, cu_ranges_ptr, ranges_ptr, H, scale,
    stride_qR, stride_qH, stride_qd, stride_kL, stride_kd, stride_vL, stride_vd, stride_oR, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr, NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """The clamp of a range to its sequence written ``tl.max(0, tl.min(rs, n))``.

    ``tl.min`` and ``tl.max`` reduce a block along an axis; the elementwise ones are ``tl.minimum`` and ``tl.maximum``.
    """
    r = tl.program_id(0).to(tl.int64)
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)
    row, n = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    K_ptr += row * stride_kL
    V_ptr += row * stride_vL

    q_ptrs = Q_ptr + r * stride_qR + offs_H[:, None] * stride_qH + offs_D[None, :] * stride_qd
    q = tl.load(q_ptrs, mask=(offs_H < H)[:, None] & (offs_D < D)[None, :], other=0.0)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        rs = tl.load(ranges_ptr + 2 * i)
        re = tl.load(ranges_ptr + 2 * i + 1)
        rs = tl.max(0, tl.min(rs, n))
        re = tl.max(0, tl.min(re, n))
        for l0 in range(rs, re, BLOCK_L):
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < re)[:, None] & (offs_D < D)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < re)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        rs = tl.load(ranges_ptr + 2 * i)
        re = tl.load(ranges_ptr + 2 * i + 1)
        rs = tl.max(0, tl.min(rs, n))
        re = tl.max(0, tl.min(re, n))
        for l0 in range(rs, re, BLOCK_L):
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            v_ptrs = V_ptr + (l0 + offs_L)[:, None] * stride_vL + offs_V[None, :] * stride_vd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < re)[:, None] & (offs_D < D)[None, :], other=0.0)
            v = tl.load(v_ptrs, mask=(l0 + offs_L < re)[:, None] & (offs_V < DV)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < re)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m[:, None])
            acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + r * stride_oR + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])
