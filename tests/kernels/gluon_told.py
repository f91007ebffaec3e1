"""Kernels of Gluon whose layouts come from the kernel, from a constexpr, and from a descriptor."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import tma


@gluon.jit
def copied(source, result, size, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(result + at, gl.load(source + at, mask=at < size), mask=at < size)


@gluon.jit
def copied_as_told(source, result, size, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=LAYOUT)
    gl.store(result + at, gl.load(source + at, mask=at < size), mask=at < size)


@gluon.jit
def summed(source, result, size, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.arange(0, BLOCK, layout=LAYOUT)
    gl.store(result, gl.sum(gl.load(source + at, mask=at < size), 0))


put = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global  # by release


@gluon.jit
def stored(result):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], result.layout)
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile.store(gl.full([64, 64], 1.0, gl.float16, layout))
    put(result, [0, 0], tile)
    tma.store_wait(0)
