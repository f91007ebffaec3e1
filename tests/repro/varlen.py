import triton
import triton.language as tl


@triton.jit
def kernel():
    for l0 in range(tl.arange(0, 1)):
        pass
