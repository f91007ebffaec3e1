import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_add_fill_mul_silu_sub_view_3(in_out_ptr0, in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 32768
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), None)
    tmp1 = tl.load(in_ptr1 + (x0), None)
    tmp5 = tl.load(in_out_ptr0 + (x0), None)
    tmp2 = tl.sigmoid(tmp1)
    tmp3 = tmp1 * tmp2
    tmp4 = tmp0 * tmp3
    tmp6 = tmp0 * tmp5
    tmp7 = 1.0
    tmp8 = tmp7 - tmp2
    tmp9 = tmp1 * tmp8
    tmp10 = tmp9 + tmp7
    tmp11 = tmp2 * tmp10
    tmp12 = tmp6 * tmp11
    tl.store(out_ptr0 + (x0), tmp4, None)
    tl.store(in_out_ptr0 + (x0), tmp12, None)
