import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__unsafe_view_add_clone_exp_mul_neg_select_backward_softplus_sum_transpose_unsqueeze_zeros_74(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, in_ptr9, out_ptr0, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 256
    xnumel = 128
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
    r0_mask = tl.full([YBLOCK, XBLOCK, R0_BLOCK], True, tl.int1)
    roffset = r0_offset
    rindex = r0_index
    r0_3 = r0_index
    x2 = xindex
    y0 = (yindex % 64)
    y1 = yindex // 64
    y4 = yindex
    tmp0 = tl.load(in_ptr0 + (r0_3 + 16*y0 + 1024*x2 + 131072*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp1 = tl.load(in_ptr1 + (x2 + 128*y4), xmask & ymask, eviction_policy='evict_last')
    tmp2 = tl.load(in_ptr2 + (x2), xmask, eviction_policy='evict_last')
    tmp9 = tl.load(in_ptr3 + (r0_3 + 36*y4), ymask, eviction_policy='evict_last', other=0.0)
    tmp16 = tl.load(in_out_ptr0 + (r0_3 + 16*y0 + 1024*x2 + 131072*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp20 = tl.load(in_ptr4 + (r0_3 + 16*x2 + 2048*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp21 = tl.load(in_ptr5 + (r0_3 + 16*x2 + 2048*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp28 = tl.load(in_ptr6 + (r0_3 + 16*x2 + 2048*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp29 = tl.load(in_ptr7 + (r0_3 + 16*x2 + 2048*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp35 = tl.load(in_ptr8 + (r0_3 + 16*x2 + 2048*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp39 = tl.load(in_ptr9 + (r0_3 + 16*x2), xmask, eviction_policy='evict_last', other=0.0)
    tmp3 = tmp1 + tmp2
    tmp4 = 20.0
    tmp5 = tmp3 > tmp4
    tmp6 = libdevice.exp(tmp3)
    tmp7 = libdevice.log1p(tmp6)
    tmp8 = tl.where(tmp5, tmp3, tmp7)
    tmp10 = tmp8 * tmp9
    tmp11 = tmp0 * tmp10
    tmp12 = tl.broadcast_to(tmp11, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp14 = tl.where(xmask & ymask, tmp12, 0)
    tmp15 = tl.sum(tmp14, 2)[:, :, None].to(tl.float32)
    tmp17 = y0
    tmp18 = tl.full([1, 1, 1], 2, tl.int32)
    tmp19 = tmp17 == tmp18
    tmp22 = tmp20 * tmp21
    tmp23 = 0.0
    tmp24 = tl.where(tmp19, tmp22, tmp23)
    tmp25 = tmp16 + tmp24
    tmp26 = tl.full([1, 1, 1], 1, tl.int32)
    tmp27 = tmp17 == tmp26
    tmp30 = tmp28 * tmp29
    tmp31 = tl.where(tmp27, tmp30, tmp23)
    tmp32 = tmp25 + tmp31
    tmp33 = tl.full([1, 1, 1], 0, tl.int32)
    tmp34 = tmp17 == tmp33
    tmp36 = tmp35 * tmp23
    tmp37 = tl.where(tmp34, tmp36, tmp23)
    tmp38 = tmp32 + tmp37
    tmp40 = libdevice.exp(tmp39)
    tmp41 = -tmp40
    tmp42 = tmp41 * tmp8
    tmp43 = libdevice.exp(tmp42)
    tmp44 = tmp38 * tmp43
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (r0_3 + 16*y0 + 1024*x2 + 131072*y1), tmp44, xmask & ymask)
    tl.store(out_ptr0 + (y0 + 64*x2 + 8192*y1), tmp15, xmask & ymask)
