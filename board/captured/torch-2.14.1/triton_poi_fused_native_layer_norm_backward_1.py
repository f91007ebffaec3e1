import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_native_layer_norm_backward_1(in_ptr0, in_ptr1, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 64
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    tmp3 = tl.load(in_ptr0 + (64 + x0), xmask)
    tmp4 = tl.load(in_ptr1 + (64 + x0), xmask)
    tmp7 = tl.load(in_ptr0 + (128 + x0), xmask)
    tmp8 = tl.load(in_ptr1 + (128 + x0), xmask)
    tmp11 = tl.load(in_ptr0 + (192 + x0), xmask)
    tmp12 = tl.load(in_ptr1 + (192 + x0), xmask)
    tmp2 = tmp0 * tmp1
    tmp5 = tmp3 * tmp4
    tmp6 = tmp2 + tmp5
    tmp9 = tmp7 * tmp8
    tmp10 = tmp6 + tmp9
    tmp13 = tmp11 * tmp12
    tmp14 = tmp10 + tmp13
    tmp15 = tmp0 + tmp3
    tmp16 = tmp15 + tmp7
    tmp17 = tmp16 + tmp11
    tl.store(out_ptr0 + (x0), tmp14, xmask)
    tl.store(out_ptr1 + (x0), tmp17, xmask)
