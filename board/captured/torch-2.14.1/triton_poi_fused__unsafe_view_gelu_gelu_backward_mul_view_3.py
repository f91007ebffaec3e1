import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_poi_fused__unsafe_view_gelu_gelu_backward_mul_view_3(in_out_ptr0, in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 32768
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), None)
    tmp1 = tl.load(in_ptr1 + (x0), None)
    tmp16 = tl.load(in_out_ptr0 + (x0), None)
    tmp2 = tl.full([1], 0.5, tl.float32)
    tmp3 = tmp1 * tmp2
    tmp4 = tmp1 * tmp1
    tmp5 = tmp4 * tmp1
    tmp6 = tl.full([1], 0.044715, tl.float32)
    tmp7 = tmp5 * tmp6
    tmp8 = tmp1 + tmp7
    tmp9 = tl.full([1], 0.7978845608028654, tl.float32)
    tmp10 = tmp8 * tmp9
    tmp11 = libdevice.tanh(tmp10)
    tmp12 = tl.full([1], 1.0, tl.float32)
    tmp13 = tmp11 + tmp12
    tmp14 = tmp3 * tmp13
    tmp15 = tmp0 * tmp14
    tmp17 = tmp0 * tmp16
    tmp18 = tmp13 * tmp2
    tmp19 = tmp11 * tmp11
    tmp20 = tmp12 - tmp19
    tmp21 = tmp3 * tmp20
    tmp22 = tl.full([1], 0.134145, tl.float32)
    tmp23 = tmp4 * tmp22
    tmp24 = tmp23 + tmp12
    tmp25 = tmp24 * tmp9
    tmp26 = tmp21 * tmp25
    tmp27 = tmp18 + tmp26
    tmp28 = tmp17 * tmp27
    tl.store(out_ptr0 + (x0), tmp15, None)
    tl.store(in_out_ptr0 + (x0), tmp28, None)
