import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_native_layer_norm_backward_sum_12(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 12608
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x1 = xindex // 64
    tmp0 = tl.load(in_ptr0 + (x2), xmask)
    tmp1 = tl.load(in_ptr1 + (x1), xmask, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (x2), xmask)
    tmp7 = tl.load(in_ptr0 + (12608 + x2), xmask)
    tmp8 = tl.load(in_ptr1 + (197 + x1), xmask, eviction_policy='evict_last')
    tmp10 = tl.load(in_ptr2 + (12608 + x2), xmask)
    tmp14 = tl.load(in_ptr0 + (25216 + x2), xmask)
    tmp15 = tl.load(in_ptr1 + (394 + x1), xmask, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr2 + (25216 + x2), xmask)
    tmp21 = tl.load(in_ptr0 + (37824 + x2), xmask)
    tmp22 = tl.load(in_ptr1 + (591 + x1), xmask, eviction_policy='evict_last')
    tmp24 = tl.load(in_ptr2 + (37824 + x2), xmask)
    tmp2 = tl.full([1], 0.015625, tl.float32)
    tmp3 = tmp1 * tmp2
    tmp5 = tmp3 * tmp4
    tmp6 = tmp0 + tmp5
    tmp9 = tmp8 * tmp2
    tmp11 = tmp9 * tmp10
    tmp12 = tmp7 + tmp11
    tmp13 = tmp6 + tmp12
    tmp16 = tmp15 * tmp2
    tmp18 = tmp16 * tmp17
    tmp19 = tmp14 + tmp18
    tmp20 = tmp13 + tmp19
    tmp23 = tmp22 * tmp2
    tmp25 = tmp23 * tmp24
    tmp26 = tmp21 + tmp25
    tmp27 = tmp20 + tmp26
    tl.store(out_ptr0 + (x2), tmp27, xmask)
