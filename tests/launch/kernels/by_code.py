"""A kernel of which the stand-in for the driver does what its machine code has to do with."""

import triton
import triton.language as tl


@triton.jit
def by_code(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    both = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    scaled = both * 1234.5
    other = tl.exp(both) + 2.0
    tl.store(out + at, scaled + tl.where(other > 1.0, other, 0.0), mask=inside)
