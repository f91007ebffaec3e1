import triton
import triton.language as tl


@triton.jit
def kernel(result):
    for at in range(2):
        tl.store(result + at // 0, 0)
