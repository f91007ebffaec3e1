import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_mul_select_select_backward_silu_split_transpose_view_51(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 512
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 128)
    x1 = xindex // 128
    x2 = xindex
    tmp2 = tl.load(in_ptr0 + (128 + x0 + 8192*x1), xmask)
    tmp3 = tl.load(in_ptr1 + (384 + x0 + 16384*x1), xmask)
    tmp0 = tl.full([1], 0, tl.int32)
    tmp1 = tmp0 == tmp0
    tmp4 = tl.sigmoid(tmp3)
    tmp5 = tmp3 * tmp4
    tmp6 = tmp2 * tmp5
    tmp7 = 0.0
    tmp8 = tl.where(tmp1, tmp6, tmp7)
    tl.store(out_ptr0 + (x2), tmp8, xmask)
