"""Kernels whose failures the tests of the axes locate."""

# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def fenced(source, result, size, BLOCK: tl.constexpr):
    """The fence needs PTX 8.6 and sm_90: ptxas 12.8 (from Triton 3.4) knows it, and ptxas 12.4 (up
    to 3.3) does not.
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
def scanned(source, other, result, stride):
    """Its shared memory depends on which pointers are known to be aligned: it is the same with all
    as with none, and less with some.
    """
    at = tl.arange(0, 32)
    tile = at[:, None] * stride + at[None, :]
    x, y = tl.load(source + tile), tl.load(other + tile)
    tl.store(result + tile, tl.cumsum(x, 0) + tl.cumsum(y, 1))


@triton.jit
def multiplied(source, other, result, size, stride):
    """Triton pipelines loads that are known to be aligned, which takes shared memory."""
    at = tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for k in range(0, size, 16):
        a = tl.load(source + at[:, None] * stride + (k + at)[None, :])
        b = tl.load(other + (k + at)[:, None] * stride + at[None, :])
        total += tl.dot(a, b)
    tl.store(result + at[:, None] * stride + at[None, :], total)


@triton.jit
def sorted_bf16(source, result, size, BLOCK: tl.constexpr):
    """For sm_75: up to Triton 3.2, the PTX has instructions that sm_75 lacks.

    Triton 3.2 cannot read its own TTIR of this kernel.
    """
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.sort(tl.load(source + at)))
