"""C[m, n] = A[m, k] · B[n, k] with the tensor cores' warp-wide products (mma.sync), which every architecture from 8.0 on has.

A block makes one tile of C, and reads A and B from global memory into registers.
"""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import warp


class Gemm:
    def __init__(self, tile_m: int, tile_n: int, tile_k: int):
        self.tile = (tile_m, tile_n, tile_k)
        self.warps = (2, 2, 1)
        self.threads = 128

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        op = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
        tiled_mma = cute.make_tiled_mma(op, cute.make_layout(self.warps))
        grid = (cute.ceil_div(c.shape[0], self.tile[0]), cute.ceil_div(c.shape[1], self.tile[1]), 1)
        self.kernel(a, b, c, tiled_mma).launch(grid=grid, block=(self.threads, 1, 1))

    @cute.kernel
    def kernel(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tiled_mma: cute.TiledMma):
        thread, _, _ = cute.arch.thread_idx()
        row, column, _ = cute.arch.block_idx()
        m, n, k = self.tile
        tiles_a = cute.local_tile(a, (m, k), (row, None))
        tiles_b = cute.local_tile(b, (n, k), (column, None))
        tile_c = cute.local_tile(c, (m, n), (row, column))
        own = tiled_mma.get_slice(thread)
        own_a, own_b, own_c = own.partition_A(tiles_a), own.partition_B(tiles_b), own.partition_C(tile_c)
        operand_a = tiled_mma.make_fragment_A(own_a[None, None, None, 0])
        operand_b = tiled_mma.make_fragment_B(own_b[None, None, None, 0])
        sums = tiled_mma.make_fragment_C(own_c)
        sums.fill(0.0)
        for step in range(cute.size(tiles_a, mode=[2])):
            cute.autovec_copy(own_a[None, None, None, step], operand_a)
            cute.autovec_copy(own_b[None, None, None, step], operand_b)
            cute.gemm(tiled_mma, sums, operand_a, operand_b, sums)
        result = cute.make_fragment_like(sums, cutlass.Float16)
        result.store(sums.load().to(cutlass.Float16))
        cute.autovec_copy(result, own_c)
