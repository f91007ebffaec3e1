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
    _tmp17 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    x3 = xindex
    _tmp22 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
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
        tmp5 = ((r0_2 + 113*x1) % 197)
        tmp6 = tl.full([1, 1], 0, tl.int32)
        tmp7 = tmp5 == tmp6
        tmp8 = tl.load(in_ptr1 + (x0 + 64*((((r0_2 + 113*x1) // 197) % 4))), r0_mask & tmp3 & xmask, eviction_policy='evict_first', other=0.0)
        tmp9 = 0.0
        tmp10 = tl.where(tmp7, tmp8, tmp9)
        tmp11 = tmp4 + tmp10
        tmp12 = tl.load(in_ptr2 + (x0 + 64*(((r0_2 + 113*x1) % 788))), r0_mask & tmp3 & xmask, eviction_policy='evict_first', other=0.0)
        tmp13 = tmp11 * tmp12
        tmp14 = tl.full(tmp13.shape, 0, tmp13.dtype)
        tmp15 = tl.where(tmp3, tmp13, tmp14)
        tmp16 = tl.broadcast_to(tmp15, [XBLOCK, R0_BLOCK])
        tmp18 = _tmp17 + tmp16
        _tmp17 = tl.where(r0_mask & xmask, tmp18, _tmp17)
        tmp19 = tl.full(tmp11.shape, 0, tmp11.dtype)
        tmp20 = tl.where(tmp3, tmp11, tmp19)
        tmp21 = tl.broadcast_to(tmp20, [XBLOCK, R0_BLOCK])
        tmp23 = _tmp22 + tmp21
        _tmp22 = tl.where(r0_mask & xmask, tmp23, _tmp22)
    tmp17 = tl.sum(_tmp17, 1)[:, None]
    tmp22 = tl.sum(_tmp22, 1)[:, None]
    tl.store(out_ptr0 + (x3), tmp17, xmask)
    tl.store(out_ptr1 + (x3), tmp22, xmask)
