import triton
import triton.language as tl


@triton.jit
def kernel():
    v28 = tl.zeros((32, 16), tl.int8)
    tl.dot(tl.zeros((32, 32), tl.int8), v28, acc=v28.to(tl.int32))
