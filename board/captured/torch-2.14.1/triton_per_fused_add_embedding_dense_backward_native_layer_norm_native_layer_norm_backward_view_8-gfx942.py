import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_embedding_dense_backward_native_layer_norm_native_layer_norm_backward_view_8(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, in_ptr9, out_ptr2, out_ptr3, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    x2 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_ptr1 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp3 = tl.load(in_ptr2 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp5 = tl.load(in_ptr3 + (r0_1), None, eviction_policy='evict_last')
    tmp11 = tl.load(in_ptr4 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp12 = tl.load(in_ptr5 + (r0_1 + 64*x2), xmask, eviction_policy='evict_last', other=0.0)
    tmp14 = tl.load(in_ptr6 + (x0), xmask, eviction_policy='evict_last')
    tmp16 = tl.load(in_ptr7 + (x0), xmask, eviction_policy='evict_last')
    tmp28 = tl.load(in_ptr8 + (x0), xmask, eviction_policy='evict_last')
    tmp45 = tl.load(in_ptr9 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp2 = tmp0 + tmp1
    tmp4 = tmp2 + tmp3
    tmp6 = tmp4 * tmp5
    tmp7 = tl.broadcast_to(tmp6, [XBLOCK, R0_BLOCK])
    tmp9 = tl.where(xmask, tmp7, 0)
    tmp10 = tl.sum(tmp9, 1)[:, None].to(tl.float32)
    tmp13 = tmp11 + tmp12
    tmp15 = tmp13 - tmp14
    tmp17 = tmp15 * tmp16
    tmp18 = tmp6 * tmp17
    tmp19 = tl.broadcast_to(tmp18, [XBLOCK, R0_BLOCK])
    tmp21 = tl.where(xmask, tmp19, 0)
    tmp22 = tl.sum(tmp21, 1)[:, None].to(tl.float32)
    tmp23 = tl.full([1, 1], 64.0, tl.float32)
    tmp24 = tmp6 * tmp23
    tmp25 = tmp24 - tmp10
    tmp26 = tmp17 * tmp22
    tmp27 = tmp25 - tmp26
    tmp29 = tl.full([1, 1], 127, tl.int64)
    tmp30 = tl.minimum(tmp29, tmp28, tl.PropagateNan.ALL)
    tmp31 = tl.full([1, 1], -128, tl.int64)
    tmp32 = tl.maximum(tmp31, tmp30, tl.PropagateNan.ALL)
    tmp33 = (tl.full([1, 1], 128, tl.int32)).to(tl.int32)
    tmp34 = tmp32 + tmp33
    tmp35 = tmp32 < 0
    tmp36 = tl.where(tmp35, tmp34, tmp32)
    tmp37 = tl.full([1, 1], 0, tl.int64)
    tmp38 = tmp28 >= tmp37
    tmp39 = tl.full([1, 1], 128, tl.int64)
    tmp40 = tmp28 < tmp39
    tmp41 = tmp38 & tmp40
    tmp42 = tl.full([1, 1], -1, tl.int64)
    tmp43 = tmp28 != tmp42
    tmp44 = tmp41 & tmp43
    tmp46 = tl.full([1, 1], 0.015625, tl.float32)
    tmp47 = tmp16 * tmp46
    tmp48 = tmp47 * tmp27
    tmp49 = tmp45 + tmp48
    tmp50 = tl.full([1, 1], 0.0, tl.float32)
    tmp51 = tl.where(tmp44, tmp49, tmp50)
    tl.store(out_ptr2 + (r0_1 + 64*x0), tmp27, xmask)
    tl.atomic_add(out_ptr3 + (tl.broadcast_to(r0_1 + 64*tmp36, [XBLOCK, R0_BLOCK])), tmp51, xmask, sem='relaxed')
