"""A masked copy, in forms that every release knows."""

import triton
import triton.language as tl


@triton.jit
def copy(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size), mask=at < size)
