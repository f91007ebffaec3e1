"""RMS norm: a block for each row; sums by shuffles in a warp, and over the warps through shared memory."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator

WARP = 32


class RmsNorm:
    def __init__(self, threads: int):
        self.threads = threads
        self.warps = threads // WARP

    @cute.jit
    def __call__(self, x: cute.Tensor, w: cute.Tensor, y: cute.Tensor, eps: cutlass.Float32):
        self.kernel(x, w, y, eps).launch(grid=(x.shape[0], 1, 1), block=(self.threads, 1, 1), smem=4 * self.warps)

    @cute.kernel
    def kernel(self, x: cute.Tensor, w: cute.Tensor, y: cute.Tensor, eps: cutlass.Float32):
        thread, _, _ = cute.arch.thread_idx()
        row, _, _ = cute.arch.block_idx()
        columns = x.shape[1]
        sums = SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(self.warps), 16)
        total = cutlass.Float32(0.0)
        for column in range(thread, columns, self.threads):
            value = x[row, column].to(cutlass.Float32)
            total += value * value
        for step in cutlass.range_constexpr(5):
            total += cute.arch.shuffle_sync_bfly(total, offset=1 << step)
        if thread % WARP == 0:
            sums[thread // WARP] = total
        cute.arch.barrier()
        square = cutlass.Float32(0.0)
        for warp in cutlass.range_constexpr(self.warps):
            square += sums[warp]
        scale = cute.math.rsqrt(square / columns + eps)
        for column in range(thread, columns, self.threads):
            normed = x[row, column].to(cutlass.Float32) * scale
            y[row, column] = (normed * w[column].to(cutlass.Float32)).to(y.element_type)
