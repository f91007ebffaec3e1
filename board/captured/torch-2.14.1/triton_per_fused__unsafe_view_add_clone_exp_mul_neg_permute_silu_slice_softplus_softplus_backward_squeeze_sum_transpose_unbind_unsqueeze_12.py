import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__unsafe_view_add_clone_exp_mul_neg_permute_silu_slice_softplus_softplus_backward_squeeze_sum_transpose_unbind_unsqueeze_12(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, out_ptr0, out_ptr1, out_ptr2, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
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
    y1 = yindex // 128
    y0 = (yindex % 128)
    tmp0 = tl.load(in_ptr0 + (524288 + r0_3 + 16*y4 + 8192*x2), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_ptr1 + (524288 + r0_3 + 16*y4 + 8192*x2), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp3 = tl.load(in_ptr2 + (x2 + 67*y4), xmask & ymask, eviction_policy='evict_last')
    tmp10 = tl.load(in_ptr3 + (r0_3 + 36*x2 + 2304*y1), r0_mask & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp16 = tl.load(in_ptr4 + (r0_3 + 16*y4 + 8192*x2), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp17 = tl.load(in_ptr5 + (r0_3 + 16*y0), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
    tmp25 = tl.load(in_ptr6 + (y0 + 128*x2 + 8192*y1), xmask & ymask)
    tmp26 = tl.load(in_ptr7 + (y0), ymask, eviction_policy='evict_last')
    tmp2 = tmp0 * tmp1
    tmp4 = -tmp3
    tmp5 = libdevice.exp(tmp4)
    tmp6 = tl.full([1, 1, 1], 1.0, tl.float32)
    tmp7 = tmp5 + tmp6
    tmp8 = (tmp3 / tmp7)
    tmp9 = tmp2 * tmp8
    tmp11 = tmp9 * tmp10
    tmp12 = tl.broadcast_to(tmp11, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp14 = tl.where(r0_mask & xmask & ymask, tmp12, 0)
    tmp15 = tl.sum(tmp14, 2)[:, :, None].to(tl.float32)
    tmp18 = libdevice.exp(tmp17)
    tmp19 = -tmp18
    tmp20 = tmp16 * tmp19
    tmp21 = tl.broadcast_to(tmp20, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp23 = tl.where(r0_mask & xmask & ymask, tmp21, 0)
    tmp24 = tl.sum(tmp23, 2)[:, :, None].to(tl.float32)
    tmp27 = tmp25 + tmp26
    tmp28 = tl.full([1, 1, 1], 20.0, tl.float32)
    tmp29 = tmp27 > tmp28
    tmp30 = tmp15 + tmp24
    tmp31 = libdevice.exp(tmp27)
    tmp32 = tmp30 * tmp31
    tmp33 = tmp31 + tmp6
    tmp34 = (tmp32 / tmp33)
    tmp35 = tl.where(tmp29, tmp30, tmp34)
    tl.store(out_ptr2 + (y0 + 128*x2 + 8192*y1), tmp35, xmask & ymask)
    tl.store(out_ptr0 + (x2 + 64*y4), tmp15, xmask & ymask)
    tl.store(out_ptr1 + (x2 + 64*y4), tmp24, xmask & ymask)
