import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_embedding_dense_backward_expand_native_dropout_backward_native_layer_norm_backward_scalar_tensor_view_18(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, out_ptr2, out_ptr3, out_ptr4, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_mask = tl.full([XBLOCK, R0_BLOCK], True, tl.int1)
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    x2 = (xindex % 64)
    tmp0 = tl.load(in_out_ptr0 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp1 = tl.load(in_ptr0 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp3 = tl.load(in_ptr1 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp5 = tl.load(in_ptr2 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp7 = tl.load(in_ptr3 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp12 = tl.load(in_ptr4 + (r0_1), None, eviction_policy='evict_last')
    tmp18 = tl.load(in_ptr5 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp24 = tl.load(in_ptr6 + (x0), xmask, eviction_policy='evict_last')
    tmp31 = tl.load(in_ptr7 + (x2), xmask, eviction_policy='evict_last')
    tmp41 = tl.load(in_ptr8 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp4 = tmp2 + tmp3
    tmp6 = tmp4 + tmp5
    tmp8 = tmp7.to(tl.float32)
    tmp9 = 1.1111111111111112
    tmp10 = tmp8 * tmp9
    tmp11 = tmp6 * tmp10
    tmp13 = tmp11 * tmp12
    tmp14 = tl.broadcast_to(tmp13, [XBLOCK, R0_BLOCK])
    tmp16 = tl.where(xmask, tmp14, 0)
    tmp17 = tl.sum(tmp16, 1)[:, None].to(tl.float32)
    tmp19 = tmp13 * tmp18
    tmp20 = tl.broadcast_to(tmp19, [XBLOCK, R0_BLOCK])
    tmp22 = tl.where(xmask, tmp20, 0)
    tmp23 = tl.sum(tmp22, 1)[:, None].to(tl.float32)
    tmp25 = 64.0
    tmp26 = tmp13 * tmp25
    tmp27 = tmp26 - tmp17
    tmp28 = tmp18 * tmp23
    tmp29 = tmp27 - tmp28
    tmp30 = tmp24 * tmp29
    tmp32 = tl.full([XBLOCK, R0_BLOCK], 2, tl.int32)
    tmp33 = tmp31 + tmp32
    tmp34 = tmp31 < 0
    tmp35 = tl.where(tmp34, tmp33, tmp31)
    tl.device_assert(((0 <= tmp35) & (tmp35 < 2)) | ~(xmask), "index out of bounds: 0 <= tmp35 < 2")
    tmp37 = tl.full([1, 1], -1, tl.int64)
    tmp38 = tmp31 == tmp37
    tmp39 = 0.0
    tmp40 = tl.where(tmp38, tmp39, tmp30)
    tmp42 = tl.full([XBLOCK, R0_BLOCK], 128, tl.int32)
    tmp43 = tmp41 + tmp42
    tmp44 = tmp41 < 0
    tmp45 = tl.where(tmp44, tmp43, tmp41)
    tl.device_assert(((0 <= tmp45) & (tmp45 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp45 < 128")
    tmp47 = tl.full([1, 1], 0, tl.int64)
    tmp48 = tmp41 == tmp47
    tmp49 = tl.where(tmp48, tmp39, tmp30)
    tl.store(in_out_ptr0 + (r0_1 + 64*x0), tmp11, xmask)
    tl.store(out_ptr2 + (r0_1 + 64*x0), tmp30, xmask)
    tl.atomic_add(out_ptr3 + (tl.broadcast_to(r0_1 + 64*tmp35, [XBLOCK, R0_BLOCK])), tmp40, xmask, sem='relaxed')
    tl.atomic_add(out_ptr4 + (tl.broadcast_to(r0_1 + 64*tmp45, [XBLOCK, R0_BLOCK])), tmp49, xmask, sem='relaxed')
