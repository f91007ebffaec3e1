"""Kernels that the front end rejects with an exception whose traceback Triton removes."""

# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def max_of_scalar_first(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.max(0, tl.load(source + tl.arange(0, BLOCK))))


@triton.jit
def helper(x):
    return x + nowhere_defined


@triton.jit
def helped(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, helper(tl.load(source)))
