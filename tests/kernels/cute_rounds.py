"""A loop that divides its counter by 2, which strength reduction makes two more values of."""

# mypy: ignore-errors

import cutlass
import cutlass.cute as cute


@cute.kernel
def kernel(src: cute.Tensor, dst: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    for turn in cutlass.range(n, unroll=1):
        dst[turn % 2, thread] = src[turn // 2 & 1, thread]


@cute.jit
def rounds(src: cute.Tensor, dst: cute.Tensor, n: cutlass.Int32):
    kernel(src, dst, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
