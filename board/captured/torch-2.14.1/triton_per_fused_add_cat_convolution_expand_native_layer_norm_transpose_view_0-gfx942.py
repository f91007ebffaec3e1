import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_cat_convolution_expand_native_layer_norm_transpose_view_0(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, out_ptr1, out_ptr2, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 788
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    x0 = (xindex % 197)
    r0_2 = r0_index
    x1 = xindex // 197
    x3 = xindex
    tmp19 = tl.load(in_ptr3 + (r0_2 + 64*x0), xmask, eviction_policy='evict_last', other=0.0)
    tmp43 = tl.load(in_ptr4 + (r0_2), None, eviction_policy='evict_last')
    tmp45 = tl.load(in_ptr5 + (r0_2), None, eviction_policy='evict_last')
    tmp0 = (x0).to(tl.int32)
    tmp1 = tl.full([1, 1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = (x0).to(tl.int64)
    tmp4 = (tmp3).to(tl.int64)
    tmp5 = tl.full([1, 1], 1, tl.int64)
    tmp6 = tmp4 < tmp5
    tmp7 = tmp6.to(tl.int1)
    tmp8 = tl.load(in_ptr0 + (tl.broadcast_to(r0_2, [XBLOCK, R0_BLOCK])), tmp7 & xmask, eviction_policy='evict_last', other=0.0)
    tmp9 = tmp0 >= tmp5
    tmp10 = tl.full([1, 1], 197, tl.int64)
    tmp11 = tmp0 < tmp10
    tmp12 = tmp9.to(tl.int1)
    tmp13 = tl.load(in_ptr1 + (196*r0_2 + 12544*x1 + ((((-1) + x0) % 196))), tmp12 & xmask, eviction_policy='evict_last', other=0.0)
    tmp14 = tl.load(in_ptr2 + (tl.broadcast_to(r0_2, [XBLOCK, R0_BLOCK])), tmp12 & xmask, eviction_policy='evict_last', other=0.0)
    tmp15 = tmp13 + tmp14
    tmp16 = tl.full(tmp15.shape, 0.0, tmp15.dtype)
    tmp17 = tl.where(tmp12, tmp15, tmp16)
    tmp18 = tl.where(tmp6, tmp8, tmp17)
    tmp20 = tmp18 + tmp19
    tmp21 = tl.broadcast_to(tmp20, [XBLOCK, R0_BLOCK])
    tmp23 = tl.where(xmask, tmp21, 0)
    tmp24 = tl.broadcast_to(tmp21, [XBLOCK, R0_BLOCK])
    tmp26 = tl.where(xmask, tmp24, 0)
    tmp27 = tl.sum(tmp26, 1)[:, None].to(tl.float32)
    tmp28 = (tl.full([1, 1], 64, tl.int32)).to(tl.float32)
    tmp29 = (tmp27 / tmp28)
    tmp30 = tmp21 - tmp29
    tmp31 = tmp30 * tmp30
    tmp32 = tl.broadcast_to(tmp31, [XBLOCK, R0_BLOCK])
    tmp34 = tl.where(xmask, tmp32, 0)
    tmp35 = tl.sum(tmp34, 1)[:, None].to(tl.float32)
    tmp36 = tl.full([1, 1], 64.0, tl.float32)
    tmp37 = (tmp35 / tmp36)
    tmp38 = tl.full([1, 1], 1e-12, tl.float32)
    tmp39 = tmp37 + tmp38
    tmp40 = tl.rsqrt(tmp39)
    tmp41 = tmp20 - tmp29
    tmp42 = tmp41 * tmp40
    tmp44 = tmp42 * tmp43
    tmp46 = tmp44 + tmp45
    tl.store(out_ptr0 + (r0_2 + 64*x3), tmp18, xmask)
    tl.store(in_out_ptr0 + (x3), tmp40, xmask)
    tl.store(out_ptr2 + (r0_2 + 64*x3), tmp46, xmask)
    tl.store(out_ptr1 + (x3), tmp29, xmask)
