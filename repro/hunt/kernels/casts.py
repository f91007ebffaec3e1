import triton
import triton.language as tl


@triton.jit
def casts(x_ptr, y_ptr, n, MIDDLE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x.to(MIDDLE).to(y_ptr.dtype.element_ty), mask=offsets < n)
