"""A copy, one element per thread."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def copy_kernel(src: cute.Tensor, dst: cute.Tensor, n: cutlass.Int32, THREADS: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    index = block * THREADS + thread
    if index < n:
        dst[index] = src[index]


@cute.jit
def copy(src: cute.Tensor, dst: cute.Tensor, n: cutlass.Int32, THREADS: cutlass.Constexpr):
    copy_kernel(src, dst, n, THREADS).launch(grid=((n + THREADS - 1) // THREADS, 1, 1), block=(THREADS, 1, 1))
