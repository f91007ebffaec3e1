import triton
import triton.language as tl


@triton.jit
def kernel(x1, y1, n0):
    v7 = 0
    v9 = v7
    for v8 in tl.static_range(0, 2):
        v17 = tl.zeros((64, 64), tl.float16)
        v18 = tl.load(x1 + tl.zeros((64, 1), tl.int32) + tl.arange(0, 32))
        v19 = tl.dot(v17, v18)
        v20 = v9 + v19
        v9 = v20
    v21 = v9
    v28 = v21
    v34 = v28
    tl.store(y1 + tl.zeros((64, 1), tl.int32) + tl.arange(0, 32), v34)
