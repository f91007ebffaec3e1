"""y = (x - mean) / sqrt(variance + eps) * w + b, for each row of x[rows, n]. One program has one row, in one block.

Releases disagree on `other` of a load: 3.4 wants a block and no number, so it is a block here.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def layer_norm(x_ptr, w_ptr, b_ptr, y_ptr, n, eps, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """Elements behind the row are zero in the sum of squares, too."""
    layout: gl.constexpr = gl.BlockedLayout([4], [LANES], [WARPS], [0])
    column = gl.arange(0, BLOCK, layout=layout)
    inside = column < n
    row = gl.program_id(0).to(gl.int64) * n
    x = gl.load(x_ptr + row + column, mask=inside).to(gl.float32)
    zeros = gl.full([BLOCK], 0.0, gl.float32, layout)
    x = gl.where(inside, x, zeros)
    centred = gl.where(inside, x - gl.sum(x, 0) / n, zeros)
    scale = 1.0 / gl.sqrt(gl.sum(centred * centred, 0) / n + eps)
    w = gl.load(w_ptr + column, mask=inside).to(gl.float32)
    b = gl.load(b_ptr + column, mask=inside).to(gl.float32)
    y = centred * scale * w + b
    gl.store(y_ptr + row + column, y.to(y_ptr.dtype.element_ty), mask=inside)


@gluon.jit
def layer_norm_unmasked(x_ptr, w_ptr, b_ptr, y_ptr, n, eps, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """The wrong twin: elements behind the row add the square of the mean to the variance."""
    layout: gl.constexpr = gl.BlockedLayout([4], [LANES], [WARPS], [0])
    column = gl.arange(0, BLOCK, layout=layout)
    inside = column < n
    row = gl.program_id(0).to(gl.int64) * n
    x = gl.load(x_ptr + row + column, mask=inside).to(gl.float32)
    zeros = gl.full([BLOCK], 0.0, gl.float32, layout)
    x = gl.where(inside, x, zeros)
    centred = x - gl.sum(x, 0) / n
    scale = 1.0 / gl.sqrt(gl.sum(centred * centred, 0) / n + eps)
    w = gl.load(w_ptr + column, mask=inside).to(gl.float32)
    b = gl.load(b_ptr + column, mask=inside).to(gl.float32)
    y = centred * scale * w + b
    gl.store(y_ptr + row + column, y.to(y_ptr.dtype.element_ty), mask=inside)
