"""Layer norm of the rows of x [R, N]: y = (x - mean) / sqrt(variance + eps) · w + b, with w and b [N].

One program for each row. The variants differ in how much of a row a program holds: all of it, or a block at a time, which it loads three
times then. Sums are in fp32.
"""

import triton
import triton.language as tl


@triton.jit
def layer_norm_whole_row(x_ptr, w_ptr, b_ptr, y_ptr, n, stride, eps, COLUMNS: tl.constexpr):
    """The row in registers, once."""
    start = tl.program_id(0).to(tl.int64) * stride
    offs = tl.arange(0, COLUMNS)
    inside = offs < n
    x = tl.load(x_ptr + start + offs, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(inside, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(w_ptr + offs, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + offs, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + offs, (centred * scale * w + b).to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm_blocks(x_ptr, w_ptr, b_ptr, y_ptr, n, stride, eps, BLOCK: tl.constexpr):
    """The row in blocks: for the mean, for the variance, and for the result."""
    start = tl.program_id(0).to(tl.int64) * stride
    sums = tl.zeros([BLOCK], tl.float32)
    for first in range(0, n, BLOCK):
        offs = first + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + start + offs, mask=offs < n, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / n
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, n, BLOCK):
        offs = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + offs, mask=offs < n, other=0.0).to(tl.float32)
        centred = tl.where(offs < n, x - mean, 0.0)
        squares += centred * centred
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    for first in range(0, n, BLOCK):
        offs = first + tl.arange(0, BLOCK)
        inside = offs < n
        x = tl.load(x_ptr + start + offs, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + offs, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + offs, mask=inside, other=0.0).to(tl.float32)
        y = (x - mean) * scale * w + b
        tl.store(y_ptr + start + offs, y.to(y_ptr.dtype.element_ty), mask=inside)
