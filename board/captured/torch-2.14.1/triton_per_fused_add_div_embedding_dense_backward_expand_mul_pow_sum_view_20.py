import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_div_embedding_dense_backward_expand_mul_pow_sum_view_20(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_ptr1 + (r0_1), None, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr2 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp9 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp26 = tl.load(in_ptr4 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp27 = tl.load(in_ptr5 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 * tmp1
    tmp4 = tmp2 * tmp3
    tmp5 = tl.broadcast_to(tmp4, [XBLOCK, R0_BLOCK])
    tmp7 = tl.where(xmask, tmp5, 0)
    tmp8 = tl.sum(tmp7, 1)[:, None].to(tl.float32)
    tmp10 = tl.full([1, 1], 127, tl.int64)
    tmp11 = tl.minimum(tmp10, tmp9, tl.PropagateNan.ALL)
    tmp12 = tl.full([1, 1], -128, tl.int64)
    tmp13 = tl.maximum(tmp12, tmp11, tl.PropagateNan.ALL)
    tmp14 = (tl.full([1, 1], 128, tl.int32)).to(tl.int32)
    tmp15 = tmp13 + tmp14
    tmp16 = tmp13 < 0
    tmp17 = tl.where(tmp16, tmp15, tmp13)
    tmp18 = tl.full([1, 1], 0, tl.int64)
    tmp19 = tmp9 >= tmp18
    tmp20 = tl.full([1, 1], 128, tl.int64)
    tmp21 = tmp9 < tmp20
    tmp22 = tmp19 & tmp21
    tmp23 = tl.full([1, 1], -1, tl.int64)
    tmp24 = tmp9 != tmp23
    tmp25 = tmp22 & tmp24
    tmp28 = tmp2 * tmp27
    tmp29 = tmp26 + tmp28
    tmp30 = tl.full([1, 1], -0.5, tl.float32)
    tmp31 = tmp8 * tmp30
    tmp32 = tmp27 * tmp27
    tmp33 = tmp32 * tmp27
    tmp34 = tmp31 * tmp33
    tmp35 = tl.full([1, 1], 0.015625, tl.float32)
    tmp36 = tmp34 * tmp35
    tmp37 = tl.full([1, 1], 2.0, tl.float32)
    tmp38 = tmp3 * tmp37
    tmp39 = tmp36 * tmp38
    tmp40 = tmp29 + tmp39
    tmp41 = tl.full([1, 1], 0.0, tl.float32)
    tmp42 = tl.where(tmp25, tmp40, tmp41)
    tl.atomic_add(out_ptr1 + (tl.broadcast_to(r0_1 + 64*tmp17, [XBLOCK, R0_BLOCK])), tmp42, xmask, sem='relaxed')
