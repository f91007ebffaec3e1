"""Three small kernels, the size of most of those in use.

For them the cost of a process outweighs that of a compile.
"""

import triton
import triton.language as tl


@triton.jit
def scale(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) * 2.0, mask=at < size)


@triton.jit
def softmax(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(source + tl.program_id(0) * size + at, mask=at < size, other=float("-inf"))
    weights = tl.exp(row - tl.max(row, 0))
    tl.store(result + tl.program_id(0) * size + at, weights / tl.sum(weights, 0), mask=at < size)


@triton.jit
def total(source, result, size, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(source + at, mask=at < size, other=0.0)
    tl.store(result, tl.sum(sums, 0))
