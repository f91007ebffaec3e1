"""Small kernels that go wrong when they are launched, each in its own way, and some that do not."""

import triton
import triton.language as tl


@triton.jit
def right(
    source, result, size, BLOCK: tl.constexpr, addend=1.0, one=1, most=float("inf"), block=128
):
    """The problem leaves the last parameters out."""
    at = tl.program_id(0) * block + tl.arange(0, BLOCK)
    value = tl.load(source + at, mask=at < size) + addend * one
    tl.store(result + at, tl.where(value < most, value, 0), mask=at < size)


@triton.jit
def wrong(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 2, mask=at < size)


@triton.jit
def beside(source, result, size, BLOCK: tl.constexpr):
    """The mask is one element too wide."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size + 1)


@triton.jit
def racy(source, result, size, BLOCK: tl.constexpr):
    """All programs write their number to one place. Which one is the last to write is chance."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)
    tl.store(result, tl.program_id(0).to(tl.float32))


@triton.jit
def ticket(source, result, counter, size, BLOCK: tl.constexpr):
    """The order in which programs reach the counter is chance."""
    order = tl.atomic_add(counter, 1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + order, mask=at < size)


@triton.jit
def out_of_bounds(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    far = at.to(tl.int64) + 1099511627776
    tl.store(result + far, tl.load(source + at, mask=at < size) + 1, mask=at < size)


@triton.jit
def hangs(source, result, size, BLOCK: tl.constexpr):
    """The kernel waits for a number that nothing writes."""
    seen = tl.load(source, volatile=True)
    while seen != -1.0:
        seen = tl.load(source, volatile=True)
    tl.store(result, seen)


@triton.jit
def too_much_shared(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k[:, None]) * N + n[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def clustered(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Each program of the grid computes the product of two small matrices."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k[:, None]) * N + n[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)
