"""Kernels whose code depends on what a launch passes."""

import inspect
from collections import namedtuple
from typing import NamedTuple

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


class Part(NamedTuple):
    start: object
    size: object


Whole = namedtuple("Whole", ["sources", "block", "bias", "part"])
Nothing = namedtuple("Nothing", [])


@triton.jit
def loaded(part, at):
    return tl.load(part.start + at, mask=at < part.size, other=0.0)


@triton.jit
def named(result, whole, BLOCK: tl.constexpr):
    at = tl.arange(0, whole.block)
    x = loaded(whole.part, at) + tl.load(whole.sources[0] + at) + tl.load(whole.sources[1] + at)
    if whole.bias is not None:
        x += tl.load(whole.bias + at)
    tl.store(result + at, x * BLOCK)


@triton.jit
def part_of(source, result, part, nothing, unnamed):
    made = Part(source, part.size)
    at = tl.arange(0, 128)
    tl.store(result + at, loaded(part, at) + loaded(made, at) + part[1])


@triton.jit
def told_sizes(source, result, sizes: tl.constexpr):
    at = tl.arange(0, sizes.size)
    tl.store(result + at, tl.load(source + at + sizes.start))


@triton.jit
def cast(source, result, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float8e5).to(tl.float16))


# Releases from 3.2 on have it.
_UNALIGNED = "do_not_specialize_on_alignment"
_HAS_UNALIGNED = _UNALIGNED in inspect.signature(triton.JITFunction.__init__).parameters


# A kernel with several arguments of one kind shows in one compile how each of their values is passed.


@triton.jit(**({_UNALIGNED: ["size0", "size1", "size2", "source"]} if _HAS_UNALIGNED else {}))
def unaligned(source, result, size0, size1, size2, stride0, stride1, stride2, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    few = (at < size0) & (at < size1) & (at < size2)
    tl.store(result + at, tl.load(source + at * stride0 + at * stride1 + at * stride2, mask=few))


@triton.jit(do_not_specialize=[2, "size1", 4, "stride0", "stride1", 7, "source"])
def unspecial(source, result, size0, size1, size2, stride0, stride1, stride2, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    few = (at < size0) & (at < size1) & (at < size2)
    tl.store(result + at, tl.load(source + at * stride0 + at * stride1 + at * stride2, mask=few))


@triton.jit
def typed(
    source,
    result,
    a0: int,
    a1: int,
    a2: int,
    b0: tl.int64,
    b1: tl.int64,
    b2: tl.int64,
    c0: "i32",  # type: ignore[name-defined]
    c1: "i32",  # type: ignore[name-defined]
    c2: "i32",  # type: ignore[name-defined]
    d0: "u64",  # type: ignore[name-defined]
    d1: "u64",  # type: ignore[name-defined]
    d2: "u64",  # type: ignore[name-defined]
    e: tl.int8,
    BLOCK: tl.constexpr,
):
    at = tl.arange(0, BLOCK)
    read = source + at * c0 + at * c1 + at * c2 + b0 + b1 + b2
    x = tl.load(read, mask=(at < d0) & (at < d1) & (at < d2)) + e
    tl.store(result + at * a0 + at * a1 + at * a2, x)


@triton.jit
def scaled(
    source,
    result,
    factor0: float,
    factor1: float,
    factor2: float,
    half0: "fp16",  # type: ignore[name-defined]
    half1: "fp16",  # type: ignore[name-defined]
    half2: "fp16",  # type: ignore[name-defined]
    flag0: tl.int1,
    flag1: tl.int1,
    BLOCK: tl.constexpr,
):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at, mask=flag1).to(tl.float32) * factor0 * factor1 * factor2
    x = x + half0 + half1 + half2
    tl.store(result + at, x.to(result.dtype.element_ty), mask=flag0)


@triton.jit
def boolean(source, result, flag: bool, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at), mask=flag)


@triton.jit
def untyped(
    source,
    result,
    number0,
    number1,
    number2,
    number3,
    number4,
    number5,
    flag,
    nothing,
    BLOCK: tl.constexpr,
    KIND: tl.constexpr,
):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at).to(tl.float32)
    if nothing is None:
        x = x + number0 + number1 + number2 + number3 + number4 + number5
    if KIND == "doubled":
        x += x
    tl.store(result + at, x.to(result.dtype.element_ty), mask=at < flag)
