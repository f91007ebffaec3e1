"""Small kernels that make a compiler fail, each in its own way."""

import triton
import triton.language as tl


@triton.jit
def fine(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)


@triton.jit
def block_typed_bound(source, result, size, BLOCK: tl.constexpr):
    bound = tl.load(source + tl.arange(0, 1)).to(tl.int32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, bound, BLOCK):
        total += tl.load(source + start + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), total)


@triton.jit
def chained_dot(source, result, size, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr, N2: tl.constexpr):
    m, k, n, n2 = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N), tl.arange(0, N2)
    a = tl.load(source + m[:, None] * K + k[None, :])
    b = tl.load(source + k[:, None] * N + n[None, :])
    c = tl.load(source + n[:, None] * N2 + n2[None, :])
    first = tl.dot(a, b)
    second = tl.dot(first.to(tl.float16), c)
    tl.store(result + m[:, None] * N2 + n2[None, :], second)


@triton.jit
def unrolled_for_ever(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for _ in tl.static_range(100_000_000):
        total += tl.load(source)
    tl.store(result, total)


@triton.jit
def missing_name(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.no_such_function(source))


@triton.jit
def mismatched(source, result, size, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK * 2)
    tl.store(result + rows, tl.load(source + rows + columns))


@triton.jit
def looped_chain(source, result, size, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr, N2: tl.constexpr):
    m, k, n, n2 = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N), tl.arange(0, N2)
    a = tl.load(source + m[:, None] * K + k[None, :])
    total = tl.zeros((M, N2), tl.float32)
    for start in range(0, size, N):
        b = tl.load(source + (start + n)[None, :] * K + k[:, None])
        c = tl.load(source + (start + n)[:, None] * N2 + n2[None, :])
        first = tl.dot(a, b)
        total += tl.dot(first.to(tl.float16), c)
    tl.store(result + m[:, None] * N2 + n2[None, :], total)


@triton.jit
def looped(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        total += tl.load(source + start + at)
    tl.store(result + at, total)
