import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__unsafe_view_clone_exp_mul_neg_permute_softplus_softplus_backward_sum_transpose_unbind_unsqueeze_11(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, out_ptr1, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
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
    r0_mask = r0_index < r0_numel
    roffset = r0_offset
    rindex = r0_index
    r0_3 = r0_index
    x2 = xindex
    y0 = (yindex % 64)
    y1 = yindex // 64
    y4 = yindex
    tmp0 = tl.load(in_ptr0 + (524288 + r0_3 + 16*x2 + 2048*y1 + 8192*y0), r0_mask & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp1 = tl.load(in_ptr1 + (524288 + r0_3 + 16*x2 + 2048*y1 + 8192*y0), r0_mask & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp3 = tl.load(in_ptr2 + (x2 + 128*y4), xmask & ymask, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr3 + (x2), xmask, eviction_policy='evict_last')
    tmp11 = tl.load(in_ptr4 + (r0_3 + 36*y4), r0_mask & ymask, eviction_policy='evict_last', other=0.0)
    tmp18 = tl.load(in_ptr0 + (r0_3 + 16*x2 + 2048*y1 + 8192*y0), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp19 = tl.load(in_ptr1 + (r0_3 + 16*x2 + 2048*y1 + 8192*y0), r0_mask & xmask & ymask, eviction_policy='evict_first', other=0.0)
    tmp21 = tl.load(in_ptr5 + (r0_3 + 16*x2), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
    tmp2 = tmp0 * tmp1
    tmp5 = tmp3 + tmp4
    tmp6 = tl.full([1, 1, 1], 20.0, tl.float32)
    tmp7 = tmp5 > tmp6
    tmp8 = libdevice.exp(tmp5)
    tmp9 = libdevice.log1p(tmp8)
    tmp10 = tl.where(tmp7, tmp5, tmp9)
    tmp12 = tmp10 * tmp11
    tmp13 = tmp2 * tmp12
    tmp14 = tl.broadcast_to(tmp13, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp16 = tl.where(r0_mask & xmask & ymask, tmp14, 0)
    tmp17 = tl.sum(tmp16, 2)[:, :, None].to(tl.float32)
    tmp20 = tmp18 * tmp19
    tmp22 = libdevice.exp(tmp21)
    tmp23 = -tmp22
    tmp24 = tmp23 * tmp10
    tmp25 = libdevice.exp(tmp24)
    tmp26 = tmp20 * tmp25
    tl.store(out_ptr1 + (r0_3 + 16*x2 + 2048*y1 + 8192*y0), tmp26, r0_mask & xmask & ymask)
    tl.store(out_ptr0 + (y0 + 64*x2 + 8192*y1), tmp17, xmask & ymask)
