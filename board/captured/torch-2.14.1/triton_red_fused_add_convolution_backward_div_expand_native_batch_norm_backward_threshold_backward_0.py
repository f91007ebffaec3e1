import triton
import triton.language as tl


@triton.jit
def triton_red_fused_add_convolution_backward_div_expand_native_batch_norm_backward_threshold_backward_0(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, in_ptr9, in_ptr10, out_ptr0, out_ptr2, out_ptr4, out_ptr5, out_ptr8, out_ptr9, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 128
    r0_numel = 256
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = xindex
    _tmp9 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    tmp12 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    _tmp16 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    tmp19 = tl.load(in_ptr6 + (x0), xmask, eviction_policy='evict_last')
    _tmp23 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 64)
        r0_2 = r0_index // 64
        r0_3 = r0_index
        tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0 + 8192*r0_2), r0_mask & xmask, eviction_policy='evict_last', other=0.0).to(tl.int1)
        tmp1 = tl.load(in_ptr1 + (r0_1 + 64*x0 + 8192*r0_2), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp2 = tl.load(in_ptr2 + (x0 + 128*r0_2), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp11 = tl.load(in_ptr3 + (x0 + 128*r0_3), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp18 = tl.load(in_ptr5 + (x0 + 128*r0_3), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp3 = tl.full([1, 1], 0.015625, tl.float32)
        tmp4 = tmp2 * tmp3
        tmp5 = tmp1 + tmp4
        tmp6 = tl.full([1, 1], 0.0, tl.float32)
        tmp7 = tl.where(tmp0, tmp6, tmp5)
        tmp8 = tl.broadcast_to(tmp7, [XBLOCK, R0_BLOCK])
        tmp10 = _tmp9 + tmp8
        _tmp9 = tl.where(r0_mask & xmask, tmp10, _tmp9)
        tmp13 = tmp11 - tmp12
        tmp14 = tmp7 * tmp13
        tmp15 = tl.broadcast_to(tmp14, [XBLOCK, R0_BLOCK])
        tmp17 = _tmp16 + tmp15
        _tmp16 = tl.where(r0_mask & xmask, tmp17, _tmp16)
        tmp20 = tmp18 - tmp19
        tmp21 = tmp7 * tmp20
        tmp22 = tl.broadcast_to(tmp21, [XBLOCK, R0_BLOCK])
        tmp24 = _tmp23 + tmp22
        _tmp23 = tl.where(r0_mask & xmask, tmp24, _tmp23)
    tmp9 = tl.sum(_tmp9, 1)[:, None]
    tmp16 = tl.sum(_tmp16, 1)[:, None]
    tmp23 = tl.sum(_tmp23, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp9, xmask)
    tl.store(out_ptr2 + (x0), tmp9, xmask)
    tmp25 = tl.load(in_ptr7 + (x0), xmask)
    tmp27 = tl.load(in_ptr8 + (x0), xmask)
    tmp26 = tmp16 * tmp25
    tmp28 = tmp23 * tmp27
    tl.store(out_ptr4 + (x0), tmp26, xmask)
    tl.store(out_ptr5 + (x0), tmp28, xmask)
    tmp41 = tl.load(in_ptr7 + (x0), xmask, eviction_policy='evict_last')
    tmp48 = tl.load(in_ptr9 + (x0), xmask, eviction_policy='evict_last')
    tmp54 = tl.load(in_ptr8 + (x0), xmask, eviction_policy='evict_last')
    tmp60 = tl.load(in_ptr10 + (x0), xmask, eviction_policy='evict_last')
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 64)
        r0_2 = r0_index // 64
        r0_3 = r0_index
        tmp29 = tl.load(in_ptr0 + (r0_1 + 64*x0 + 8192*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0).to(tl.int1)
        tmp30 = tl.load(in_ptr1 + (r0_1 + 64*x0 + 8192*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp31 = tl.load(in_ptr2 + (x0 + 128*r0_2), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp37 = tl.load(in_ptr3 + (x0 + 128*r0_3), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp51 = tl.load(in_ptr5 + (x0 + 128*r0_3), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp32 = tl.full([1, 1], 0.015625, tl.float32)
        tmp33 = tmp31 * tmp32
        tmp34 = tmp30 + tmp33
        tmp35 = tl.full([1, 1], 0.0, tl.float32)
        tmp36 = tl.where(tmp29, tmp35, tmp34)
        tmp38 = tmp37 - tmp12
        tmp39 = tl.full([1, 1], 0.00390625, tl.float32)
        tmp40 = tmp16 * tmp39
        tmp42 = tmp41 * tmp41
        tmp43 = tmp40 * tmp42
        tmp44 = tmp38 * tmp43
        tmp45 = tmp36 - tmp44
        tmp46 = tmp9 * tmp39
        tmp47 = tmp45 - tmp46
        tmp49 = tmp41 * tmp48
        tmp50 = tmp47 * tmp49
        tmp52 = tmp51 - tmp19
        tmp53 = tmp23 * tmp39
        tmp55 = tmp54 * tmp54
        tmp56 = tmp53 * tmp55
        tmp57 = tmp52 * tmp56
        tmp58 = tmp36 - tmp57
        tmp59 = tmp58 - tmp46
        tmp61 = tmp54 * tmp60
        tmp62 = tmp59 * tmp61
        tl.store(out_ptr8 + (x0 + 128*r0_3), tmp50, r0_mask & xmask)
        tl.store(out_ptr9 + (x0 + 128*r0_3), tmp62, r0_mask & xmask)
