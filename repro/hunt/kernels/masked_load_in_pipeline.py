import triton
import triton.language as tl


@triton.jit
def kernel(x0, x1, y2, n0, n1, n2, n4):
    v1 = tl.zeros((1, 1, 8), tl.float32)
    v4 = v1
    for v2 in tl.range(0, n1, num_stages=3):
        v7 = tl.load(x1 + tl.zeros((8,), tl.int32)[None, None, :], mask=0 < n2, other=1)
        v10 = v4 + v7
        v3, v4 = (0, v10)
    v12 = v4
    v13 = v12
    v64 = v13
    v65 = v64
    tl.store(y2 + tl.zeros((1, 4, 1), tl.int32) + tl.arange(0, 8), v65)
