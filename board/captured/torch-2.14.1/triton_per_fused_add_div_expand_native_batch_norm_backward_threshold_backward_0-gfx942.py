import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_div_expand_native_batch_norm_backward_threshold_backward_0(in_out_ptr0, in_out_ptr1, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, out_ptr0, out_ptr2, out_ptr4, out_ptr5, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 128
    r0_numel = 256
    R0_BLOCK: tl.constexpr = 256
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_1 = (r0_index % 64)
    r0_2 = r0_index // 64
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_ptr1 + (r0_1 + 64*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp2 = tl.load(in_ptr2 + (x0 + 128*r0_2), xmask, eviction_policy='evict_last', other=0.0)
    tmp12 = tl.load(in_out_ptr0 + (r0_1 + 64*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp13 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp20 = tl.load(in_out_ptr1 + (r0_1 + 64*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp21 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    tmp28 = tl.load(in_ptr5 + (x0), xmask)
    tmp30 = tl.load(in_ptr6 + (x0), xmask)
    tmp34 = tl.load(in_ptr5 + (x0), xmask, eviction_policy='evict_last')
    tmp41 = tl.load(in_ptr7 + (x0), xmask, eviction_policy='evict_last')
    tmp45 = tl.load(in_ptr6 + (x0), xmask, eviction_policy='evict_last')
    tmp51 = tl.load(in_ptr8 + (x0), xmask, eviction_policy='evict_last')
    tmp3 = tl.full([1, 1], 0.015625, tl.float32)
    tmp4 = tmp2 * tmp3
    tmp5 = tmp1 + tmp4
    tmp6 = tl.full([1, 1], 0.0, tl.float32)
    tmp7 = tl.where(tmp0, tmp6, tmp5)
    tmp8 = tl.broadcast_to(tmp7, [XBLOCK, R0_BLOCK])
    tmp10 = tl.where(xmask, tmp8, 0)
    tmp11 = tl.sum(tmp10, 1)[:, None].to(tl.float32)
    tmp14 = tmp12 - tmp13
    tmp15 = tmp7 * tmp14
    tmp16 = tl.broadcast_to(tmp15, [XBLOCK, R0_BLOCK])
    tmp18 = tl.where(xmask, tmp16, 0)
    tmp19 = tl.sum(tmp18, 1)[:, None].to(tl.float32)
    tmp22 = tmp20 - tmp21
    tmp23 = tmp7 * tmp22
    tmp24 = tl.broadcast_to(tmp23, [XBLOCK, R0_BLOCK])
    tmp26 = tl.where(xmask, tmp24, 0)
    tmp27 = tl.sum(tmp26, 1)[:, None].to(tl.float32)
    tmp29 = tmp19 * tmp28
    tmp31 = tmp27 * tmp30
    tmp32 = tl.full([1, 1], 0.00390625, tl.float32)
    tmp33 = tmp19 * tmp32
    tmp35 = tmp34 * tmp34
    tmp36 = tmp33 * tmp35
    tmp37 = tmp14 * tmp36
    tmp38 = tmp7 - tmp37
    tmp39 = tmp11 * tmp32
    tmp40 = tmp38 - tmp39
    tmp42 = tmp34 * tmp41
    tmp43 = tmp40 * tmp42
    tmp44 = tmp27 * tmp32
    tmp46 = tmp45 * tmp45
    tmp47 = tmp44 * tmp46
    tmp48 = tmp22 * tmp47
    tmp49 = tmp7 - tmp48
    tmp50 = tmp49 - tmp39
    tmp52 = tmp45 * tmp51
    tmp53 = tmp50 * tmp52
    tl.store(out_ptr4 + (x0), tmp29, xmask)
    tl.store(out_ptr5 + (x0), tmp31, xmask)
    tl.store(in_out_ptr0 + (r0_1 + 64*x0 + 8192*r0_2), tmp43, xmask)
    tl.store(in_out_ptr1 + (r0_1 + 64*x0 + 8192*r0_2), tmp53, xmask)
    tl.store(out_ptr0 + (x0), tmp11, xmask)
    tl.store(out_ptr2 + (x0), tmp11, xmask)
