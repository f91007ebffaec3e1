"""Kernels of Gluon that fail, each in a way of its own that has to do with layouts or with the GPU."""

import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell, hopper


@gluon.jit
def of_other_warps(source, result, size):
    """64 threads in a warp."""
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [4], [0])
    at = gl.arange(0, 256, layout=layout)
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def of_more_warps(source, result, size):
    """8 warps, on 4."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [8], [0])
    at = gl.arange(0, 256, layout=layout)
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def of_two_layouts(source, result, size):
    one: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    other: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    at = gl.arange(0, 256, layout=one) + gl.arange(0, 256, layout=other)
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def of_another_rank(source, result, size):
    layout: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
    at = gl.arange(0, 256, layout=layout)
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def of_unequal_lists(source, result, size):
    layout: gl.constexpr = gl.BlockedLayout([1], [32, 1], [4], [0])
    at = gl.arange(0, 256, layout=layout)
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def expanded(source, result, size):
    """Only a slice of a layout grows a dimension."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.arange(0, 256, layout=layout)[:, None]
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def sliced(source, result, size):
    """A slice grows the dimension that was cut off, and no other."""
    layout: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
    at = gl.arange(0, 256, layout=gl.SliceLayout(0, layout))[:, None]
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def no_layout(source, result, size):
    at = gl.arange(0, 256)
    gl.store(result + at, gl.load(source + at))


@gluon.jit
def of_triton(source, result, size):
    """A block of Triton's own language has no layout."""
    at = tl.arange(0, 256)
    tl.store(result + at, tl.load(source + at))


@gluon.jit
def of_no_shared_layout(source, result, size):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.arange(0, 256, layout=layout)
    tile = gl.allocate_shared_memory(gl.float32, [256], layout)
    tile.store(gl.load(source + at))
    gl.store(result + at, tile.load(layout))


@gluon.jit
def of_another_shape(source, result, size):
    """A tile of 128, and a block of 256."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.arange(0, 256, layout=layout)
    tile = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    tile.store(gl.load(source + at))
    gl.store(result + at, tile.load(layout))


@gluon.jit
def multiplied(source, result, size):
    """Wgmma, which only sm_90 has."""
    shared: gl.constexpr = gl.NVMMASharedLayout(128, 16, rank=2)
    wgmma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], shared)
    c = hopper.warpgroup_mma(tile, tile, gl.zeros([64, 64], gl.float32, wgmma), is_async=False)
    at = gl.arange(0, 64, layout=gl.SliceLayout(1, wgmma))
    gl.store(result + at, gl.sum(c, 1))


@gluon.jit
def multiplied_by_dot(source, result, size):
    """An accumulator in a layout of no instruction."""
    shared: gl.constexpr = gl.NVMMASharedLayout(128, 16, rank=2)
    blocked: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], shared)
    c = hopper.warpgroup_mma(tile, tile, gl.zeros([64, 64], gl.float32, blocked), is_async=False)
    at = gl.arange(0, 64, layout=gl.SliceLayout(1, blocked))
    gl.store(result + at, gl.sum(c, 1))


@gluon.jit
def fenced(source, result, size):
    """A fence that only sm_90 and later GPUs have."""
    hopper.fence_async_shared()


@gluon.jit
def in_tensor_memory(source, result, size):
    """Tensor memory, which only sm_100 has."""
    layout: gl.constexpr = blackwell.TensorMemoryLayout([128, 64], True)
    rows: gl.constexpr = gl.BlockedLayout([1, 64], [32, 1], [4, 1], [0, 1])
    c = blackwell.allocate_tensor_memory(gl.float32, [128, 64], layout)
    c.store(gl.full([128, 64], 0.0, gl.float32, rows))
    at = gl.arange(0, 128, layout=gl.SliceLayout(1, rows))
    gl.store(result + at, gl.sum(c.load(rows), 1))


@gluon.jit
def reduced_of_other_warps(source, result, size):
    """64 threads in a warp: the compiler finds it in a function of its library first."""
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [4], [0])
    gl.store(result, gl.sum(gl.full([256], 1.0, gl.float32, layout), 0))
