import triton
import triton.language as tl


@triton.jit
def triton_red_fused_add_native_layer_norm_native_layer_norm_backward_view_17(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 448
    r0_numel = 113
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x1 = xindex // 64
    x0 = (xindex % 64)
    _tmp20 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    x3 = xindex
    _tmp25 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_2 = r0_index
        tmp0 = r0_2 + 113*x1
        tmp1 = tl.full([1, 1], 788, tl.int32)
        tmp2 = tmp0 < tmp1
        tmp3 = tmp2.to(tl.int1)
        tmp4 = tl.load(in_ptr0 + (x0 + 64*(((r0_2 + 113*x1) % 788))), r0_mask & tmp3 & xmask, eviction_policy='evict_first', other=0.0)
        tmp5 = tl.load(in_ptr1 + (x0 + 64*(((r0_2 + 113*x1) % 788))), r0_mask & tmp3 & xmask, eviction_policy='evict_first', other=0.0)
        tmp6 = tmp4 + tmp5
        tmp7 = tl.load(in_ptr2 + (x0 + 64*(((r0_2 + 113*x1) % 788))), r0_mask & tmp3 & xmask, eviction_policy='evict_first', other=0.0)
        tmp8 = tmp6 + tmp7
        tmp9 = tl.load(in_ptr3 + (x0 + 64*(((r0_2 + 113*x1) % 788))), r0_mask & tmp3 & xmask, eviction_policy='evict_first', other=0.0)
        tmp10 = tl.load(in_ptr4 + (x0 + 64*(((r0_2 + 113*x1) % 197))), r0_mask & tmp3 & xmask, eviction_policy='evict_first', other=0.0)
        tmp11 = tmp9 + tmp10
        tmp12 = tl.load(in_ptr5 + (((r0_2 + 113*x1) % 788)), r0_mask & tmp3 & xmask, eviction_policy='evict_last', other=0.0)
        tmp13 = tmp11 - tmp12
        tmp14 = tl.load(in_ptr6 + (((r0_2 + 113*x1) % 788)), r0_mask & tmp3 & xmask, eviction_policy='evict_last', other=0.0)
        tmp15 = tmp13 * tmp14
        tmp16 = tmp8 * tmp15
        tmp17 = tl.full(tmp16.shape, 0, tmp16.dtype)
        tmp18 = tl.where(tmp3, tmp16, tmp17)
        tmp19 = tl.broadcast_to(tmp18, [XBLOCK, R0_BLOCK])
        tmp21 = _tmp20 + tmp19
        _tmp20 = tl.where(r0_mask & xmask, tmp21, _tmp20)
        tmp22 = tl.full(tmp8.shape, 0, tmp8.dtype)
        tmp23 = tl.where(tmp3, tmp8, tmp22)
        tmp24 = tl.broadcast_to(tmp23, [XBLOCK, R0_BLOCK])
        tmp26 = _tmp25 + tmp24
        _tmp25 = tl.where(r0_mask & xmask, tmp26, _tmp25)
    tmp20 = tl.sum(_tmp20, 1)[:, None]
    tmp25 = tl.sum(_tmp25, 1)[:, None]
    tl.store(out_ptr0 + (x3), tmp20, xmask)
    tl.store(out_ptr1 + (x3), tmp25, xmask)
