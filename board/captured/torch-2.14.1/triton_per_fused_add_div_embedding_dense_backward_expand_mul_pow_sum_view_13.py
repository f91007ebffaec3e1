import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_div_embedding_dense_backward_expand_mul_pow_sum_view_13(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp9 = tl.load(in_ptr4 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp10 = tl.load(in_ptr5 + (0))
    tmp11 = tl.broadcast_to(tmp10, [1, 1])
    tmp18 = tl.load(in_out_ptr0 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp19 = tl.load(in_ptr6 + (x0), xmask, eviction_policy='evict_last')
    tmp33 = tl.load(in_ptr7 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp4 = tmp2 + tmp3
    tmp6 = tl.full([1, 1], 1.0, tl.float32)
    tmp7 = tmp5 + tmp6
    tmp8 = tmp4 * tmp7
    tmp12 = tmp9 * tmp11
    tmp13 = tmp8 * tmp12
    tmp14 = tl.broadcast_to(tmp13, [XBLOCK, R0_BLOCK])
    tmp16 = tl.where(xmask, tmp14, 0)
    tmp17 = tl.sum(tmp16, 1)[:, None].to(tl.float32)
    tmp20 = tmp8 * tmp19
    tmp21 = tmp18 + tmp20
    tmp22 = tl.full([1, 1], -0.5, tl.float32)
    tmp23 = tmp17 * tmp22
    tmp24 = tmp19 * tmp19
    tmp25 = tmp24 * tmp19
    tmp26 = tmp23 * tmp25
    tmp27 = tl.full([1, 1], 0.015625, tl.float32)
    tmp28 = tmp26 * tmp27
    tmp29 = tl.full([1, 1], 2.0, tl.float32)
    tmp30 = tmp12 * tmp29
    tmp31 = tmp28 * tmp30
    tmp32 = tmp21 + tmp31
    tmp34 = tl.full([1, 1], 127, tl.int64)
    tmp35 = tl.minimum(tmp34, tmp33, tl.PropagateNan.ALL)
    tmp36 = tl.full([1, 1], -128, tl.int64)
    tmp37 = tl.maximum(tmp36, tmp35, tl.PropagateNan.ALL)
    tmp38 = (tl.full([1, 1], 128, tl.int32)).to(tl.int32)
    tmp39 = tmp37 + tmp38
    tmp40 = tmp37 < 0
    tmp41 = tl.where(tmp40, tmp39, tmp37)
    tmp42 = tl.full([1, 1], 0, tl.int64)
    tmp43 = tmp33 >= tmp42
    tmp44 = tl.full([1, 1], 128, tl.int64)
    tmp45 = tmp33 < tmp44
    tmp46 = tmp43 & tmp45
    tmp47 = tmp33 != tmp42
    tmp48 = tmp46 & tmp47
    tmp49 = tmp32 * tmp11
    tmp50 = tl.full([1, 1], 0.0, tl.float32)
    tmp51 = tl.where(tmp48, tmp49, tmp50)
    tl.atomic_add(out_ptr1 + (tl.broadcast_to(r0_1 + 64*tmp41, [XBLOCK, R0_BLOCK])), tmp51, xmask, sem='relaxed')
