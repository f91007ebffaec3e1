"""The backward of attention: what every family needs, and dQ, dK and dV where nothing is done to Q, K and the scores.

    P[i, j]  = exp(scale · ⟨Q[i, :], K[j, :]⟩ - LSE[i])             the weights once more, without a maximum or a sum of their own
    dV[j, :] = Σ_i P[i, j] · dO[i, :]
    dS[i, j] = P[i, j] · (⟨dO[i, :], V[j, :]⟩ - delta[i])            delta[i] = ⟨O[i, :], dO[i, :]⟩
    dQ[i, :] = scale · Σ_j dS[i, j] · K[j, :]
    dK[j, :] = scale · Σ_i dS[i, j] · Q[i, :]

Three kernels: ``attn_delta``, then one that has BLOCK_N keys and passes over the queries that see them (dK and dV), and one that has
BLOCK_M queries and passes over the keys that they see (dQ). Each output has one writer, so nothing is added atomically and every
launch gives the same numbers. Gradients are shaped, laid out and typed as what they are of; LSE and delta are [Z, H, N], fp32, contiguous.

The weights come from the LSE that the forward saved, so that P is at most 1 whatever the scores are. What does not exist is taken out
before the exponential, by a score of -∞ or an LSE of ∞: a padding key of zeros has a score of 0, whose weight exp(-LSE) may be
infinite where all real scores are far below 0, and ∞ · 0 would then be NaN in every gradient.
"""

import triton
import triton.language as tl
from attention import first_query, head_offset, hide, key_bounds


@triton.jit
def attn_delta_pointer_grid(
    O_ptr, dO_ptr, delta_ptr, H, N, stride_z, stride_h, stride_n,
    D: tl.constexpr, BLOCK_M: tl.constexpr,
):  # fmt: skip
    """delta[i] = ⟨O[i, :], dO[i, :]⟩ of a block of queries; the grid is that of the forward."""
    head = head_offset(H, stride_z, stride_h)
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rows = tl.broadcast_to(offs_m[:, None], (BLOCK_M, D))
    grid = head + rows * stride_n + tl.broadcast_to(tl.arange(0, D)[None, :], (BLOCK_M, D))
    o = tl.load(O_ptr + grid, mask=rows < N, other=0.0).to(tl.float32)
    do = tl.load(dO_ptr + grid, mask=rows < N, other=0.0).to(tl.float32)
    tl.store(delta_ptr + tl.program_id(1) * N + offs_m, tl.sum(o * do, axis=1), mask=offs_m < N)


@triton.jit
def sums_of(LSE_ptr, delta_ptr, N, queries):
    """LSE as an exponent of 2, and delta, of queries of this program's head; a query that does not exist has weights of 0."""
    offsets = tl.program_id(1) * N + queries
    lse = tl.load(LSE_ptr + offsets, mask=queries < N, other=float("inf"))
    return lse * 1.4426950408889634, tl.load(delta_ptr + offsets, mask=queries < N, other=0.0)


@triton.jit
def fold_keys(dk, dv, q, k, v, do, lse, delta, queries, keys, factor, N, CAUSAL: tl.constexpr):
    """Add to dK and dV of a block of keys what a block of queries gives. Scores and weights are [N, M] here."""
    seen = queries[None, :] < N
    if CAUSAL:
        seen = seen & (queries[None, :] >= keys[:, None])
    scores = tl.where(seen, tl.dot(k, tl.trans(q)) * factor, float("-inf"))
    p = tl.exp2(scores - lse[None, :])
    ds = p * (tl.dot(v, tl.trans(do)) - delta[None, :])
    return tl.dot(ds.to(q.dtype), q, dk), tl.dot(p.to(do.dtype), do, dv)


@triton.jit
def fold_queries(dq, q, k, v, do, lse, delta, queries, keys, factor, N, CAUSAL: tl.constexpr):
    """Add to dQ of a block of queries what a block of keys gives. Scores and weights are [M, N]."""
    scores = hide(tl.dot(q, tl.trans(k)) * factor, queries, keys, N, CAUSAL)
    p = tl.exp2(scores - lse[:, None])
    ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None])
    return tl.dot(ds.to(k.dtype), k, dq)


@triton.jit
def attn_standard_dkdv_pointer_grid(
    Q_ptr, K_ptr, V_ptr, dO_ptr, LSE_ptr, delta_ptr, dK_ptr, dV_ptr, H, N, scale, stride_z, stride_h, stride_n,
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

    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for m0 in range(start // BLOCK_M * BLOCK_M if CAUSAL else 0, N, BLOCK_M):
        q = tl.load(Q_ptr + q_grid + m0 * stride_n, mask=m0 + q_rows < N, other=0.0)
        do = tl.load(dO_ptr + q_grid + m0 * stride_n, mask=m0 + q_rows < N, other=0.0)
        lse, delta = sums_of(LSE_ptr, delta_ptr, N, m0 + offs_m)
        dk, dv = fold_keys(dk, dv, q, k, v, do, lse, delta, m0 + offs_m, offs_n, scale * 1.4426950408889634, N, CAUSAL)

    tl.store(dK_ptr + k_grid, (dk * scale).to(dK_ptr.dtype.element_ty), mask=k_rows < N)
    tl.store(dV_ptr + k_grid, dv.to(dV_ptr.dtype.element_ty), mask=k_rows < N)


@triton.jit
def attn_standard_dq_pointer_grid(
    Q_ptr, K_ptr, V_ptr, dO_ptr, LSE_ptr, delta_ptr, dQ_ptr, H, N, scale, stride_z, stride_h, stride_n,
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

    dq = tl.zeros([BLOCK_M, D], tl.float32)
    _, end = key_bounds(start, N, BLOCK_M, BLOCK_N, CAUSAL)
    for n0 in range(0, end, BLOCK_N):
        k = tl.load(K_ptr + k_grid + n0 * stride_n, mask=n0 + k_rows < N, other=0.0)
        v = tl.load(V_ptr + k_grid + n0 * stride_n, mask=n0 + k_rows < N, other=0.0)
        dq = fold_queries(dq, q, k, v, do, lse, delta, offs_m, n0 + offs_n, scale * 1.4426950408889634, N, CAUSAL)

    tl.store(dQ_ptr + q_grid, (dq * scale).to(dQ_ptr.dtype.element_ty), mask=q_rows < N)
