"""Attention without positions: whatever they are, they were added to Q and K outside. The same kernel with its loads written in four ways.

    O[z, h, i, :] = Σ_j softmax_j(scale · ⟨Q[z, h, i, :], K[z, h, j, :]⟩) · V[z, h, j, :]      j < N, and j ≤ i where CAUSAL

Shapes, strides and the grid are in ``attention.py``. The other families have the same text but for what is said at their heads.
"""

import triton
import triton.language as tl
from attention import first_query, fold, head_offset, hide, key_bounds, log_sum_exp


@triton.jit
def attn_standard_pointer_grid(
    Q_ptr, K_ptr, V_ptr, O_ptr, LSE_ptr, H, N, scale, stride_z, stride_h, stride_n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """A tile's row and column indices are made whole (2D) first; the grids of K and V move down by whole rows."""
    start = first_query(BLOCK_M)
    head = head_offset(H, stride_z, stride_h)
    offs_m = start + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    q_rows = tl.broadcast_to(offs_m[:, None], (BLOCK_M, D))
    k_rows = tl.broadcast_to(offs_n[:, None], (BLOCK_N, D))
    q_grid = head + q_rows * stride_n + tl.broadcast_to(tl.arange(0, D)[None, :], (BLOCK_M, D))
    k_grid = head + k_rows * stride_n + tl.broadcast_to(tl.arange(0, D)[None, :], (BLOCK_N, D))
    q = tl.load(Q_ptr + q_grid, mask=q_rows < N, other=0.0)

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    factor = scale * 1.4426950408889634
    whole, end = key_bounds(start, N, BLOCK_M, BLOCK_N, CAUSAL)
    for MASKED in tl.static_range(2):
        for n0 in range(whole if MASKED else 0, end if MASKED else whole, BLOCK_N):
            k_ptrs = K_ptr + k_grid + n0 * stride_n
            v_ptrs = V_ptr + k_grid + n0 * stride_n
            k = tl.load(k_ptrs, mask=n0 + k_rows < N, other=0.0) if MASKED else tl.load(k_ptrs)
            v = tl.load(v_ptrs, mask=n0 + k_rows < N, other=0.0) if MASKED else tl.load(v_ptrs)
            scores = tl.dot(q, tl.trans(k))
            if MASKED:
                scores = hide(scores, offs_m, n0 + offs_n, N, CAUSAL)
            p, shrink, m, s = fold(scores, factor, m, s)
            acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])

    tl.store(O_ptr + q_grid, (acc / s[:, None]).to(O_ptr.dtype.element_ty), mask=q_rows < N)
    tl.store(LSE_ptr + tl.program_id(1) * N + offs_m, log_sum_exp(m, s), mask=offs_m < N)


