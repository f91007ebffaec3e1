import triton
import triton.language as tl


@triton.jit
def triton_red_fused__native_batch_norm_legit_functional_convolution_backward_native_batch_norm_backward_relu_threshold_backward_3(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, out_ptr2, ks0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 3
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = xindex
    tmp1 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr2 + (x0), xmask, eviction_policy='evict_last')
    tmp5 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    _tmp19 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    _tmp23 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK, num_stages = 2):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 1024)
        r0_2 = r0_index // 1024
        tmp0 = tl.load(in_ptr0 + (r0_1 + 1024*x0 + 3072*r0_2), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp13 = tl.load(in_out_ptr0 + (r0_1 + 1024*x0 + 3072*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp15 = tl.load(in_ptr5 + (r0_1 + 1024*x0 + 3072*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp2 = tmp0 - tmp1
        tmp4 = tmp2 * tmp3
        tmp6 = tmp4 * tmp5
        tmp8 = tmp6 + tmp7
        tmp9 = tl.full([1, 1], 0, tl.int32)
        tmp10 = tl.maximum(tmp9, tmp8, tl.PropagateNan.ALL)
        tmp11 = tl.full([1, 1], 0.0, tl.float32)
        tmp12 = tmp10 <= tmp11
        tmp14 = tmp13 <= tmp11
        tmp16 = tl.where(tmp14, tmp11, tmp15)
        tmp17 = tl.where(tmp12, tmp11, tmp16)
        tmp18 = tl.broadcast_to(tmp17, [XBLOCK, R0_BLOCK])
        tmp20 = _tmp19 + tmp18
        _tmp19 = tl.where(r0_mask & xmask, tmp20, _tmp19)
        tmp21 = tmp17 * tmp2
        tmp22 = tl.broadcast_to(tmp21, [XBLOCK, R0_BLOCK])
        tmp24 = _tmp23 + tmp22
        _tmp23 = tl.where(r0_mask & xmask, tmp24, _tmp23)
        tl.store(in_out_ptr0 + (r0_1 + 1024*x0 + 3072*r0_2), tmp17, r0_mask & xmask)
    tmp19 = tl.sum(_tmp19, 1)[:, None]
    tmp23 = tl.sum(_tmp23, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp19, xmask)
    tmp25 = tl.load(in_ptr2 + (x0), xmask)
    tmp26 = tmp23 * tmp25
    tl.store(out_ptr2 + (x0), tmp26, xmask)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK, num_stages = 2):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 1024)
        r0_2 = r0_index // 1024
        tl.debug_barrier()
        tmp27 = tl.load(in_out_ptr0 + (r0_1 + 1024*x0 + 3072*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp28 = tl.load(in_ptr0 + (r0_1 + 1024*x0 + 3072*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp29 = tmp28 - tmp1
        tmp30 = ((tl.full([], 1.00000000000000, tl.float64) / ((3072*ks0) / 3))).to(tl.float32)
        tmp31 = (tmp30).to(tl.float32)
        tmp32 = tmp23 * tmp31
        tmp33 = tmp3 * tmp3
        tmp34 = tmp32 * tmp33
        tmp35 = tmp29 * tmp34
        tmp36 = tmp27 - tmp35
        tmp37 = tmp19 * tmp31
        tmp38 = tmp36 - tmp37
        tmp39 = tmp3 * tmp5
        tmp40 = tmp38 * tmp39
        tl.store(in_out_ptr0 + (r0_1 + 1024*x0 + 3072*r0_2), tmp40, r0_mask & xmask)
