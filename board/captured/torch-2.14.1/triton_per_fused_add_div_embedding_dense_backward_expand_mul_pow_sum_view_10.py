import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_div_embedding_dense_backward_expand_mul_pow_sum_view_10(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp1 = tl.load(in_ptr1 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp3 = tl.load(in_ptr2 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp5 = tl.load(in_ptr3 + (r0_1), None, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr4 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp13 = tl.load(in_ptr5 + (x0), xmask, eviction_policy='evict_last')
    tmp30 = tl.load(in_ptr6 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp31 = tl.load(in_ptr7 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp4 = tmp2 + tmp3
    tmp6 = tmp4 * tmp5
    tmp8 = tmp6 * tmp7
    tmp9 = tl.broadcast_to(tmp8, [XBLOCK, R0_BLOCK])
    tmp11 = tl.where(xmask, tmp9, 0)
    tmp12 = tl.sum(tmp11, 1)[:, None].to(tl.float32)
    tmp14 = tl.full([1, 1], 127, tl.int64)
    tmp15 = tl.minimum(tmp14, tmp13, tl.PropagateNan.ALL)
    tmp16 = tl.full([1, 1], -128, tl.int64)
    tmp17 = tl.maximum(tmp16, tmp15, tl.PropagateNan.ALL)
    tmp18 = (tl.full([1, 1], 128, tl.int32)).to(tl.int32)
    tmp19 = tmp17 + tmp18
    tmp20 = tmp17 < 0
    tmp21 = tl.where(tmp20, tmp19, tmp17)
    tmp22 = tl.full([1, 1], 0, tl.int64)
    tmp23 = tmp13 >= tmp22
    tmp24 = tl.full([1, 1], 128, tl.int64)
    tmp25 = tmp13 < tmp24
    tmp26 = tmp23 & tmp25
    tmp27 = tl.full([1, 1], -1, tl.int64)
    tmp28 = tmp13 != tmp27
    tmp29 = tmp26 & tmp28
    tmp32 = tmp6 * tmp31
    tmp33 = tmp30 + tmp32
    tmp34 = tl.full([1, 1], -0.5, tl.float32)
    tmp35 = tmp12 * tmp34
    tmp36 = tmp31 * tmp31
    tmp37 = tmp36 * tmp31
    tmp38 = tmp35 * tmp37
    tmp39 = tl.full([1, 1], 0.015625, tl.float32)
    tmp40 = tmp38 * tmp39
    tmp41 = tl.full([1, 1], 2.0, tl.float32)
    tmp42 = tmp7 * tmp41
    tmp43 = tmp40 * tmp42
    tmp44 = tmp33 + tmp43
    tmp45 = tl.full([1, 1], 0.0, tl.float32)
    tmp46 = tl.where(tmp29, tmp44, tmp45)
    tl.atomic_add(out_ptr1 + (tl.broadcast_to(r0_1 + 64*tmp21, [XBLOCK, R0_BLOCK])), tmp46, xmask, sem='relaxed')