@triton.jit
def attn_standard_loop_1d(
    Q_ptr, K_ptr, V_ptr, O_ptr, LSE_ptr, H, N, scale, stride_z, stride_h, stride_n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """One key and its value at a time, in 1D loads, without a dot: slow, and independent of all that concerns dots.

    A key that does not exist is never looped over, so BLOCK_N is not used, and only the diagonal needs a mask.
    """
    start = first_query(BLOCK_M)
    head = head_offset(H, stride_z, stride_h)
    offs_m = start + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    q_offs = head + offs_m[:, None] * stride_n + offs_d[None, :]
    q = tl.load(Q_ptr + q_offs, mask=(offs_m < N)[:, None], other=0.0).to(tl.float32)

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    factor = scale * 1.4426950408889634
    _, end = key_bounds(start, N, BLOCK_M, BLOCK_N, CAUSAL)
    for n in range(end):
        k = tl.load(K_ptr + head + n * stride_n + offs_d).to(tl.float32)
        v = tl.load(V_ptr + head + n * stride_n + offs_d).to(tl.float32)
        score = tl.sum(q * k[None, :], axis=1) * factor
        if CAUSAL:
            score = tl.where(offs_m >= n, score, float("-inf"))
        m_new = tl.maximum(m, score)
        p = tl.exp2(score - m_new)
        shrink = tl.exp2(m - m_new)
        m, s = m_new, s * shrink + p
        acc = acc * shrink[:, None] + p[:, None] * v[None, :]

    tl.store(O_ptr + q_offs, (acc / s[:, None]).to(O_ptr.dtype.element_ty), mask=(offs_m < N)[:, None])
    tl.store(LSE_ptr + tl.program_id(1) * N + offs_m, log_sum_exp(m, s), mask=offs_m < N)


@triton.jit
def attn_standard_block_ptr(
    Q_ptr, K_ptr, V_ptr, O_ptr, LSE_ptr, H, N, scale, stride_z, stride_h, stride_n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Block pointers: ``boundary_check`` stands for the mask of a load, and only where one is needed. Deprecated in 3.7, gone in 3.9."""
    start = first_query(BLOCK_M)
    head = head_offset(H, stride_z, stride_h)
    offs_m = start + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    q_block = tl.make_block_ptr(Q_ptr + head, (N, D), (stride_n, 1), (start, 0), (BLOCK_M, D), (1, 0))
    k_block = tl.make_block_ptr(K_ptr + head, (N, D), (stride_n, 1), (0, 0), (BLOCK_N, D), (1, 0))
    v_block = tl.make_block_ptr(V_ptr + head, (N, D), (stride_n, 1), (0, 0), (BLOCK_N, D), (1, 0))
    o_block = tl.make_block_ptr(O_ptr + head, (N, D), (stride_n, 1), (start, 0), (BLOCK_M, D), (1, 0))
    q = tl.load(q_block, boundary_check=(0,), padding_option="zero")

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    factor = scale * 1.4426950408889634
    whole, end = key_bounds(start, N, BLOCK_M, BLOCK_N, CAUSAL)
    for MASKED in tl.static_range(2):
        for n0 in range(whole if MASKED else 0, end if MASKED else whole, BLOCK_N):
            k = tl.load(k_block, boundary_check=(0,), padding_option="zero") if MASKED else tl.load(k_block)
            v = tl.load(v_block, boundary_check=(0,), padding_option="zero") if MASKED else tl.load(v_block)
            scores = tl.dot(q, tl.trans(k))
            if MASKED:
                scores = hide(scores, offs_m, n0 + offs_n, N, CAUSAL)
            p, shrink, m, s = fold(scores, factor, m, s)
            acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
            k_block = tl.advance(k_block, (BLOCK_N, 0))
            v_block = tl.advance(v_block, (BLOCK_N, 0))

    tl.store(o_block, (acc / s[:, None]).to(O_ptr.dtype.element_ty), boundary_check=(0,))
    tl.store(LSE_ptr + tl.program_id(1) * N + offs_m, log_sum_exp(m, s), mask=offs_m < N)


@triton.jit
def attn_standard_descriptor(
    Q_ptr, K_ptr, V_ptr, O_ptr, LSE_ptr, H, N, scale, stride_z, stride_h, stride_n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Tensor descriptors made on the device (TMA from sm_90 on): tiles are named by their corner, and read as zero beyond N."""
    start = first_query(BLOCK_M)
    head = head_offset(H, stride_z, stride_h)
    offs_m = start + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    q_desc = tl.make_tensor_descriptor(Q_ptr + head, [N, D], [stride_n, 1], [BLOCK_M, D])
    k_desc = tl.make_tensor_descriptor(K_ptr + head, [N, D], [stride_n, 1], [BLOCK_N, D])
    v_desc = tl.make_tensor_descriptor(V_ptr + head, [N, D], [stride_n, 1], [BLOCK_N, D])
    o_desc = tl.make_tensor_descriptor(O_ptr + head, [N, D], [stride_n, 1], [BLOCK_M, D])
    q = q_desc.load([start, 0])

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    factor = scale * 1.4426950408889634
    whole, end = key_bounds(start, N, BLOCK_M, BLOCK_N, CAUSAL)
    for MASKED in tl.static_range(2):
        for n0 in range(whole if MASKED else 0, end if MASKED else whole, BLOCK_N):
            k = k_desc.load([n0, 0])
            v = v_desc.load([n0, 0])
            scores = tl.dot(q, tl.trans(k))
            if MASKED:
                scores = hide(scores, offs_m, n0 + offs_n, N, CAUSAL)
            p, shrink, m, s = fold(scores, factor, m, s)
            acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])

    o_desc.store([start, 0], (acc / s[:, None]).to(O_ptr.dtype.element_ty))
    tl.store(LSE_ptr + tl.program_id(1) * N + offs_m, log_sum_exp(m, s), mask=offs_m < N)


@triton.jit
def attn_host_descriptor(
    Q_desc, K_desc, V_desc, O_desc, LSE_ptr, H, N, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Tensor descriptors of all four axes, which the host makes: a tile is a block of one head."""
    start = first_query(BLOCK_M)
    z, h = tl.program_id(1) // H, tl.program_id(1) % H
    offs_m = start + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    q = Q_desc.load([z, h, start, 0]).reshape([BLOCK_M, D])

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    factor = scale * 1.4426950408889634
    whole, end = key_bounds(start, N, BLOCK_M, BLOCK_N, CAUSAL)
    for MASKED in tl.static_range(2):
        for n0 in range(whole if MASKED else 0, end if MASKED else whole, BLOCK_N):
            k = K_desc.load([z, h, n0, 0]).reshape([BLOCK_N, D])
            v = V_desc.load([z, h, n0, 0]).reshape([BLOCK_N, D])
            scores = tl.dot(q, tl.trans(k))
            if MASKED:
                scores = hide(scores, offs_m, n0 + offs_n, N, CAUSAL)
            p, shrink, m, s = fold(scores, factor, m, s)
            acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])

    O_desc.store([z, h, start, 0], (acc / s[:, None]).to(O_desc.dtype).reshape([1, 1, BLOCK_M, D]))
    tl.store(LSE_ptr + tl.program_id(1) * N + offs_m, log_sum_exp(m, s), mask=offs_m < N)
