import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_red_fused__unsafe_view_add_cat_clone_mul_select_backward_silu_slice_softplus_squeeze_sum_transpose_unsqueeze_view_75(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr1, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
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
    _tmp15 = tl.full([YBLOCK, XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_3 = r0_index
        tmp0 = tl.load(in_ptr0 + (x2 + 16*y0 + 1024*r0_3 + 131072*y1), r0_mask & xmask & ymask, eviction_policy='evict_last', other=0.0)
        tmp1 = tl.load(in_ptr1 + (y0 + 67*r0_3 + 8576*y1), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
        tmp5 = tl.load(in_ptr2 + (r0_3 + 128*y4), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
        tmp6 = tl.load(in_ptr3 + (r0_3), r0_mask, eviction_policy='evict_last', other=0.0)
        tmp2 = tl.sigmoid(tmp1)
        tmp3 = tmp1 * tmp2
        tmp4 = tmp0 * tmp3
        tmp7 = tmp5 + tmp6
        tmp8 = 20.0
        tmp9 = tmp7 > tmp8
        tmp10 = libdevice.exp(tmp7)
        tmp11 = libdevice.log1p(tmp10)
        tmp12 = tl.where(tmp9, tmp7, tmp11)
        tmp13 = tmp4 * tmp12
        tmp14 = tl.broadcast_to(tmp13, [YBLOCK, XBLOCK, R0_BLOCK])
        tmp16 = _tmp15 + tmp14
        _tmp15 = tl.where(r0_mask & xmask & ymask, tmp16, _tmp15)
    tmp15 = tl.sum(_tmp15, 2)[:, :, None]
    tl.store(out_ptr1 + (x2 + 36*y4), tmp15, xmask & ymask)
