import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_native_dropout_backward_native_layer_norm_backward_select_backward_2(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr2, out_ptr3, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 256
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
    x0 = (xindex % 64)
    x1 = xindex // 64
    tmp0 = tl.load(in_ptr0 + (r0_2 + 64*x3), xmask, eviction_policy='evict_first', other=0.0)
    tmp4 = tl.load(in_ptr1 + (r0_2 + 64*x1), xmask, eviction_policy='evict_last', other=0.0)
    tmp8 = tl.load(in_ptr2 + (r0_2), None, eviction_policy='evict_last')
    tmp14 = tl.load(in_ptr3 + (r0_2 + 64*x3), xmask, eviction_policy='evict_first', other=0.0)
    tmp20 = tl.load(in_ptr4 + (x3), xmask, eviction_policy='evict_last')
    tmp27 = tl.load(in_ptr5 + (r0_2 + 64*x3), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = (x0).to(tl.int32)
    tmp2 = tl.full([1, 1], 0, tl.int32)
    tmp3 = tmp1 == tmp2
    tmp5 = tl.full([1, 1], 0.0, tl.float32)
    tmp6 = tl.where(tmp3, tmp4, tmp5)
    tmp7 = tmp0 + tmp6
    tmp9 = tmp7 * tmp8
    tmp10 = tl.broadcast_to(tmp9, [XBLOCK, R0_BLOCK])
    tmp12 = tl.where(xmask, tmp10, 0)
    tmp13 = tl.sum(tmp12, 1)[:, None].to(tl.float32)
    tmp15 = tmp9 * tmp14
    tmp16 = tl.broadcast_to(tmp15, [XBLOCK, R0_BLOCK])
    tmp18 = tl.where(xmask, tmp16, 0)
    tmp19 = tl.sum(tmp18, 1)[:, None].to(tl.float32)
    tmp21 = tl.full([1, 1], 64.0, tl.float32)
    tmp22 = tmp9 * tmp21
    tmp23 = tmp22 - tmp13
    tmp24 = tmp14 * tmp19
    tmp25 = tmp23 - tmp24
    tmp26 = tmp20 * tmp25
    tmp28 = tmp27.to(tl.float32)
    tmp29 = tl.full([1, 1], 1.1111111111111112, tl.float32)
    tmp30 = tmp28 * tmp29
    tmp31 = tmp26 * tmp30
    tl.store(out_ptr2 + (r0_2 + 64*x3), tmp26, xmask)
    tl.store(out_ptr3 + (r0_2 + 64*x3), tmp31, xmask)
