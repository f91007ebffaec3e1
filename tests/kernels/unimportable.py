"""A kernel's file that cannot be imported for one of several reasons, as a variable of its own says."""

import triton
import triton.language as tl

REASON = "none"
FACTOR = tl.constexpr(1)

if REASON == "package":
    import torch

    FACTOR = torch.get_num_threads()
elif REASON == "raises":
    raise RuntimeError("this file needs a GPU")
elif REASON == "slow":
    import time

    time.sleep(600)


@triton.jit
def kernel(
    source,
    result,
    size,
    BLOCK: tl.constexpr,
    bias=None,
    scale=2.0,
    UNIT: tl.constexpr = 1,
    ONE=1,
    seed=2**31,
    num_warps: tl.constexpr = 4,
):
    tl.static_assert(num_warps == 8)
    tl.static_assert(seed.dtype == tl.int64)
    tl.static_assert(ONE == 1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + at, mask=at < size) * FACTOR * scale + UNIT
    if bias is not None:
        value += tl.load(bias + at)
    tl.store(result + at, value, mask=at < size)
