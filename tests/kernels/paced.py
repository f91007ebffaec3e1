"""Kernels whose machine code is known."""

import triton
import triton.language as tl


@triton.jit
def sums(source, result, size, BLOCK: tl.constexpr):
    """One loop with one load of 16 bytes per thread."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        total += tl.load(source + start + at)
    tl.store(result + at, total)


@triton.jit
def nested(source, result, size, BLOCK: tl.constexpr):
    """A loop in a loop, and one load of 16 bytes per thread in each."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(size):
        total = total * tl.load(source + row * size + at)
        for column in range(row, size):
            total += tl.load(result + column * size + at)
    tl.store(result + at, total)


@triton.jit
def copies(source, result, size, BLOCK: tl.constexpr):
    """No loop: a load and a store of 16 bytes per thread."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def product(source, result, size, ROWS: tl.constexpr):
    """A product of matrices in fp16: with 16 rows by ``mma``, with 128 by ``wgmma``."""
    rows, columns = tl.arange(0, ROWS), tl.arange(0, 64)
    total = tl.zeros((ROWS, 64), tl.float32)
    for step in range(size):
        left = tl.load(source + rows[:, None] * 4096 + columns[None, :] + step * 64)
        right = tl.load(source + columns[:, None] * 4096 + columns[None, :] + step * 4096 * 64)
        total += tl.dot(left, right)
    tl.store(result + rows[:, None] * 4096 + columns[None, :], total.to(tl.float16))
