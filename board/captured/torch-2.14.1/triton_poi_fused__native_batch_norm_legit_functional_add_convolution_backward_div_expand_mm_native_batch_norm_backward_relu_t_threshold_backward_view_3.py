import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__native_batch_norm_legit_functional_add_convolution_backward_div_expand_mm_native_batch_norm_backward_relu_t_threshold_backward_view_3(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, ks0, ks1, ks2, ks3, ks4, xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x3 = xindex
    x2 = xindex // ks0
    x1 = ((xindex // ks1) % 3)
    tmp0 = tl.load(in_out_ptr0 + (x3), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr0 + (x3), xmask, eviction_policy='evict_last')
    tmp8 = tl.load(in_ptr1 + (x2), xmask, eviction_policy='evict_last')
    tmp9 = tl.load(in_ptr2 + (x1), xmask, eviction_policy='evict_last')
    tmp16 = tl.load(in_ptr3 + (x3), xmask, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr4 + (x1), xmask, eviction_policy='evict_last')
    tmp19 = tl.load(in_ptr5 + (x1), xmask, eviction_policy='evict_last')
    tmp23 = tl.load(in_ptr6 + (x1), xmask, eviction_policy='evict_last')
    tmp28 = tl.load(in_ptr7 + (x1), xmask, eviction_policy='evict_last')
    tmp31 = tl.load(in_ptr8 + (x1), xmask, eviction_policy='evict_last')
    tmp1 = tl.full([1], 0.0, tl.float32)
    tmp2 = tmp0 <= tmp1
    tmp4 = tmp0 + tmp3
    tmp5 = tl.full([1], 0, tl.int32)
    tmp6 = tl.maximum(tmp5, tmp4, tl.PropagateNan.ALL)
    tmp7 = tmp6 <= tmp1
    tmp10 = tmp8 * tmp9
    tmp11 = (ks1).to(tl.float32)
    tmp12 = (tmp11).to(tl.float32)
    tmp13 = (tmp10 / tmp12)
    tmp14 = tl.where(tmp7, tmp1, tmp13)
    tmp15 = tl.where(tmp2, tmp1, tmp14)
    tmp18 = tmp16 - tmp17
    tmp20 = ((tl.full([], 1.00000000000000, tl.float64) / ((3*ks2*ks3*ks4) / 3))).to(tl.float32)
    tmp21 = (tmp20).to(tl.float32)
    tmp22 = tmp19 * tmp21
    tmp24 = tmp23 * tmp23
    tmp25 = tmp22 * tmp24
    tmp26 = tmp18 * tmp25
    tmp27 = tmp15 - tmp26
    tmp29 = tmp28 * tmp21
    tmp30 = tmp27 - tmp29
    tmp32 = tmp23 * tmp31
    tmp33 = tmp30 * tmp32
    tl.store(in_out_ptr0 + (x3), tmp33, xmask)
