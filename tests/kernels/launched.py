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


@triton.jit(**({_UNALIGNED: ["size", "source"]} if _HAS_UNALIGNED else {}))
def unaligned(source, result, size, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at * stride, mask=at < size), mask=at < size)


@triton.jit(do_not_specialize=[2, "stride", "source"])
def unspecial(source, result, size, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at * stride, mask=at < size), mask=at < size)


@triton.jit
def typed(source, result, a: int, b: tl.int64, c: "i32", d: "u64", e: tl.int8, BLOCK: tl.constexpr):  # type: ignore[name-defined]
    at = tl.arange(0, BLOCK)
    tl.store(result + at * a, tl.load(source + at * c + b, mask=at < d) + e)


@triton.jit
def scaled(source, result, factor: float, half: "fp16", flag: tl.int1, BLOCK: tl.constexpr):  # type: ignore[name-defined]
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at).to(tl.float32) * factor + half
    tl.store(result + at, x.to(result.dtype.element_ty), mask=flag)


@triton.jit
def boolean(source, result, flag: bool, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at), mask=flag)


@triton.jit
def untyped(source, result, number, flag, nothing, BLOCK: tl.constexpr, KIND: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at).to(tl.float32)
    if nothing is None:
        x += number
    if KIND == "doubled":
        x += x
    tl.store(result + at, x.to(result.dtype.element_ty), mask=at < flag)
