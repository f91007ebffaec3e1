"""What the attention kernels share: which head and which queries a program has, which keys they see, and the softmax.

    O[z, h, i, :] = Σ_j softmax_j(scale · ⟨Q[z, h, i, :], K[z, h, j, :]⟩) · V[z, h, j, :]      j < N, and j ≤ i where CAUSAL

    Q, K, V, O [Z, H, N, D]  all with the same strides (in elements): stride_z, stride_h, stride_n, and 1 from feature to feature
    LSE        [Z, H, N]     fp32, contiguous: the natural logarithm of each row's sum of exponentials, which the backward needs

The families differ in what they do to Q, K or the scores before the softmax, and each says so at the head of its file. Everything
else is the same: the grid is ``(cdiv(N, BLOCK_M), Z · H)``; a program has BLOCK_M queries and passes over the keys once, in
blocks of BLOCK_N, keeping a running maximum and sum and rescaling what it accumulated (the online softmax). Exponentials are
powers of 2: log2(e) is multiplied into the scale. ``scale`` is positive. D, BLOCK_M and BLOCK_N are powers of 2.

Only some blocks of keys need a mask, those at the diagonal and the last one. They come last, in a loop of their own
(``for MASKED in tl.static_range(2)``), so that the loop over all others has none.
"""

import triton
import triton.language as tl


@triton.jit
def first_query(BLOCK_M: tl.constexpr):
    """The first query of this program. Programs with many keys, where CAUSAL, start first: blocks are counted from the end."""
    return (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M


@triton.jit
def head_offset(H, stride_z, stride_h):
    """Where this program's head begins, in elements and 64 bits, so that only offsets within one head must fit in 32."""
    head = tl.program_id(1)
    return (head // H).to(tl.int64) * stride_z + (head % H).to(tl.int64) * stride_h


@triton.jit
def key_bounds(start, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """For the queries from ``start`` on: all of them see all keys before the first bound, in whole blocks; none sees one from the second on."""
    if CAUSAL:
        whole = start // BLOCK_N * BLOCK_N
        end = tl.minimum(start + BLOCK_M, N)
    else:
        whole = N // BLOCK_N * BLOCK_N
        end = N
    return whole, end


@triton.jit
def hide(scores, queries, keys, N, CAUSAL: tl.constexpr):
    """Scores [M, N] with -∞ for the keys that a query does not see."""
    seen = keys[None, :] < N
    if CAUSAL:
        seen = seen & (queries[:, None] >= keys[None, :])
    return tl.where(seen, scores, float("-inf"))


@triton.jit
def fold(scores, factor, m, s):
    """Fold a tile of scores into each row's running maximum m and sum of exponentials s; ``factor`` times a score is an exponent of 2.

    Returns the weights of the tile, the factor by which what was accumulated before has to shrink, and the new m and s.
    A row's first tile must have a key that it sees: then m is finite from there on, and no ∞ - ∞ can arise.
    """
    m_new = tl.maximum(m, tl.max(scores, axis=1) * factor)
    p = tl.exp2(scores * factor - m_new[:, None])
    shrink = tl.exp2(m - m_new)
    return p, shrink, m_new, s * shrink + tl.sum(p, axis=1)


@triton.jit
def log_sum_exp(m, s):
    """The natural logarithm of each row's sum of exponentials."""
    return (m + tl.log2(s)) * 0.6931471805599453
