import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_poi_fused_add_mul_pow_tanh_tanh_backward_view_5(in_out_ptr0, in_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 65536
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (x0), None)
    tmp1 = tl.load(in_ptr0 + (x0), None)
    tmp2 = tl.full([1], 0.5, tl.float32)
    tmp3 = tmp1 * tmp2
    tmp4 = tmp0 * tmp3
    tmp5 = tmp1 * tmp1
    tmp6 = tmp5 * tmp1
    tmp7 = tl.full([1], 0.044715, tl.float32)
    tmp8 = tmp6 * tmp7
    tmp9 = tmp1 + tmp8
    tmp10 = tl.full([1], 0.7978845608028654, tl.float32)
    tmp11 = tmp9 * tmp10
    tmp12 = libdevice.tanh(tmp11)
    tmp13 = tmp12 * tmp12
    tmp14 = tl.full([1], 1.0, tl.float32)
    tmp15 = tmp14 - tmp13
    tmp16 = tmp4 * tmp15
    tmp17 = tmp16 * tmp10
    tmp18 = tmp17 * tmp7
    tmp19 = tl.full([1], 3.0, tl.float32)
    tmp20 = tmp5 * tmp19
    tmp21 = tmp18 * tmp20
    tmp22 = tmp17 + tmp21
    tmp23 = tmp12 + tmp14
    tmp24 = tmp0 * tmp23
    tmp25 = tmp24 * tmp2
    tmp26 = tmp22 + tmp25
    tl.store(in_out_ptr0 + (x0), tmp26, None)
