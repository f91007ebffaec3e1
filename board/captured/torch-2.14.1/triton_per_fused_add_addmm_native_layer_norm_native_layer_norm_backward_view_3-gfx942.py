import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_addmm_native_layer_norm_native_layer_norm_backward_view_3(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, out_ptr2, out_ptr3, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_2 = r0_index
    x3 = xindex
    x0 = (xindex % 197)
    tmp0 = tl.load(in_ptr0 + (r0_2), None, eviction_policy='evict_last')
    tmp1 = tl.load(in_out_ptr0 + (r0_2 + 64*x3), xmask, eviction_policy='evict_first', other=0.0)
    tmp3 = tl.load(in_ptr1 + (r0_2), None, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (r0_2 + 64*x3), xmask, eviction_policy='evict_first', other=0.0)
    tmp6 = tl.load(in_ptr3 + (r0_2 + 64*x3), xmask, eviction_policy='evict_first', other=0.0)
    tmp7 = tl.load(in_ptr4 + (r0_2 + 64*x0), xmask, eviction_policy='evict_last', other=0.0)
    tmp33 = tl.load(in_ptr5 + (r0_2), None, eviction_policy='evict_last')
    tmp35 = tl.load(in_ptr6 + (r0_2), None, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp5 = tmp3 + tmp4
    tmp8 = tmp6 + tmp7
    tmp9 = tmp5 + tmp8
    tmp10 = tmp2 + tmp9
    tmp11 = tl.broadcast_to(tmp10, [XBLOCK, R0_BLOCK])
    tmp13 = tl.where(xmask, tmp11, 0)
    tmp14 = tl.broadcast_to(tmp11, [XBLOCK, R0_BLOCK])
    tmp16 = tl.where(xmask, tmp14, 0)
    tmp17 = tl.sum(tmp16, 1)[:, None].to(tl.float32)
    tmp18 = (tl.full([1, 1], 64, tl.int32)).to(tl.float32)
    tmp19 = (tmp17 / tmp18)
    tmp20 = tmp11 - tmp19
    tmp21 = tmp20 * tmp20
    tmp22 = tl.broadcast_to(tmp21, [XBLOCK, R0_BLOCK])
    tmp24 = tl.where(xmask, tmp22, 0)
    tmp25 = tl.sum(tmp24, 1)[:, None].to(tl.float32)
    tmp26 = tmp10 - tmp19
    tmp27 = tl.full([1, 1], 64.0, tl.float32)
    tmp28 = (tmp25 / tmp27)
    tmp29 = tl.full([1, 1], 1e-12, tl.float32)
    tmp30 = tmp28 + tmp29
    tmp31 = tl.rsqrt(tmp30)
    tmp32 = tmp26 * tmp31
    tmp34 = tmp32 * tmp33
    tmp36 = tmp34 + tmp35
    tmp37 = tl.full([1, 1], 0.015625, tl.float32)
    tmp38 = tmp31 * tmp37
    tl.store(in_out_ptr0 + (r0_2 + 64*x3), tmp32, xmask)
    tl.store(out_ptr2 + (r0_2 + 64*x3), tmp36, xmask)
    tl.store(out_ptr3 + (x3), tmp38, xmask)
