import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__unsafe_view_add_cat_clone_exp_flip_mul_neg_ones_like_permute_roll_slice_softplus_softplus_backward_sum_transpose_unsqueeze_5(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, out_ptr1, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
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
    tmp23 = tl.load(in_ptr3 + (r0_3 + 16*y0), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
    tmp26 = tl.load(in_ptr4 + (y0 + 128*x2 + 8192*y1), xmask & ymask, eviction_policy='evict_last')
    tmp27 = tl.load(in_ptr5 + (y0), ymask, eviction_policy='evict_last')
    tmp1 = (x2).to(tl.int32)
    tmp2 = tl.full([1, 1, 1], 0, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = (x2).to(tl.int64)
    tmp5 = (tmp4).to(tl.int64)
    tmp6 = tl.full([1, 1, 1], 1, tl.int64)
    tmp7 = tmp5 < tmp6
    tmp8 = tl.full([1, 1, 1], 1.0, tl.float32)
    tmp9 = tl.full(tmp8.shape, 0.0, tmp8.dtype)
    tmp10 = tl.where(tmp7, tmp8, tmp9)
    tmp11 = tmp1 >= tmp6
    tmp12 = tl.full([1, 1, 1], 64, tl.int64)
    tmp13 = tmp1 < tmp12
    tmp14 = tl.load(in_ptr1 + (r0_3 + 16*y4 + 8192*(((64 + ((-1) + x2)) % 64))), r0_mask & tmp11 & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp15 = tl.full([1, 1, 1], 1.0, tl.float32)
    tmp16 = tmp15 * tmp14
    tmp17 = tl.load(in_ptr2 + (r0_3 + 16*y4 + 8192*(((64 + ((-1) + x2)) % 64))), r0_mask & tmp11 & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp18 = tmp16 + tmp17
    tmp19 = tl.full(tmp18.shape, 0.0, tmp18.dtype)
    tmp20 = tl.where(tmp11, tmp18, tmp19)
    tmp21 = tl.where(tmp7, tmp10, tmp20)
    tmp22 = tmp0 * tmp21
    tmp24 = libdevice.exp(tmp23)
    tmp25 = -tmp24
    tmp28 = tmp26 + tmp27
    tmp29 = tl.full([1, 1, 1], 20.0, tl.float32)
    tmp30 = tmp28 > tmp29
    tmp31 = libdevice.exp(tmp28)
    tmp32 = libdevice.log1p(tmp31)
    tmp33 = tl.where(tmp30, tmp28, tmp32)
    tmp34 = tmp25 * tmp33
    tmp35 = libdevice.exp(tmp34)
    tmp36 = tmp22 * tmp35
    tmp37 = tmp36 * tmp25
    tmp38 = tl.broadcast_to(tmp37, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp40 = tl.where(r0_mask & xmask & ymask, tmp38, 0)
    tmp41 = tl.sum(tmp40, 2)[:, :, None].to(tl.float32)
    tl.store(out_ptr0 + (r0_3 + 16*y0 + 2048*x2 + 131072*y1), tmp36, r0_mask & xmask & ymask)
    tl.store(out_ptr1 + (x2 + 64*y4), tmp41, xmask & ymask)
