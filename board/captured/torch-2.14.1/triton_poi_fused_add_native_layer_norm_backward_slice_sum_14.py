import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_native_layer_norm_backward_slice_sum_14(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 64
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (0))
    tmp2 = tl.broadcast_to(tmp1, [XBLOCK])
    tmp5 = tl.load(in_ptr2 + (x0), xmask)
    tmp8 = tl.load(in_ptr0 + (12608 + x0), xmask)
    tmp9 = tl.load(in_ptr1 + (197))
    tmp10 = tl.broadcast_to(tmp9, [XBLOCK])
    tmp12 = tl.load(in_ptr2 + (12608 + x0), xmask)
    tmp16 = tl.load(in_ptr0 + (25216 + x0), xmask)
    tmp17 = tl.load(in_ptr1 + (394))
    tmp18 = tl.broadcast_to(tmp17, [XBLOCK])
    tmp20 = tl.load(in_ptr2 + (25216 + x0), xmask)
    tmp24 = tl.load(in_ptr0 + (37824 + x0), xmask)
    tmp25 = tl.load(in_ptr1 + (591))
    tmp26 = tl.broadcast_to(tmp25, [XBLOCK])
    tmp28 = tl.load(in_ptr2 + (37824 + x0), xmask)
    tmp3 = tl.full([1], 0.015625, tl.float32)
    tmp4 = tmp2 * tmp3
    tmp6 = tmp4 * tmp5
    tmp7 = tmp0 + tmp6
    tmp11 = tmp10 * tmp3
    tmp13 = tmp11 * tmp12
    tmp14 = tmp8 + tmp13
    tmp15 = tmp7 + tmp14
    tmp19 = tmp18 * tmp3
    tmp21 = tmp19 * tmp20
    tmp22 = tmp16 + tmp21
    tmp23 = tmp15 + tmp22
    tmp27 = tmp26 * tmp3
    tmp29 = tmp27 * tmp28
    tmp30 = tmp24 + tmp29
    tmp31 = tmp23 + tmp30
    tl.store(out_ptr0 + (x0), tmp31, xmask)
