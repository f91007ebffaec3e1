import triton
import triton.language as tl


@triton.jit
def kernel():
    tl.flip(tl.arange(0, 2))
