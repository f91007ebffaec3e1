import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__unsafe_view_add_cat_clone_exp_flip_mul_neg_ones_like_permute_roll_slice_softplus_softplus_backward_sum_transpose_unsqueeze_6(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, out_ptr1, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 512
    xnumel = 64
    r0_numel = 16
    R0_BLOCK: tl.constexpr = 16
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, None, :]
    r0_offset = 0
    r0_mask = r0_index < r0_numel
    roffset = r0_offset
    rindex = r0_index
    r0_3 = r0_index
    x2 = xindex
    y4 = yindex
    y0 = (yindex % 128)
    y1 = yindex // 128
    tmp0 = tl.load(in_ptr0 + (516096 + r0_3 + ((-8192)*x2) + 16*y4), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp25 = tl.load(in_ptr3 + (r0_3 + 16*y0), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
    tmp28 = tl.load(in_ptr4 + (y0 + 128*x2 + 8192*y1), xmask & ymask, eviction_policy='evict_last')
    tmp29 = tl.load(in_ptr5 + (y0), ymask, eviction_policy='evict_last')
    tmp1 = (x2).to(tl.int32)
    tmp2 = tl.full([1, 1, 1], 0, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = (x2).to(tl.int64)
    tmp5 = (tmp4).to(tl.int64)
    tmp6 = tl.full([1, 1, 1], 1, tl.int64)
    tmp7 = tmp5 < tmp6
    tmp8 = tmp7.to(tl.int1)
    tmp9 = tl.full([1, 1, 1], 1.0, tl.float32)
    tmp10 = tl.full(tmp9.shape, 0.0, tmp9.dtype)
    tmp11 = tl.where(tmp8, tmp9, tmp10)
    tmp12 = tmp1 >= tmp6
    tmp13 = tl.full([1, 1, 1], 64, tl.int64)
    tmp14 = tmp1 < tmp13
    tmp15 = tmp12.to(tl.int1)
    tmp16 = tl.load(in_ptr1 + (r0_3 + 16*y4 + 8192*(((64 + ((-1) + x2)) % 64))), r0_mask & tmp15 & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp17 = tl.full([1, 1, 1], 1.0, tl.float32)
    tmp18 = tmp17 * tmp16
    tmp19 = tl.load(in_ptr2 + (r0_3 + 16*y4 + 8192*(((64 + ((-1) + x2)) % 64))), r0_mask & tmp15 & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp20 = tmp18 + tmp19
    tmp21 = tl.full(tmp20.shape, 0.0, tmp20.dtype)
    tmp22 = tl.where(tmp15, tmp20, tmp21)
    tmp23 = tl.where(tmp7, tmp11, tmp22)
    tmp24 = tmp0 * tmp23
    tmp26 = libdevice.exp(tmp25)
    tmp27 = -tmp26
    tmp30 = tmp28 + tmp29
    tmp31 = tl.full([1, 1, 1], 20.0, tl.float32)
    tmp32 = tmp30 > tmp31
    tmp33 = libdevice.exp(tmp30)
    tmp34 = libdevice.log1p(tmp33)
    tmp35 = tl.where(tmp32, tmp30, tmp34)
    tmp36 = tmp27 * tmp35
    tmp37 = libdevice.exp(tmp36)
    tmp38 = tmp24 * tmp37
    tmp39 = tmp38 * tmp27
    tmp40 = tl.broadcast_to(tmp39, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp42 = tl.where(r0_mask & xmask & ymask, tmp40, 0)
    tmp43 = tl.sum(tmp42, 2)[:, :, None].to(tl.float32)
    tl.store(out_ptr0 + (r0_3 + 16*y0 + 2048*x2 + 131072*y1), tmp38, r0_mask & xmask & ymask)
    tl.store(out_ptr1 + (x2 + 64*y4), tmp43, xmask & ymask)
