"""Dense selection attention, the same kernel with its loads written in five ways.

    O[n, h, :] = Σ_l softmax_l(scale · ⟨Q[n, h, :], K[n, l, :]⟩) · V[n, l, :]

    Q [N, H, D]   the H query heads of row n share its keys
    K [N, L, D]   the keys that were selected for row n, gathered beforehand
    V [N, L, DV]
    O [N, H, DV]  rows with no key (L = 0) are zero

Every variant takes the same arguments and the same grid, ``(N, cdiv(H, BLOCK_H))``, and runs the same two passes: the first finds the
row maximum ``m`` and the row sum ``s`` of the exponentials, the second recomputes the scores and accumulates the output. Scores are
tiled over keys (``BLOCK_L``) and over features (``BLOCK_D``); one block of ``BLOCK_DV`` ≥ DV columns holds the output. ``BLOCK_H``,
the M of both dots, is at least 16, and heads beyond H are padding.

A stride is counted in elements and named for its tensor and axis: ``stride_kL`` is from one key to the next. Pointers are advanced to
row n in 64 bits first, so that only offsets within one row must fit in 32.
"""

import triton
import triton.language as tl


@triton.jit
def _fold(scores, m, s):
    """Fold a tile of scores [H, L] into the running row maximum and sum of exponentials, [H] each.

    At least one column of the tile must be a real key: then the new maximum is finite, and no ∞ - ∞ can arise.
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
def sel_dense_broadcast_2d(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Tiles addressed by a column of row offsets plus a row of column offsets: ``[:, None]`` and ``[None, :]`` in pointers and masks."""
    n = tl.program_id(0).to(tl.int64)
    Q_ptr += n * stride_qN
    K_ptr += n * stride_kN
    V_ptr += n * stride_vN
    O_ptr += n * stride_oN
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            q_ptrs = Q_ptr + offs_H[:, None] * stride_qH + (d0 + offs_D)[None, :] * stride_qd
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + (d0 + offs_D)[None, :] * stride_kd
            q = tl.load(q_ptrs, mask=(offs_H < H)[:, None] & (d0 + offs_D < D)[None, :], other=0.0)
            k = tl.load(k_ptrs, mask=(l0 + offs_L < L)[:, None] & (d0 + offs_D < D)[None, :], other=0.0)
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            q_ptrs = Q_ptr + offs_H[:, None] * stride_qH + (d0 + offs_D)[None, :] * stride_qd
            k_ptrs = K_ptr + (l0 + offs_L)[:, None] * stride_kL + (d0 + offs_D)[None, :] * stride_kd
            q = tl.load(q_ptrs, mask=(offs_H < H)[:, None] & (d0 + offs_D < D)[None, :], other=0.0)
            k = tl.load(k_ptrs, mask=(l0 + offs_L < L)[:, None] & (d0 + offs_D < D)[None, :], other=0.0)
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        p = tl.exp(scores - m[:, None])
        v_ptrs = V_ptr + (l0 + offs_L)[:, None] * stride_vL + offs_V[None, :] * stride_vd
        v = tl.load(v_ptrs, mask=(l0 + offs_L < L)[:, None] & (offs_V < DV)[None, :], other=0.0)
        acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


