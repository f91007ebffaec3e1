"""Shapes, axes and the operations that change them."""

import triton
import triton.language as tl


@triton.jit
def add_of_sizes(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.arange(0, 16), tl.arange(0, 32)
    tl.store(result + a, a + b)


@triton.jit
def add_of_ranks(source, result, size, BLOCK: tl.constexpr):
    a = tl.arange(0, 16)
    b = tl.zeros((16, 32), tl.int32)
    tl.store(result + a[:, None] + tl.arange(0, 32)[None, :], a + b)


@triton.jit
def store_of_sizes(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 16), tl.zeros((32,), tl.float32))


@triton.jit
def store_mask_of_sizes(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(result + at, 1.0, mask=tl.arange(0, 32) < size)


@triton.jit
def load_mask_of_sizes(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(result + at, tl.load(source + at, mask=tl.arange(0, 32) < size))


@triton.jit
def load_mask_of_ranks(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(result + at[:, None] + at[None, :], tl.load(source + at[:, None] + at[None, :], mask=at < size))


@triton.jit
def load_mask_of_more_ranks(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(result + at, tl.load(source + at, mask=at[:, None] < size))


@triton.jit
def where_of_sizes(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.arange(0, 16), tl.arange(0, 32)
    tl.store(result + a, tl.where(a < size, a, b))


@triton.jit
def reshape_to_another_size(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, 64), tl.reshape(x, (64,)))


@triton.jit
def reshape_at_run_time(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, tl.sum(tl.reshape(x, (size, 2))))


@triton.jit
def reshape_minus_one(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), tl.reshape(x, (-1,)))


@triton.jit
def view_of_the_method(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK)[None, :], x.view(1, BLOCK))


@triton.jit
def expand_dims_too_far(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, tl.sum(tl.expand_dims(x, 5)))


@triton.jit
def expand_dims_of_a_scalar(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 1), tl.expand_dims(tl.load(source), 0))


@triton.jit
def broadcast_to_another_size(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, tl.sum(tl.broadcast_to(x, (64,))))


@triton.jit
def broadcast_to_another_rank(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, tl.sum(tl.broadcast_to(x, (64, BLOCK))))


@triton.jit
def broadcast_of_sizes(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.broadcast(tl.arange(0, 16), tl.arange(0, 32))
    tl.store(result + a, b)


@triton.jit
def broadcast_at_run_time(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.broadcast_to(tl.load(source), (size,))))


@triton.jit
def transposed_vector(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), tl.trans(x))


@triton.jit
def transposed_three(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((2, 4, 8), tl.float32)
    tl.store(result, tl.sum(tl.trans(x)))


@triton.jit
def permuted_wrongly(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((2, 4, 8), tl.float32)
    tl.store(result, tl.sum(tl.permute(x, (0, 0, 1))))


@triton.jit
def permuted_out_of_range(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((2, 4, 8), tl.float32)
    tl.store(result, tl.sum(tl.permute(x, (0, 1, 5))))


@triton.jit
def permuted_at_run_time(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((2, 4, 8), tl.float32)
    tl.store(result, tl.sum(tl.permute(x, (0, 1, size))))


@triton.jit
def transposed_with_t(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    x = tl.load(source + at[:, None] * 16 + at[None, :])
    tl.store(result + at[:, None] * 16 + at[None, :], x.T)


@triton.jit
def join_of_sizes(source, result, size, BLOCK: tl.constexpr):
    x = tl.join(tl.arange(0, 16), tl.arange(0, 32))
    tl.store(result, tl.sum(x))


@triton.jit
def join_of_dtypes(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    x = tl.join(at, at.to(tl.float32))
    tl.store(result, tl.sum(x))


@triton.jit
def split_of_four(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.split(tl.zeros((16, 4), tl.float32))
    tl.store(result + tl.arange(0, 16), a + b)


@triton.jit
def split_of_a_vector(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.split(tl.load(source + tl.arange(0, 2)))
    tl.store(result, a + b)


@triton.jit
def split_of_a_scalar(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.split(tl.load(source))
    tl.store(result, a + b)


@triton.jit
def interleaved(source, result, size, BLOCK: tl.constexpr):
    x = tl.interleave(tl.arange(0, 16), tl.arange(0, 16))
    tl.store(result + tl.arange(0, 32), x)


@triton.jit
def concatenated(source, result, size, BLOCK: tl.constexpr):
    x = tl.cat(tl.arange(0, 16), tl.arange(0, 16))
    tl.store(result + tl.arange(0, 32), x)


@triton.jit
def concatenated_reorder(source, result, size, BLOCK: tl.constexpr):
    x = tl.cat(tl.arange(0, 16), tl.arange(0, 16), can_reorder=True)
    tl.store(result + tl.arange(0, 32), x)


@triton.jit
def concatenated_sizes(source, result, size, BLOCK: tl.constexpr):
    x = tl.cat(tl.arange(0, 16), tl.arange(0, 32), can_reorder=True)
    tl.store(result + tl.arange(0, 32), x)


@triton.jit
def flipped(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.flip(tl.load(source + at), 0))


@triton.jit
def flipped_wrong_axis(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.flip(tl.load(source + at), 3))


@triton.jit
def gathered_wrong_rank(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.gather(tl.load(source + at), at[:, None], 0))


@triton.jit
def gathered_by_floats(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.gather(tl.load(source + at), at.to(tl.float32), 0))


@triton.jit
def indexed_too_often(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, tl.sum(x[:, :, None]))


@triton.jit
def indexed_with_ellipsis(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, tl.sum(x[..., None]))


@triton.jit
def row_term_without_axis(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.arange(0, 16), tl.arange(0, 32)
    tl.store(result + a[:, None] * 32 + b[None, :], tl.load(source + a * 32 + b[None, :]))


# --- reductions, scans, sorting ----------------------------------------------------------------------------------------------


@triton.jit
def sum_along_axis_three(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, BLOCK)), 3))


@triton.jit
def sum_along_minus_one(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, BLOCK)), -1))


@triton.jit
def sum_along_a_value(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, BLOCK)), size))


@triton.jit
def sum_of_a_scalar(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source)))


