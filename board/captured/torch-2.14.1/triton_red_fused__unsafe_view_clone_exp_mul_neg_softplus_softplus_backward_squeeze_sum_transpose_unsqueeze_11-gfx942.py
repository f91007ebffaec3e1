import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_red_fused__unsafe_view_clone_exp_mul_neg_softplus_softplus_backward_squeeze_sum_transpose_unsqueeze_11(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    ynumel = 128
    xnumel = 16
    r0_numel = 256
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
    x1 = xindex
    y0 = yindex
    tmp2 = tl.load(in_ptr2 + (y0), ymask, eviction_policy='evict_last')
    _tmp11 = tl.full([YBLOCK, XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK, num_stages = 2):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_2 = (r0_index % 64)
        r0_3 = r0_index // 64
        r0_4 = r0_index
        tmp0 = tl.load(in_ptr0 + (x1 + 16*y0 + 2048*r0_3 + 8192*r0_2), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
        tmp1 = tl.load(in_ptr1 + (y0 + 128*r0_4), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
        tmp3 = tmp1 + tmp2
        tmp4 = tl.full([1, 1, 1], 20.0, tl.float32)
        tmp5 = tmp3 > tmp4
        tmp6 = libdevice.exp(tmp3)
        tmp7 = libdevice.log1p(tmp6)
        tmp8 = tl.where(tmp5, tmp3, tmp7)
        tmp9 = tmp0 * tmp8
        tmp10 = tl.broadcast_to(tmp9, [YBLOCK, XBLOCK, R0_BLOCK])
        tmp12 = _tmp11 + tmp10
        _tmp11 = tl.where(r0_mask & xmask & ymask, tmp12, _tmp11)
    tmp11 = tl.sum(_tmp11, 2)[:, :, None]
    tmp14 = tl.load(in_ptr3 + (x1 + 16*y0), xmask & ymask)
    tmp13 = -tmp11
    tmp15 = libdevice.exp(tmp14)
    tmp16 = tmp13 * tmp15
    tl.store(in_out_ptr0 + (x1 + 16*y0), tmp16, xmask & ymask)
