"""The backward of attention with rotary positions: dQ, dK and dV of ``attn_rope``, as ``attn_backward.py`` has them for plain attention.

Q and K are rotated as in the forward; the gradients of what was rotated are turned back by the same angles, since a rotation's
transpose is its inverse: dQ = R(i)ᵀ dQ', dK = R(j)ᵀ dK'. delta is that of ``attn_delta``.
"""

import triton
import triton.language as tl
from attention import first_query, head_offset, key_bounds
from attn_backward import fold_keys, fold_queries, sums_of
from positions import advance, angles, rotate, sine_and_cosine


@triton.jit
def attn_rope_dkdv_pointer_grid(
    Q_ptr, K_ptr, V_ptr, dO_ptr, LSE_ptr, delta_ptr, dK_ptr, dV_ptr, H, N, scale, theta, stride_z, stride_h, stride_n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """dK and dV of a block of keys; the grid is (cdiv(N, BLOCK_N), Z · H)."""
    start = tl.program_id(0) * BLOCK_N
    head = head_offset(H, stride_z, stride_h)
    offs_n = start + tl.arange(0, BLOCK_N)
    offs_m = tl.arange(0, BLOCK_M)
    k_rows = tl.broadcast_to(offs_n[:, None], (BLOCK_N, D))
    q_rows = tl.broadcast_to(offs_m[:, None], (BLOCK_M, D))
    k_grid = head + k_rows * stride_n + tl.broadcast_to(tl.arange(0, D)[None, :], (BLOCK_N, D))
    q_grid = head + q_rows * stride_n + tl.broadcast_to(tl.arange(0, D)[None, :], (BLOCK_M, D))
    k = tl.load(K_ptr + k_grid, mask=k_rows < N, other=0.0)
    v = tl.load(V_ptr + k_grid, mask=k_rows < N, other=0.0)
    sine, cosine = sine_and_cosine(angles(offs_n, theta, D))
    k = rotate(k, sine, cosine, BLOCK_N, D)
    first = start // BLOCK_M * BLOCK_M if CAUSAL else 0
    q_sine, q_cosine = sine_and_cosine(angles(first + offs_m, theta, D))
    step_sine, step_cosine = sine_and_cosine(angles(tl.full([1], BLOCK_M, tl.int32), theta, D))

    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for m0 in range(first, N, BLOCK_M):
        q = tl.load(Q_ptr + q_grid + m0 * stride_n, mask=m0 + q_rows < N, other=0.0)
        do = tl.load(dO_ptr + q_grid + m0 * stride_n, mask=m0 + q_rows < N, other=0.0)
        q = rotate(q, q_sine, q_cosine, BLOCK_M, D)
        lse, delta = sums_of(LSE_ptr, delta_ptr, N, m0 + offs_m)
        dk, dv = fold_keys(dk, dv, q, k, v, do, lse, delta, m0 + offs_m, offs_n, scale * 1.4426950408889634, N, CAUSAL)
        q_sine, q_cosine = advance(q_sine, q_cosine, step_sine, step_cosine)

    dk = rotate(dk, -sine, cosine, BLOCK_N, D)
    tl.store(dK_ptr + k_grid, (dk * scale).to(dK_ptr.dtype.element_ty), mask=k_rows < N)
    tl.store(dV_ptr + k_grid, dv.to(dV_ptr.dtype.element_ty), mask=k_rows < N)


@triton.jit
def attn_rope_dq_pointer_grid(
    Q_ptr, K_ptr, V_ptr, dO_ptr, LSE_ptr, delta_ptr, dQ_ptr, H, N, scale, theta, stride_z, stride_h, stride_n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """dQ of a block of queries; the grid is that of the forward."""
    start = first_query(BLOCK_M)
    head = head_offset(H, stride_z, stride_h)
    offs_m = start + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    q_rows = tl.broadcast_to(offs_m[:, None], (BLOCK_M, D))
    k_rows = tl.broadcast_to(offs_n[:, None], (BLOCK_N, D))
    q_grid = head + q_rows * stride_n + tl.broadcast_to(tl.arange(0, D)[None, :], (BLOCK_M, D))
    k_grid = head + k_rows * stride_n + tl.broadcast_to(tl.arange(0, D)[None, :], (BLOCK_N, D))
    q = tl.load(Q_ptr + q_grid, mask=q_rows < N, other=0.0)
    do = tl.load(dO_ptr + q_grid, mask=q_rows < N, other=0.0)
    lse, delta = sums_of(LSE_ptr, delta_ptr, N, offs_m)
    sine, cosine = sine_and_cosine(angles(offs_m, theta, D))
    q = rotate(q, sine, cosine, BLOCK_M, D)
    k_sine, k_cosine = sine_and_cosine(angles(offs_n, theta, D))
    step_sine, step_cosine = sine_and_cosine(angles(tl.full([1], BLOCK_N, tl.int32), theta, D))

    dq = tl.zeros([BLOCK_M, D], tl.float32)
    _, end = key_bounds(start, N, BLOCK_M, BLOCK_N, CAUSAL)
    for n0 in range(0, end, BLOCK_N):
        k = tl.load(K_ptr + k_grid + n0 * stride_n, mask=n0 + k_rows < N, other=0.0)
        v = tl.load(V_ptr + k_grid + n0 * stride_n, mask=n0 + k_rows < N, other=0.0)
        k = rotate(k, k_sine, k_cosine, BLOCK_N, D)
        dq = fold_queries(dq, q, k, v, do, lse, delta, offs_m, n0 + offs_n, scale * 1.4426950408889634, N, CAUSAL)
        k_sine, k_cosine = advance(k_sine, k_cosine, step_sine, step_cosine)

    dq = rotate(dq, -sine, cosine, BLOCK_M, D)
    tl.store(dQ_ptr + q_grid, (dq * scale).to(dQ_ptr.dtype.element_ty), mask=q_rows < N)
