import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_div_expand_native_batch_norm_backward_threshold_backward_1(in_out_ptr0, in_out_ptr1, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, in_ptr9, in_ptr10, in_ptr11, in_ptr12, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 512
    xnumel = 64
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y3 = yindex
    y0 = (yindex % 128)
    tmp0 = tl.load(in_ptr0 + (x2 + 64*y3), xmask & ymask, eviction_policy='evict_last')
    tmp1 = tl.load(in_ptr1 + (x2 + 64*y3), xmask & ymask, eviction_policy='evict_last')
    tmp2 = tl.load(in_ptr2 + (y3), ymask, eviction_policy='evict_last')
    tmp8 = tl.load(in_out_ptr0 + (x2 + 64*y3), xmask & ymask, eviction_policy='evict_last')
    tmp9 = tl.load(in_ptr3 + (y0), ymask, eviction_policy='evict_last')
    tmp11 = tl.load(in_ptr4 + (y0), ymask, eviction_policy='evict_last')
    tmp14 = tl.load(in_ptr5 + (y0), ymask, eviction_policy='evict_last')
    tmp19 = tl.load(in_ptr6 + (y0), ymask, eviction_policy='evict_last')
    tmp22 = tl.load(in_ptr7 + (y0), ymask, eviction_policy='evict_last')
    tmp25 = tl.load(in_out_ptr1 + (x2 + 64*y3), xmask & ymask, eviction_policy='evict_last')
    tmp26 = tl.load(in_ptr8 + (y0), ymask, eviction_policy='evict_last')
    tmp28 = tl.load(in_ptr9 + (y0), ymask, eviction_policy='evict_last')
    tmp30 = tl.load(in_ptr10 + (y0), ymask, eviction_policy='evict_last')
    tmp35 = tl.load(in_ptr11 + (y0), ymask, eviction_policy='evict_last')
    tmp38 = tl.load(in_ptr12 + (y0), ymask, eviction_policy='evict_last')
    tmp3 = 0.015625
    tmp4 = tmp2 * tmp3
    tmp5 = tmp1 + tmp4
    tmp6 = 0.0
    tmp7 = tl.where(tmp0, tmp6, tmp5)
    tmp10 = tmp8 - tmp9
    tmp12 = 0.00390625
    tmp13 = tmp11 * tmp12
    tmp15 = tmp14 * tmp14
    tmp16 = tmp13 * tmp15
    tmp17 = tmp10 * tmp16
    tmp18 = tmp7 - tmp17
    tmp20 = tmp19 * tmp12
    tmp21 = tmp18 - tmp20
    tmp23 = tmp14 * tmp22
    tmp24 = tmp21 * tmp23
    tmp27 = tmp25 - tmp26
    tmp29 = tmp28 * tmp12
    tmp31 = tmp30 * tmp30
    tmp32 = tmp29 * tmp31
    tmp33 = tmp27 * tmp32
    tmp34 = tmp7 - tmp33
    tmp36 = tmp35 * tmp12
    tmp37 = tmp34 - tmp36
    tmp39 = tmp30 * tmp38
    tmp40 = tmp37 * tmp39
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (x2 + 64*y3), tmp24, xmask & ymask)
    tl.debug_barrier()
    tl.store(in_out_ptr1 + (x2 + 64*y3), tmp40, xmask & ymask)
