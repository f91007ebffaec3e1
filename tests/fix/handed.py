"""Kernels that pass block pointers to other functions, or get some from them. They take the same arguments as those of block_pointers.py."""

import triton
import triton.language as tl


@triton.jit
def _summed(total, keys, values, first, last, m, SCALE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Advances both block pointers to the first column or row, and then in a loop: one by columns, the other by rows."""
    keys = tl.advance(keys, (0, first))
    values = tl.advance(values, (first, 0))
    for at in range(first, last, BM):
        k = tl.load(keys, boundary_check=(0, 1), padding_option="zero")
        v = tl.load(values, boundary_check=(0,), padding_option="zero")
        weights = tl.trans(k.to(tl.float32)) * SCALE + at
        total += weights + v.to(tl.float32)
        keys = tl.advance(keys, (0, BM))
        values = tl.advance(values, (BM, 0))
    return total


@triton.jit
def attended(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """As in a fused attention, the kernel makes block pointers, and a function that is called twice advances and loads them."""
    i = tl.program_id(0)
    keys = tl.make_block_ptr(base=x, shape=(m, n), strides=(sm, sn), offsets=(0, 0), block_shape=(BN, BM), order=(0, 1))
    values = tl.make_block_ptr(base=x, shape=(n, m), strides=(sn, sm), offsets=(0, 0), block_shape=(BM, BN), order=(1, 0))
    total = tl.zeros([BM, BN], dtype=tl.float32)
    total = _summed(total, keys, values, 0, i * BM - 3, m, 2, BM, BN)  # below
    total = _summed(
        total,
        keys,  # from the beginning again
        values,
        i * BM,
        n,
        m,
        SCALE=3,
        BM=BM,
        BN=BN,
    )
    result = tl.make_block_ptr(y, (n, m), (sn, sm), (i * BM, 0), (BM, BN), (1, 0))
    tl.store(result, total.to(y.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def _part_of_softmax(
    state,
    total,
    greatest,
    queries,
    keys_ptr,
    values_ptr,
    row,
    scale,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    COLUMNS: tl.constexpr,
    PART: tl.constexpr,
    length,
):
    # which keys: those before the rows of this program, its own, or all
    if PART == 0:
        low, high = 0, row * ROWS
    elif PART == 1:
        low, high = row * ROWS, (row + 1) * ROWS
        low = tl.multiple_of(low, ROWS)
    else:
        low, high = 0, length
    keys_ptr = tl.advance(keys_ptr, (0, low))
    values_ptr = tl.advance(values_ptr, (low, 0))
    for start in range(low, high, COLUMNS):
        start = tl.multiple_of(start, COLUMNS)
        scores = tl.dot(queries, tl.load(keys_ptr)) * scale
        if PART == 1:
            hidden = (row * ROWS + tl.arange(0, ROWS))[:, None] < (start + tl.arange(0, COLUMNS))[None, :]
            scores = tl.where(hidden, -1.0e6, scores)
        new = tl.maximum(greatest, tl.max(scores, 1))
        weights = tl.math.exp2(scores - new[:, None])
        faded = tl.math.exp2(greatest - new)
        total = total * faded + tl.sum(weights, 1)
        state = state * faded[:, None] + tl.dot(weights.to(queries.dtype), tl.load(values_ptr))
        greatest = new
        values_ptr = tl.advance(values_ptr, (COLUMNS, 0))
        keys_ptr = tl.advance(keys_ptr, (0, COLUMNS))
    return state, total, greatest


@triton.jit
def fused_attention(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention of a tensor to itself, in two calls of one function. No bounds are checked, and heads are as wide as a block."""
    row, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * 0
    queries_ptr = tl.make_block_ptr(
        base=x + base,
        shape=(n, BN),
        strides=(sn, sm),
        offsets=(row * BM, 0),
        block_shape=(BM, BN),
        order=(1, 0),
    )
    order: tl.constexpr = (0, 1) if x.dtype.element_ty == tl.float8e5 else (1, 0)
    values_ptr = tl.make_block_ptr(
        base=x + base,
        shape=(n, BN),
        strides=(sn, sm),
        offsets=(0, 0),
        block_shape=(BM, BN),
        order=order,
    )
    keys_ptr = tl.make_block_ptr(
        base=x + base,
        shape=(BN, n),
        strides=(sm, sn),
        offsets=(0, 0),
        block_shape=(BN, BM),
        order=(0, 1),
    )
    result_ptr = tl.make_block_ptr(
        base=y + base,
        shape=(n, BN),
        strides=(sn, sm),
        offsets=(row * BM, 0),
        block_shape=(BM, BN),
        order=(1, 0),
    )
    greatest = tl.zeros([BM], dtype=tl.float32) - float("inf")
    total = tl.zeros([BM], dtype=tl.float32) + 1.0
    state = tl.zeros([BM, BN], dtype=tl.float32)
    queries = tl.load(queries_ptr)
    state, total, greatest = _part_of_softmax(state, total, greatest, queries, keys_ptr, values_ptr, row, 0.18, BM, BN, BM, 0, n)
    state, total, greatest = _part_of_softmax(state, total, greatest, queries, keys_ptr, values_ptr,
                                              row, 0.18, BM, BN, BM, 1, n)  # fmt: skip
    state = state / total[:, None]
    tl.store(result_ptr, state.to(y.type.element_ty))


@triton.jit
def _moved(p, BM: tl.constexpr):
    b = tl.load(p, boundary_check=(0, 1), padding_option="zero")
    return b, tl.advance(p, (BM, 0))


@triton.jit
def _aside(p, by):
    return p.advance((0, by))


@triton.jit
def handed_back(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """One function loads, and returns the advanced block pointer. Other functions only advance one."""
    source = tl.make_block_ptr(x, (n, m), (sn, sm), (0, tl.program_id(1) * BN), (BM, BN), (1, 0))
    target = tl.make_block_ptr(y, (n, m), (sn, sm), (0, tl.program_id(1) * BN), (BM, BN), (1, 0))
    for i in range(0, n, BM):
        b, source = _moved(source, BM)
        b += tl.load(_aside(source, -1), boundary_check=(0, 1), padding_option="zero")
        tl.store(target, (b + i).to(y.dtype.element_ty), boundary_check=(0, 1))
        target = _next(target, BM)


@triton.jit
def _rows(base, rows, columns, stride, along, j, BM: tl.constexpr, BN: tl.constexpr):
    return tl.make_block_ptr(base, (rows, columns), (stride, along), (0, j * BN), (BM, BN), (1, 0))


@triton.jit
def _next(p, by):
    return tl.advance(p, (by, 0))


@triton.jit
def made_elsewhere(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """A function makes two block pointers, one of them in the argument of a load."""
    i = tl.program_id(0)
    target = _rows(y, n, m, sn, sm, tl.program_id(1), BM, BN)
    target = tl.advance(target, (i * BM, 0))
    b = tl.load(_rows(x, n, m, sn, sm, 0, BM, BN), boundary_check=(0, 1), padding_option="zero")
    tl.store(target, (b + i).to(y.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def _loaded(p):
    return tl.load(p, boundary_check=(0, 1), padding_option="zero")


@triton.jit
def _through(first, p):
    """Passes an advanced block pointer on, and does not load it."""
    return _loaded(tl.advance(p, (first, 0)))


@triton.jit
def handed_on(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """A block pointer passes through one function to another, by keyword and by position. Another one is made in a call."""
    i = tl.program_id(0)
    p = tl.make_block_ptr(x, (n, m), (sn, sm), (0, 0), (BM, BN), (1, 0))
    b = _through(p=p, first=i * BM) + _loaded(tl.make_block_ptr(x, (n, m), (sn, sm), (i * BM - 1, 0), (BM, BN), (1, 0)))
    tl.store(tl.make_block_ptr(y, (n, m), (sn, sm), (i * BM, 0), (BM, BN), (1, 0)), b, boundary_check=(0, 1))


@triton.jit
def _taken(p):
    return tl.load(p, boundary_check=(0, 1), padding_option="zero")


@triton.jit
def _stored(p, value):
    tl.store(p, value.to(p.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def handed_other_blocks(x, y, n, m, sn, sm, BM: tl.constexpr, BN: tl.constexpr):
    """One function gets block pointers of different blocks, whose parts change after they were made."""
    i, base = tl.program_id(0), x
    at = i * BM
    p = tl.make_block_ptr(base, (n, m), (sn, sm), (at, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(base, (n, m), (sn, sm), (at, 0), (BM, 2 * BN), (1, 0))
    base, at = y, at + 1
    b, c = _taken(p), _taken(q)
    _stored(tl.make_block_ptr(base, (n, m), (sn, sm), (at - 1, 0), (BM, BN), (1, 0)), b + tl.sum(c, 1)[:, None])


HANDED = ["attended", "fused_attention", "handed_back", "made_elsewhere", "handed_on", "handed_other_blocks"]
