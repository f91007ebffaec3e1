"""Two kernels one after the other: a tuple of tensors, a pointer, a stream, and clusters."""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute


@cute.kernel
def scale(pair: tuple[cute.Tensor, cute.Tensor], factor: cutlass.Float32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    index = block * 64 + thread
    if index < cute.size(pair[0]):
        pair[1][index] = pair[0][index] * factor


@cute.kernel
def add(left: cute.Tensor, right: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    index = block * 64 + thread
    if index < cute.size(right):
        right[index] = right[index] + left[index]


@cute.jit
def both(
    pair: tuple[cute.Tensor, cute.Tensor], more: cute.Pointer, factor: cutlass.Float32, n: cutlass.Int32, stream: cuda.CUstream
):
    addend = cute.make_tensor(more, cute.make_layout(n))
    blocks = cute.ceil_div(cute.size(pair[0]), 64)
    scale(pair, factor).launch(grid=(blocks, 1, 1), block=(64, 1, 1), stream=stream)
    add(addend, pair[1]).launch(grid=((blocks + 1) // 2 * 2, 1, 1), block=(64, 1, 1), cluster=(2, 1, 1), stream=stream)
