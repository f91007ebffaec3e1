"""A function that takes any keyword arguments: later releases refuse it while the file is imported."""

import triton
import triton.language as tl


@triton.jit
def _with_keyword_arguments(**xs):
    return xs["a"]


@triton.jit
def helper_with_keyword_arguments(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _with_keyword_arguments(a=size))
