import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_clone_slice_backward_squeeze_sum_transpose_view_9(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 8192
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x4 = (xindex % 1024)
    x5 = xindex // 1024
    x6 = xindex
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 64)
    x2 = ((xindex // 1024) % 2)
    x3 = xindex // 2048
    tmp0 = tl.load(in_ptr0 + (x4 + 2048*x5), None)
    tmp1 = tl.load(in_ptr0 + (1024 + x4 + 2048*x5), None)
    tmp3 = tl.load(in_ptr1 + (x6), None)
    tmp2 = tmp0 + tmp1
    tmp4 = tmp2 + tmp3
    tl.store(out_ptr0 + (x0 + 16*x2 + 32*x1 + 2048*x3), tmp4, None)