@triton.jit
def sum_of_pointers(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(source + tl.arange(0, BLOCK)))


@triton.jit
def sum_of_bools(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.arange(0, BLOCK) < size))


@triton.jit
def max_with_index(source, result, size, BLOCK: tl.constexpr):
    x, at = tl.max(tl.load(source + tl.arange(0, BLOCK)), 0, return_indices=True)
    tl.store(result + at, x)


@triton.jit
def argmax_without_axis(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.argmax(tl.load(source + tl.arange(0, BLOCK))))


@triton.jit
def argmax_all(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.argmax(tl.load(source + tl.arange(0, BLOCK)), None))


@triton.jit
def xor_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.xor_sum(tl.load(source + tl.arange(0, BLOCK)), 0))


@triton.jit
def or_of_ints(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce_or(tl.arange(0, BLOCK), 0))


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def _add_three(a, b, c):
    return a + b + c


@triton.jit
def _widens(a, b):
    return (a + b).to(tl.float64)


@triton.jit
def _stores(a, b):
    tl.device_print("x", a)
    return a + b


@triton.jit
def _returns_nothing(a, b):
    a + b


def _plain(a, b):
    return a + b


@triton.jit
def reduced(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, _add))


@triton.jit
def reduced_by_three(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, _add_three))


@triton.jit
def reduced_to_another_dtype(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, _widens))


@triton.jit
def reduced_with_printing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, _stores))


@triton.jit
def reduced_to_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, _returns_nothing))


@triton.jit
def reduced_by_a_plain_function(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, _plain))


@triton.jit
def reduced_by_a_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, 3))


@triton.jit
def reduced_two_of_sizes(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.reduce((tl.arange(0, 16), tl.arange(0, 32)), 0, _add_four)
    tl.store(result, a + b)


@triton.jit
def _add_four(a, b, c, d):
    return a + c, b + d


@triton.jit
def scanned(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.associative_scan(tl.load(source + at), 0, _add))


@triton.jit
def scanned_backwards(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.associative_scan(tl.load(source + at), 0, _add, reverse=True))


@triton.jit
def scanned_wrong_axis(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cumsum(tl.load(source + at), 2))


@triton.jit
def scanned_scalar(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.cumsum(tl.load(source), 0))


@triton.jit
def sorted_block(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.sort(tl.load(source + at)))


@triton.jit
def sorted_first_axis(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    x = tl.load(source + at[:, None] * 16 + at[None, :])
    tl.store(result + at[:, None] * 16 + at[None, :], tl.sort(x, 0))


@triton.jit
def sorted_scalar(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sort(tl.load(source)))


@triton.jit
def histogram_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 16), tl.histogram(tl.load(source + tl.arange(0, BLOCK)), 16))


@triton.jit
def histogram_at_run_time(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 16), tl.histogram(tl.arange(0, BLOCK), size))


@triton.jit
def histogram_odd_bins(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 16), tl.histogram(tl.arange(0, BLOCK), 10))


@triton.jit
def softmax_of_block(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.softmax(tl.load(source + at)))


@triton.jit
def ravelled(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(result + tl.arange(0, 256), tl.ravel(tl.load(source + at[:, None] * 16 + at[None, :])))
