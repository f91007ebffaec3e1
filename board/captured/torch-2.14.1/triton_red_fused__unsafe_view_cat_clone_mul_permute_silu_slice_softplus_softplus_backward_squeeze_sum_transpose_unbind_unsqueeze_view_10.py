import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_red_fused__unsafe_view_cat_clone_mul_permute_silu_slice_softplus_softplus_backward_squeeze_sum_transpose_unbind_unsqueeze_view_10(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr1, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    ynumel = 256
    xnumel = 16
    r0_numel = 128
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, None, :]
    rbase = r0_base
    x2 = xindex
    y0 = (yindex % 64)
    y1 = yindex // 64
    y4 = yindex
    _tmp20 = tl.full([YBLOCK, XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_3 = r0_index
        tmp0 = tl.load(in_ptr0 + (524288 + x2 + 16*r0_3 + 2048*y1 + 8192*y0), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
        tmp1 = tl.load(in_ptr1 + (524288 + x2 + 16*r0_3 + 2048*y1 + 8192*y0), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
        tmp3 = tl.load(in_ptr2 + (y0 + 67*r0_3 + 8576*y1), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
        tmp10 = tl.load(in_ptr3 + (r0_3 + 128*y4), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
        tmp11 = tl.load(in_ptr4 + (r0_3), r0_mask, eviction_policy='evict_last', other=0.0)
        tmp2 = tmp0 * tmp1
        tmp4 = -tmp3
        tmp5 = libdevice.exp(tmp4)
        tmp6 = tl.full([1, 1, 1], 1.0, tl.float32)
        tmp7 = tmp5 + tmp6
        tmp8 = (tmp3 / tmp7)
        tmp9 = tmp2 * tmp8
        tmp12 = tmp10 + tmp11
        tmp13 = tl.full([1, 1, 1], 20.0, tl.float32)
        tmp14 = tmp12 > tmp13
        tmp15 = libdevice.exp(tmp12)
        tmp16 = libdevice.log1p(tmp15)
        tmp17 = tl.where(tmp14, tmp12, tmp16)
        tmp18 = tmp9 * tmp17
        tmp19 = tl.broadcast_to(tmp18, [YBLOCK, XBLOCK, R0_BLOCK])
        tmp21 = _tmp20 + tmp19
        _tmp20 = tl.where(r0_mask & xmask & ymask, tmp21, _tmp20)
    tmp20 = tl.sum(_tmp20, 2)[:, :, None]
    tl.store(out_ptr1 + (x2 + 36*y4), tmp20, xmask & ymask)
