"""Kernels whose compile takes long: how long grows with a constexpr."""

import triton
import triton.language as tl


@triton.jit
def unrolled(source, result, N: tl.constexpr):
    offsets = tl.arange(0, 128)
    total = tl.zeros([128], tl.float32)
    for i in tl.static_range(N):
        total += tl.load(source + offsets + i) * i
    tl.store(result + offsets, total)
