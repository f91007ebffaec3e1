"""Kernels with block pointers in every form that is edited. All take the same arguments, and each uses some of them."""

import triton
import triton.language as tl


@triton.jit
def copied(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """Made once, never advanced, checked along both axes."""
    i, j = tl.program_id(0), tl.program_id(1)
    # what is read
    source = tl.make_block_ptr(x, (n, m), (sn, sm), (i * BM, j * BN), (BM, BN), (1, 0))  # a tile
    target = tl.make_block_ptr(y, (n, m), (sn, sm), (i * BM, j * BN), (BM, BN), (1, 0))
    tl.store(target, tl.load(source, boundary_check=(0, 1)).to(target.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def rows_only(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """The load checks one axis, and the store checks another one, too."""
    i = tl.program_id(0)
    p = tl.make_block_ptr(x, shape=(n, m), strides=(sn, sm), offsets=(i * BM, 0), block_shape=(BM, BN), order=(1, 0))
    b = tl.load(p, boundary_check=(0,), padding_option="zero", eviction_policy="evict_first")
    p = tl.make_block_ptr(y, (n, m), (sn, sm), (i * BM, 0), (BM, BN), (1, 0))
    tl.store(p, b, boundary_check=[0, 1], cache_modifier=".cs")


@triton.jit
def unchecked(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """No check at all, and an offset before the beginning of the tensor."""
    p = tl.make_block_ptr(x + 64, (n, m), (sn, sm), (-1, 0), (BM, BN), (1, 0))
    tl.store(tl.make_block_ptr(y, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0)), tl.load(p))


@triton.jit
def before_the_beginning(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """The checks also find elements before the beginning of the tensor."""
    i = tl.program_id(0)
    p = tl.make_block_ptr(x, (n, m), (sn, sm), (i * BM - 3, -1), (BM, BN), (1, 0))
    b = tl.load(p, boundary_check=(1, 0), padding_option="zero")
    tl.store(tl.make_block_ptr(y, (n, m), (sn, sm), (i * BM, 0), (BM, BN), (1, 0)), b, boundary_check=(0, 1))


@triton.jit
def not_a_number(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """Padding with NaN."""
    p = tl.make_block_ptr(x, (n, m), (sn, sm), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    b = tl.load(p, boundary_check=(0, 1), padding_option="nan")
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(y + tl.program_id(0) * BM * BN + at, b)


@triton.jit
def advanced(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """Advanced along the rows in a loop, by two axes after it, and backwards."""
    j = tl.program_id(1)
    source = tl.make_block_ptr(x, (n, m), (sn, sm), (0, j * BN), (BM, BN), (1, 0))
    target = tl.make_block_ptr(y, (n, m), (sn, sm), (0, j * BN), (BM, BN), (1, 0))
    for i in range(0, n, BM):
        b = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, (b + i).to(y.dtype.element_ty), boundary_check=(0, 1))
        source = tl.advance(source, (BM, 0))
        target = tl.advance(target, [BM, 0])  # the next rows
    source = tl.advance(source, (-BM, 1))
    tl.store(target.advance((-BM, 0)), tl.load(source, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))


@triton.jit
def copies(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """A copy is advanced, and its original is not."""
    first = tl.make_block_ptr(x, (n, m), (sn, sm), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    total = tl.zeros([BM, BN], tl.float32)
    for _ in range(2):
        p = first
        for _j in range(0, m, BN):
            total += tl.load(p, boundary_check=(0, 1), padding_option="zero")
            p = tl.advance(p, (0, BN))
    tl.store(
        tl.make_block_ptr(y, (n, m), (sn, sm), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0)),
        total.to(y.dtype.element_ty),
        boundary_check=(0, 1),
    )


@triton.jit
def transposed(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """Shape and strides are exchanged, with the order that matches."""
    i, j = tl.program_id(0), tl.program_id(1)
    p = tl.make_block_ptr(x, (m, n), (sm, sn), (j * BN, i * BM), (BN, BM), (0, 1))
    b = tl.load(p, boundary_check=(0, 1), padding_option="zero")
    tl.store(
        tl.make_block_ptr(y, (n, m), (sn, sm), (i * BM, j * BN), (BM, BN), (1, 0)),
        (tl.trans(b) * 2).to(y.dtype.element_ty),
        boundary_check=(0, 1),
    )


@triton.jit
def one_dimension(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """A column, whose stride is not 1."""
    j = tl.program_id(1)
    p_x, p_y = (
        tl.make_block_ptr(x + j * sm, (n,), (sn,), (0,), (BM,), (0,)),
        tl.make_block_ptr(y + j * sm, (n,), (sn,), (0,), (BM,), (0,)),
    )
    for _ in range(tl.cdiv(n, BM)):
        b = tl.load(p_x, boundary_check=0)
        b = b * 3  # noqa: E702
        tl.store(p_y, b, boundary_check=(0,))
        p_x, p_y = tl.advance(p_x, (BM,)), tl.advance(p_y, (BM,))


@triton.jit
def three_dimensions(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """Three axes, of which two are checked."""
    p = tl.make_block_ptr(x, (2, n, m), (n * sn, sn, sm), (0, 0, 0), (2, BM, BN), (2, 1, 0))
    q = tl.make_block_ptr(y, (2, n, m), (n * sn, sn, sm), (0, 0, 0), (2, BM, BN), (2, 1, 0))
    for _i in range(0, n, BM):
        tl.store(q, tl.load(p, boundary_check=(1, 2), padding_option="zero"), boundary_check=(1, 2))
        p = tl.advance(p, (0, BM, 0))
        q = tl.advance(q, (0, BM, 0))


@triton.jit
def reassigned(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """The parts of a block pointer change after it was made, and its variable gets another block pointer."""
    i = tl.program_id(0)
    at, rows = i * BM, n
    x += at * 0
    p = tl.make_block_ptr(x, (rows, m), (sn, sm), (at, 0), (BM, BN), (1, 0))
    x, rows, at = x + 1, 0, 1
    b = tl.load(p, boundary_check=(0, 1), padding_option="zero")
    for j in range(0, m, BN):
        p = tl.make_block_ptr(y, (n, m), (sn, sm), (i * BM, j), (BM, BN), (1, 0))
        tl.store(p, (b + j + rows + at).to(y.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def branches(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """Made in two ways, by a run-time condition, by a constexpr, and by a conditional expression."""
    i = tl.program_id(0)
    if i % 2 == 0:
        p = tl.make_block_ptr(x, (n, m), (sn, sm), (i * BM, 0), (BM, BN), (1, 0))
    else:
        p = tl.make_block_ptr(x + sn, (n - 1, m), (sn, sm), (i * BM, 1), (BM, BN), (1, 0))
    if BM > 4:
        q = tl.make_block_ptr(y, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0))
    else:
        q = tl.make_block_ptr(y, (n, m), (sn, sm), (1, 0), (BM, BN), (1, 0))
    q = tl.advance(q, (i * BM, 0))
    s = tl.make_block_ptr(x, (n,), (sn,), (0,), (BM,), (0,)) if BM > 4 else tl.make_block_ptr(x, (n,), (sm,), (0,), (BM,), (0,))
    tl.store(
        q,
        tl.load(p, boundary_check=(0, 1), padding_option="zero") + tl.load(s, boundary_check=(0,))[:, None],
        boundary_check=(0, 1),
    )


@triton.jit
def _add_rows(p, b, n):
    return tl.load(p + tl.arange(0, 1)) * 0 + b + n


@triton.jit
def with_helper(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """A helper that is edited, too, since this kernel uses it."""
    b = _column(x, n, sn, BM)
    tl.store(tl.make_block_ptr(y, (n,), (sn,), (0,), (BM,), (0,)), _add_rows(x, b, n).to(y.dtype.element_ty), boundary_check=(0,))


@triton.jit
def _column(x, n, sn, BM: tl.constexpr):
    p_0 = tl.make_block_ptr(x, (n,), (sn,), (0,), (BM,), (0,))
    return tl.load(p_0, boundary_check=(0,), padding_option="zero")


@triton.jit
def named_alike(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """The names that an edit would choose first are already in use."""
    p_0, p_1, p_mask, q_at_0 = n * 1.0, n * 2.0, n * 3.0, n * 4.0
    p = tl.make_block_ptr(x, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0))
    for _ in range(0, n, BM):
        tl.store(
            q,
            tl.load(p, boundary_check=(0, 1), padding_option="zero") + (p_0 + p_1 + p_mask + q_at_0).to(y.dtype.element_ty),
            boundary_check=(0, 1),
        )
        q = tl.advance(q, (BM, 0))


@triton.jit
def not_always_one(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """One name holds a plain pointer first, and a loaded block at the end."""
    p = x + tl.arange(0, BM)
    first = tl.load(p)
    p = tl.make_block_ptr(x, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0))
    p = tl.load(p, boundary_check=(0, 1), padding_option="zero")
    tl.store(tl.make_block_ptr(y, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0)), p + first[:, None], boundary_check=(0, 1))


@triton.jit
def other_shape(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """One load gets blocks of different shapes, depending on a constexpr."""
    if BM < 4:
        p = tl.make_block_ptr(x, (m, n), (sm, sn), (0, 0), (BN, BM), (0, 1))
    else:
        p = tl.make_block_ptr(x, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0))
    b = tl.load(p, boundary_check=(0, 1), padding_option="zero")
    b = tl.trans(b) if BM < 4 else b
    tl.store(tl.make_block_ptr(y, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0)), b, boundary_check=(0, 1))


KERNELS = [
    *(
        "copied",
        "rows_only",
        "unchecked",
        "before_the_beginning",
        "not_a_number",
        "advanced",
        "copies",
        "transposed",
        "one_dimension",
    ),
    *("three_dimensions", "reassigned", "branches", "with_helper", "named_alike", "not_always_one", "other_shape"),
]
