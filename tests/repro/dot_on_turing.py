import triton
import triton.language as tl


@triton.jit
def kernel(V_ptr, O_ptr):
    offs_H = tl.arange(0, 16)
    v = tl.load(V_ptr + tl.zeros((16, 1), tl.int32) + offs_H)
    tl.store(O_ptr + offs_H[:, None] + offs_H, tl.dot(tl.zeros([16, 16], tl.int32).to(v.dtype), v))
