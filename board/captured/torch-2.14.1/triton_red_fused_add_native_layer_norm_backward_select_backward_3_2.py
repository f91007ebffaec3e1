import triton
import triton.language as tl


@triton.jit
def triton_red_fused_add_native_layer_norm_backward_select_backward_3(in_ptr0, in_ptr1, in_ptr2, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
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
    _tmp16 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    x3 = xindex
    _tmp21 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_2 = r0_index
        tmp0 = (r0_2 + 113*x1).to(tl.int32)
        tmp1 = tl.full([1, 1], 788, tl.int32)
        tmp2 = tmp0 < tmp1
        tmp3 = tl.load(in_ptr0 + (x0 + 64*(((r0_2 + 113*x1) % 788))), r0_mask & tmp2 & xmask, eviction_policy='evict_first', other=0.0)
        tmp4 = (((r0_2 + 113*x1) % 197)).to(tl.int32)
        tmp5 = tl.full([1, 1], 0, tl.int32)
        tmp6 = tmp4 == tmp5
        tmp7 = tl.load(in_ptr1 + (x0 + 64*((((r0_2 + 113*x1) // 197) % 4))), r0_mask & tmp2 & xmask, eviction_policy='evict_first', other=0.0)
        tmp8 = tl.full([1, 1], 0.0, tl.float32)
        tmp9 = tl.where(tmp6, tmp7, tmp8)
        tmp10 = tmp3 + tmp9
        tmp11 = tl.load(in_ptr2 + (x0 + 64*(((r0_2 + 113*x1) % 788))), r0_mask & tmp2 & xmask, eviction_policy='evict_first', other=0.0)
        tmp12 = tmp10 * tmp11
        tmp13 = tl.full(tmp12.shape, 0, tmp12.dtype)
        tmp14 = tl.where(tmp2, tmp12, tmp13)
        tmp15 = tl.broadcast_to(tmp14, [XBLOCK, R0_BLOCK])
        tmp17 = _tmp16 + tmp15
        _tmp16 = tl.where(r0_mask & xmask, tmp17, _tmp16)
        tmp18 = tl.full(tmp10.shape, 0, tmp10.dtype)
        tmp19 = tl.where(tmp2, tmp10, tmp18)
        tmp20 = tl.broadcast_to(tmp19, [XBLOCK, R0_BLOCK])
        tmp22 = _tmp21 + tmp20
        _tmp21 = tl.where(r0_mask & xmask, tmp22, _tmp21)
    tmp16 = tl.sum(_tmp16, 1)[:, None]
    tmp21 = tl.sum(_tmp21, 1)[:, None]
    tl.store(out_ptr0 + (x3), tmp16, xmask)
    tl.store(out_ptr1 + (x3), tmp21, xmask)
