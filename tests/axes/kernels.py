"""A kernel that an assembler breaks."""

# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def fenced(source, result, size, BLOCK: tl.constexpr):
    """The fence is of PTX 8.6, for sm_90: ptxas 12.4 (to Triton 3.3) does not know it, ptxas 12.8 (from 3.4) does."""
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    x = tl.inline_asm_elementwise(
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; mov.b32 $0, $1;",
        "=f,f",
        [x],
        dtype=tl.float32,
        is_pure=False,
        pack=1,
    )
    tl.store(result + at, x)
