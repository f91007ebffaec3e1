"""Kernels that add two vectors, most of them not quite, to be run on problems."""

import time

import triton
import triton.language as tl


@triton.jit
def right(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(o + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def subtracts(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(o + at, tl.load(x + at, mask=inside) - tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def beyond(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n + 1)


@triton.jit
def first_block(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    tl.store(o + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def hangs(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    while tl.load(o) != 3.0:
        time.sleep(0.01)
    tl.store(o + at, tl.load(x + at), mask=at < n)


@triton.jit
def far_away(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at + 100000000000, tl.load(x + at), mask=at < n)


@triton.jit
def misshapen(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + tl.reshape(at, (3, 5)), tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def assembly(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    operands = [tl.load(x + at, mask=at < n), tl.load(y + at, mask=at < n)]
    sums = tl.inline_asm_elementwise("add.f32 $0, $1, $2;", "=f,f,f", operands, dtype=tl.float32, is_pure=True, pack=1)
    tl.store(o + at, sums, mask=at < n)


@triton.jit
def copies(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at, tl.load(x + at, mask=at < n), mask=at < n)