@triton.jit
def sel_dense_pointer_grid(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """A tile's row and column indices are made whole (2D) first: pointers and masks are then elementwise, with nothing left to broadcast."""
    n = tl.program_id(0).to(tl.int64)
    Q_ptr += n * stride_qN
    K_ptr += n * stride_kN
    V_ptr += n * stride_vN
    O_ptr += n * stride_oN
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    q_rows = tl.broadcast_to(offs_H[:, None], (BLOCK_H, BLOCK_D))
    q_cols = tl.broadcast_to(tl.arange(0, BLOCK_D)[None, :], (BLOCK_H, BLOCK_D))
    k_rows = tl.broadcast_to(tl.arange(0, BLOCK_L)[:, None], (BLOCK_L, BLOCK_D))
    k_cols = tl.broadcast_to(tl.arange(0, BLOCK_D)[None, :], (BLOCK_L, BLOCK_D))
    s_cols = tl.broadcast_to(tl.arange(0, BLOCK_L)[None, :], (BLOCK_H, BLOCK_L))
    v_rows = tl.broadcast_to(tl.arange(0, BLOCK_L)[:, None], (BLOCK_L, BLOCK_DV))
    v_cols = tl.broadcast_to(tl.arange(0, BLOCK_DV)[None, :], (BLOCK_L, BLOCK_DV))
    o_rows = tl.broadcast_to(offs_H[:, None], (BLOCK_H, BLOCK_DV))
    o_cols = tl.broadcast_to(tl.arange(0, BLOCK_DV)[None, :], (BLOCK_H, BLOCK_DV))
    q_grid = Q_ptr + q_rows * stride_qH + q_cols * stride_qd

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            k_grid = K_ptr + (l0 + k_rows) * stride_kL + (d0 + k_cols) * stride_kd
            q = tl.load(q_grid + d0 * stride_qd, mask=(q_rows < H) & (d0 + q_cols < D), other=0.0)
            k = tl.load(k_grid, mask=(l0 + k_rows < L) & (d0 + k_cols < D), other=0.0)
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where(l0 + s_cols < L, scores * scale, float("-inf"))
        m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    m_grid = tl.broadcast_to(m[:, None], (BLOCK_H, BLOCK_L))
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            k_grid = K_ptr + (l0 + k_rows) * stride_kL + (d0 + k_cols) * stride_kd
            q = tl.load(q_grid + d0 * stride_qd, mask=(q_rows < H) & (d0 + q_cols < D), other=0.0)
            k = tl.load(k_grid, mask=(l0 + k_rows < L) & (d0 + k_cols < D), other=0.0)
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where(l0 + s_cols < L, scores * scale, float("-inf"))
        p = tl.exp(scores - m_grid)
        v_grid = V_ptr + (l0 + v_rows) * stride_vL + v_cols * stride_vd
        v = tl.load(v_grid, mask=(l0 + v_rows < L) & (v_cols < DV), other=0.0)
        acc += tl.dot(p.to(v.dtype), v)

    o_grid = O_ptr + o_rows * stride_oH + o_cols * stride_od
    tl.store(o_grid, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(o_rows < H) & (o_cols < DV))


@triton.jit
def sel_dense_loop_1d(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """1D loads only, column by column: a feature of Q and of K updates all scores, a feature of V makes one column of the output.

    A column needs one mask, along the heads or the keys, because a feature that does not exist is never looped over: BLOCK_D is not
    used, and there is no dot. (In ``sel_varlen`` the same variant goes row by row instead.)
    """
    n = tl.program_id(0).to(tl.int64)
    Q_ptr += n * stride_qN
    K_ptr += n * stride_kN
    V_ptr += n * stride_vN
    O_ptr += n * stride_oN
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_V = tl.arange(0, BLOCK_DV)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d in range(D):
            q = tl.load(Q_ptr + offs_H * stride_qH + d * stride_qd, mask=offs_H < H, other=0.0)
            k = tl.load(K_ptr + (l0 + offs_L) * stride_kL + d * stride_kd, mask=l0 + offs_L < L, other=0.0)
            scores += q.to(tl.float32)[:, None] * k.to(tl.float32)[None, :]
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d in range(D):
            q = tl.load(Q_ptr + offs_H * stride_qH + d * stride_qd, mask=offs_H < H, other=0.0)
            k = tl.load(K_ptr + (l0 + offs_L) * stride_kL + d * stride_kd, mask=l0 + offs_L < L, other=0.0)
            scores += q.to(tl.float32)[:, None] * k.to(tl.float32)[None, :]
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        p = tl.exp(scores - m[:, None])
        for d in range(DV):
            v = tl.load(V_ptr + (l0 + offs_L) * stride_vL + d * stride_vd, mask=l0 + offs_L < L, other=0.0)
            column = tl.sum(p * v.to(tl.float32)[None, :], axis=1)
            # A block has no "column d" to add to; the others are given zero.
            acc += tl.where(offs_V[None, :] == d, column[:, None], 0.0)

    o_ptrs = O_ptr + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


@triton.jit
def sel_dense_block_ptr(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Block pointers: the tensor's shape goes into the pointer, and ``boundary_check`` stands for the mask. Deprecated in 3.7, gone in 3.9.

    Padding is zero, which is a score like any other: keys beyond L still have to be taken out of the softmax by hand.
    """
    n = tl.program_id(0).to(tl.int64)
    h0 = tl.program_id(1) * BLOCK_H
    offs_L = tl.arange(0, BLOCK_L)
    # One pointer per tensor, at the first tile; the loops advance copies of it.
    q_first = tl.make_block_ptr(Q_ptr + n * stride_qN, (H, D), (stride_qH, stride_qd), (h0, 0), (BLOCK_H, BLOCK_D), (1, 0))
    k_first = tl.make_block_ptr(K_ptr + n * stride_kN, (L, D), (stride_kL, stride_kd), (0, 0), (BLOCK_L, BLOCK_D), (1, 0))
    v_block = tl.make_block_ptr(V_ptr + n * stride_vN, (L, DV), (stride_vL, stride_vd), (0, 0), (BLOCK_L, BLOCK_DV), (1, 0))
    o_block = tl.make_block_ptr(O_ptr + n * stride_oN, (H, DV), (stride_oH, stride_od), (h0, 0), (BLOCK_H, BLOCK_DV), (1, 0))

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    k_row = k_first
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        q_block = q_first
        k_block = k_row
        for d0 in range(0, D, BLOCK_D):
            q = tl.load(q_block, boundary_check=(0, 1), padding_option="zero")
            k = tl.load(k_block, boundary_check=(0, 1), padding_option="zero")
            scores += tl.dot(q, tl.trans(k))
            q_block = tl.advance(q_block, (0, BLOCK_D))
            k_block = tl.advance(k_block, (0, BLOCK_D))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        m, s = _fold(scores, m, s)
        k_row = tl.advance(k_row, (BLOCK_L, 0))

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    k_row = k_first
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        q_block = q_first
        k_block = k_row
        for d0 in range(0, D, BLOCK_D):
            q = tl.load(q_block, boundary_check=(0, 1), padding_option="zero")
            k = tl.load(k_block, boundary_check=(0, 1), padding_option="zero")
            scores += tl.dot(q, tl.trans(k))
            q_block = tl.advance(q_block, (0, BLOCK_D))
            k_block = tl.advance(k_block, (0, BLOCK_D))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        p = tl.exp(scores - m[:, None])
        v = tl.load(v_block, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(p.to(v.dtype), v)
        k_row = tl.advance(k_row, (BLOCK_L, 0))
        v_block = tl.advance(v_block, (BLOCK_L, 0))

    tl.store(o_block, _normalize(acc, s).to(O_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def sel_dense_descriptor(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Tensor descriptors made on the device (TMA from sm_90 on, plain pointers below): tiles are named by the index of their corner.

    A descriptor asks for more than the other variants: features must lie next to each other (the innermost strides, taken as 1, are
    ignored), every other stride and every base must be a multiple of 16 bytes, and so must a row of a block. What lies outside the
    tensor reads as zero and is not written, so there are no masks but the one that takes keys beyond L out of the softmax.
    """
    n = tl.program_id(0).to(tl.int64)
    h0 = tl.program_id(1) * BLOCK_H
    offs_L = tl.arange(0, BLOCK_L)
    q_desc = tl.make_tensor_descriptor(Q_ptr + n * stride_qN, [H, D], [stride_qH, 1], [BLOCK_H, BLOCK_D])
    k_desc = tl.make_tensor_descriptor(K_ptr + n * stride_kN, [L, D], [stride_kL, 1], [BLOCK_L, BLOCK_D])
    v_desc = tl.make_tensor_descriptor(V_ptr + n * stride_vN, [L, DV], [stride_vL, 1], [BLOCK_L, BLOCK_DV])
    o_desc = tl.make_tensor_descriptor(O_ptr + n * stride_oN, [H, DV], [stride_oH, 1], [BLOCK_H, BLOCK_DV])

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            scores += tl.dot(q_desc.load([h0, d0]), tl.trans(k_desc.load([l0, d0])))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            scores += tl.dot(q_desc.load([h0, d0]), tl.trans(k_desc.load([l0, d0])))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        p = tl.exp(scores - m[:, None])
        v = v_desc.load([l0, 0])
        acc += tl.dot(p.to(v.dtype), v)

    o_desc.store([h0, 0], _normalize(acc, s).to(O_ptr.dtype.element_ty))


# --- as it was first written ------------------------------------------------------------------------------------------------
# Kept with its mistake, which is the point of it. Do not mend.


@triton.jit
def sel_dense_as_written(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """The loads of K and V lack ``[:, None]`` on their row term, although their masks have it.

    ``(l0 + offs_L) * stride_kL`` is [BLOCK_L]; added to [1, BLOCK_D] it is taken for a row, [1, BLOCK_L], which is of another length.
    Where BLOCK_L equals BLOCK_D it would even compile, and read the diagonal neighbours of what was meant.
    """
    n = tl.program_id(0).to(tl.int64)
    Q_ptr += n * stride_qN
    K_ptr += n * stride_kN
    V_ptr += n * stride_vN
    O_ptr += n * stride_oN
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            k = tl.load(
                K_ptr + (l0 + offs_L) * stride_kL + (d0 + offs_D)[None, :] * stride_kd,
                mask=(l0 + offs_L < L)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            q = tl.load(
                Q_ptr + offs_H[:, None] * stride_qH + (d0 + offs_D)[None, :] * stride_qd,
                mask=(offs_H < H)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        m_new = tl.maximum(m, tl.max(scores, axis=1))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(scores - m_new[:, None]), axis=1)
        m = m_new

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            k = tl.load(
                K_ptr + (l0 + offs_L) * stride_kL + (d0 + offs_D)[None, :] * stride_kd,
                mask=(l0 + offs_L < L)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            q = tl.load(
                Q_ptr + offs_H[:, None] * stride_qH + (d0 + offs_D)[None, :] * stride_qd,
                mask=(offs_H < H)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        p = tl.exp(scores - m[:, None])
        v = tl.load(
            V_ptr + (l0 + offs_L) * stride_vL + offs_V[None, :] * stride_vd,
            mask=(l0 + offs_L < L)[:, None] & (offs_V < DV)[None, :],
            other=0.0,
        )
        acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])
