"""Kernels with mistakes for which edits are known. All take (source, result, size, BLOCK), as those of tests/kernels."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice as device_library


@triton.jit
def no_axis(source, result, size, BLOCK: tl.constexpr):
    at, few = tl.arange(0, BLOCK), tl.arange(0, 16)
    tl.store(result + at[:, None] * 16 + few[None, :], tl.load(source + at + few[None, :]))


@triton.jit
def greatest(source, result, size, BLOCK: tl.constexpr):
    first = tl.max(0, tl.min(size, 8))  # within the tensor
    at = first + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def compared(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, tl.maximum(x, axis=0))


@triton.jit
def block_bound(source, result, size, BLOCK: tl.constexpr):
    one = tl.arange(0, 1)
    total = 0.0
    for i in range(tl.load(result + one).to(tl.int32)):
        total += i
    tl.store(source, total)


@triton.jit
def unknown_bound(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(tl.load(result + tl.arange(0, BLOCK)).to(tl.int32)):
        total += i
    tl.store(source, total)


@triton.jit
def moved_name(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.libdevice.tanh(tl.load(source + at)))


@triton.jit
def renamed(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.math.max(tl.load(source + at), 0.0))


@triton.jit
def of_one_target(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, device_library.tanh(tl.load(source + at)))


@triton.jit
def newer_keyword(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.range(0, size, warp_specialize=False, flatten=True, num_stages=2):
        total += tl.load(source + i)
    for i in tl.range(0, size, loop_unroll_factor=2, disallow_acc_multi_buffer=True, disable_licm=True):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def operand_keyword(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(source + at)
    tl.store(result + at, tl.dot(x, x, trans_b=True))


@triton.jit
def first_operand_keyword(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(source + at)
    tl.store(result + at, tl.dot(x, x, trans_a=True))


@triton.jit
def high_half(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.math.mulhi(size, size + 1))


@triton.jit
def fast_exponential(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.math.fast_expf(tl.load(source)))


@triton.jit
def fast_division(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.math.fast_dividef(tl.load(source), tl.load(source + 1)))


@triton.jit
def experimental(source, result, size, BLOCK: tl.constexpr):
    rows = tl._experimental_make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tl.store(result, tl.sum(tl.sum(rows.load([0, 0]), 1), 0))


@triton.jit
def usual_padding(source, result, size, BLOCK: tl.constexpr):
    rows = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64], padding_option="zero")
    tl.store(result, tl.sum(tl.sum(rows.load([0, 0]), 1), 0))


@triton.jit
def sized(source, result, size, BLOCK: tl.constexpr, WIDTH=16):
    at = tl.arange(0, WIDTH)
    tl.store(result + at, tl.load(source + at) + BLOCK)


@triton.jit
def _row(source, width):
    return tl.load(source + tl.arange(0, width))


@triton.jit
def sized_helper(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), _row(source, BLOCK))


@triton.jit
def widening(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float16)
    for i in range(size):
        total += tl.load(source + at + i)
    tl.store(result + at, total)


@triton.jit
def counting(source, result, size, BLOCK: tl.constexpr):
    total = 0
    for i in range(size):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def counting_on(source, result, size, BLOCK: tl.constexpr):
    total = 0
    for i in range(size):
        total += tl.load(source + i)
    total = total * 2
    tl.store(result, total)


@triton.jit
def counting_from_hexadecimal(source, result, size, BLOCK: tl.constexpr):
    total = (0x10)
    for i in range(size):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def small_dot(source, result, size, BLOCK: tl.constexpr, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(source + at)
    row = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(result + row, tl.dot(x, tl.trans(x)))


@triton.jit
def hopeless(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 3), 0.0)
