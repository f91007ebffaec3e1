"""A slice that aborts the compiler."""

# mypy: ignore-errors

import cutlass.cute as cute


@cute.kernel
def kernel(a: cute.Tensor):
    a[0] = a[1]


@cute.jit
def sliced(a: cute.Tensor):
    layout = cute.make_composed_layout(cute.make_swizzle(3, 4, 3), 0, cute.make_layout((10, 2), stride=(2, 1)))
    cute.slice_(layout, (None, 0))
    kernel(a).launch(grid=(1, 1, 1), block=(32, 1, 1))
