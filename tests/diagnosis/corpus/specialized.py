"""Loops that are to be specialized by warps, or pipelined: where compilers stumble."""

import triton
import triton.language as tl


@triton.jit
def descriptors_into_a_dot(source, result, size, BLOCK: tl.constexpr):
    a = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [BLOCK, 64])
    b = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [BLOCK, 64])
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in tl.range(0, size, warp_specialize=True):
        total = tl.dot(a.load([i * BLOCK, 0]), b.load([0, 0]).T, total)
    at = tl.arange(0, BLOCK)
    tl.store(result + at[:, None] * BLOCK + at[None, :], total)


@triton.jit
def two_dots(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [BLOCK, 64])
    q = tile.load([0, 0])
    total = tl.zeros((BLOCK, 64), tl.float32)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    for i in tl.range(0, size, warp_specialize=True):
        k = tile.load([i * BLOCK, 0])
        p = tl.dot(q, k.T)
        top = tl.maximum(top, tl.max(p, 1))
        p = tl.exp(p - top[:, None])
        total = tl.dot(p.to(tl.float16), k, total * 0.5)
    at, d = tl.arange(0, BLOCK), tl.arange(0, 64)
    tl.store(result + at[:, None] * 64 + d[None, :], total)


@triton.jit
def sums_specialized(source, result, size, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [BLOCK, 64])
    for i in tl.range(0, size, warp_specialize=True):
        total += tl.sum(tile.load([i * BLOCK, 0]).to(tl.float32), 1)
    tl.store(result + tl.arange(0, BLOCK), total)


@triton.jit
def persistent(source, result, size, BLOCK: tl.constexpr):
    a = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [BLOCK, 64])
    c = tl.make_tensor_descriptor(result, [size, BLOCK], [BLOCK, 1], [BLOCK, BLOCK])
    for tile in tl.range(0, size, flatten=True, warp_specialize=True):
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for i in range(size):
            total = tl.dot(a.load([i * BLOCK, 0]), a.load([tile, 0]).T, total)
        c.store([tile * BLOCK, 0], total)


@triton.jit
def flattened(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    square = at[:, None] * BLOCK + at[None, :]
    for tile in tl.range(0, size, flatten=True):
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for i in range(size):
            total = tl.dot(tl.load(source + square + i), tl.load(source + square + tile), total)
        tl.store(result + tile + square, total)


@triton.jit
def atomics_in_a_pipeline(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in tl.range(0, size, num_stages=4):
        tl.atomic_add(result + at, tl.load(source + at + i).to(tl.float32))


@triton.jit
def gathers_in_a_pipeline(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    square = at[:, None] * BLOCK + at[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in tl.range(0, size, num_stages=3):
        rows = tl.load(result + at + i).to(tl.int32)
        total = tl.dot(tl.load(source + rows[:, None] * BLOCK + at[None, :]), tl.load(source + square), total)
    tl.store(result + square, total)
