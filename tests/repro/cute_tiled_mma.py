"""A TiledMma that aborts the compiler as soon as it makes the name of its kernel."""

# mypy: ignore-errors

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import warp


@cute.kernel
def kernel(mma: cute.TiledMma, a: cute.Tensor):
    a[0] = a[1]


@cute.jit
def nested(a: cute.Tensor):
    op = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(cute.make_mma_atom(op), cute.make_layout(((2, 2), 1, 1)))
    kernel(mma, a).launch(grid=(1, 1, 1), block=(128, 1, 1))
