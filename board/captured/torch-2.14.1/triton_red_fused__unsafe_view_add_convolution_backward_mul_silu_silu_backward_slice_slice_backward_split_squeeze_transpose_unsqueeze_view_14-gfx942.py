import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_red_fused__unsafe_view_add_convolution_backward_mul_silu_silu_backward_slice_slice_backward_split_squeeze_transpose_unsqueeze_view_14(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 128
    r0_numel = 268
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = xindex
    _tmp31 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK, num_stages = 2):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 67)
        r0_2 = r0_index // 67
        tmp0 = (r0_1).to(tl.int64)
        tmp1 = (tmp0).to(tl.int64)
        tmp2 = tl.full([1, 1], 64, tl.int64)
        tmp3 = tmp1 < tmp2
        tmp4 = tmp3.to(tl.int1)
        tmp5 = tl.load(in_ptr0 + (x0 + 128*r0_1 + 8192*r0_2), r0_mask & tmp4 & xmask, eviction_policy='evict_first', other=0.0)
        tmp6 = tl.load(in_ptr1 + (128 + x0 + 256*r0_1 + 16384*r0_2), r0_mask & tmp4 & xmask, eviction_policy='evict_first', other=0.0)
        tmp7 = -tmp6
        tmp8 = libdevice.exp(tmp7)
        tmp9 = tl.full([1, 1], 1.0, tl.float32)
        tmp10 = tmp8 + tmp9
        tmp11 = (tmp6 / tmp10)
        tmp12 = tmp5 * tmp11
        tmp13 = tl.load(in_ptr2 + (tl.broadcast_to(x0, [XBLOCK, R0_BLOCK])), r0_mask & tmp4 & xmask, eviction_policy='evict_last', other=0.0)
        tmp14 = tmp12 * tmp13
        tmp15 = tl.load(in_ptr3 + (r0_1 + 64*x0 + 8192*r0_2), r0_mask & tmp4 & xmask, eviction_policy='evict_first', other=0.0)
        tmp16 = tmp14 + tmp15
        tmp17 = tl.load(in_ptr4 + (x0 + 128*r0_1 + 8192*r0_2), r0_mask & tmp4 & xmask, eviction_policy='evict_first', other=0.0)
        tmp18 = tmp16 + tmp17
        tmp19 = tl.load(in_out_ptr0 + (r0_1 + 67*x0 + 8576*r0_2), r0_mask & tmp4 & xmask, eviction_policy='evict_first', other=0.0)
        tmp20 = tl.sigmoid(tmp19)
        tmp21 = tmp18 * tmp20
        tmp22 = tmp9 - tmp20
        tmp23 = tmp19 * tmp22
        tmp24 = tmp23 + tmp9
        tmp25 = tmp21 * tmp24
        tmp26 = tl.full(tmp25.shape, 0.0, tmp25.dtype)
        tmp27 = tl.where(tmp4, tmp25, tmp26)
        tmp28 = tl.full([1, 1], 0.0, tl.float32)
        tmp29 = tl.where(tmp3, tmp27, tmp28)
        tmp30 = tl.broadcast_to(tmp29, [XBLOCK, R0_BLOCK])
        tmp32 = _tmp31 + tmp30
        _tmp31 = tl.where(r0_mask & xmask, tmp32, _tmp31)
        tl.store(in_out_ptr0 + (r0_1 + 67*x0 + 8576*r0_2), tmp29, r0_mask & xmask)
    tmp31 = tl.sum(_tmp31, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp31, xmask)
