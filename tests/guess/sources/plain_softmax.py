"""Softmax over the rows of a matrix, one program for each row; this file does not launch it."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(output_ptr, input_ptr, input_row_stride, output_row_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    values = tl.load(input_ptr + row * input_row_stride + columns, mask=columns < n_cols, other=-float("inf"))
    numerator = tl.exp(values - tl.max(values, axis=0))
    tl.store(output_ptr + row * output_row_stride + columns, numerator / tl.sum(numerator, axis=0), mask=columns < n_cols)
