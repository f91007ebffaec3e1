"""A kernel that an assembler breaks."""

# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def fenced(source, result, size, BLOCK: tl.constexpr):
    """The fence is of PTX 8.6, for sm_90: ptxas 12.4 (to Triton 3.3) does not know it, ptxas 12.8
    (from 3.4) does.
    """
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    x = tl.inline_asm_elementwise(
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; mov.b32"
        " $0, $1;",
        "=f,f",
        [x],
        dtype=tl.float32,
        is_pure=False,
        pack=1,
    )
    tl.store(result + at, x)


@triton.jit
def scanned(source, other, result, stride, BLOCK: tl.constexpr):
    """Its shared memory goes with which of its pointers are known to be aligned: as much with all
    as with none, less with some.
    """
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * stride + at[None, :]
    x, y = tl.load(source + tile), tl.load(other + tile)
    tl.store(result + tile, tl.cumsum(x, 0) + tl.cumsum(y, 1))


@triton.jit
def multiplied(source, other, result, size, stride, BLOCK: tl.constexpr):
    """Loads are pipelined, which takes shared memory, where they are known to be aligned."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, size, BLOCK):
        a = tl.load(source + at[:, None] * stride + (k + at)[None, :])
        b = tl.load(other + (k + at)[:, None] * stride + at[None, :])
        total += tl.dot(a, b)
    tl.store(result + at[:, None] * stride + at[None, :], total)


@triton.jit
def sorted_bf16(source, result, size, BLOCK: tl.constexpr):
    """For sm_75: up to 3.2 the PTX has instructions that sm_75 lacks.

    3.2 cannot read its own TTIR of it.
    """
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.sort(tl.load(source + at)))
