"""Kernels whose code depends on what a launch passes."""

import triton
import triton.language as tl


@triton.jit
def strided(source, result, size, stride: int, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at * stride, mask=at < size), mask=at < size)


@triton.jit
def optional(source, result, size, scale, bias, doubled, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at, mask=at < size).to(tl.float32) * scale
    if bias is not None:
        x += tl.load(bias + at, mask=at < size).to(tl.float32)
    if doubled:
        x += x
    tl.store(result + at, x.to(result.dtype.element_ty), mask=at < size)


@triton.jit(do_not_specialize=["size"])
def unspecialized(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size), mask=at < size)


@triton.jit
def wide(source, result, first, second, grid, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at + first) + second.to(tl.int32) + grid)


@triton.jit
def shaped(source, result, shape, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at * shape[1], tl.load(source + at * shape[0], mask=at < shape[0]))


@triton.jit
def given(source, result, chosen, BLOCK: tl.constexpr):
    at = tl.arange(0, chosen[0])
    tl.static_assert(BLOCK == 64)
    tl.store(result + at, chosen[1](tl.load(source + at)) + chosen[2])


@triton.jit
def doubled(x):
    return x + x


@triton.jit
def described(source, result, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tl.store(result + rows[:, None] * COLUMNS + columns[None, :], source.load([0, 0]))


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["size"])
@triton.heuristics({"EVEN": lambda given: given["size"] % given["BLOCK"] == 0})
@triton.jit
def tuned(source, result, size, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=None if EVEN else at < size))


@triton.jit
def stepped(source, result, stride: int, unused):
    at = tl.arange(0, 16 * stride)
    tl.store(result + at, tl.load(source + at))
