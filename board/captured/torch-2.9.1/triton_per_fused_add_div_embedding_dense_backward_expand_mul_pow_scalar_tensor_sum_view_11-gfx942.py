import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_div_embedding_dense_backward_expand_mul_pow_scalar_tensor_sum_view_11(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp1 = tl.load(in_ptr1 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp3 = tl.load(in_ptr2 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp5 = tl.load(in_ptr3 + (r0_1), None, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr4 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp13 = tl.load(in_ptr5 + (x0), xmask, eviction_policy='evict_last')
    tmp16 = tl.load(in_out_ptr0 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp17 = tl.load(in_ptr6 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp4 = tmp2 + tmp3
    tmp6 = tmp4 * tmp5
    tmp8 = tmp6 * tmp7
    tmp9 = tl.broadcast_to(tmp8, [XBLOCK, R0_BLOCK])
    tmp11 = tl.where(xmask, tmp9, 0)
    tmp12 = tl.sum(tmp11, 1)[:, None].to(tl.float32)
    tmp14 = tl.full([1, 1], -1, tl.int64)
    tmp15 = tmp13 == tmp14
    tmp18 = tmp6 * tmp17
    tmp19 = tmp16 + tmp18
    tmp20 = -0.5
    tmp21 = tmp12 * tmp20
    tmp22 = tmp17 * tmp17
    tmp23 = tmp22 * tmp17
    tmp24 = tmp21 * tmp23
    tmp25 = 0.015625
    tmp26 = tmp24 * tmp25
    tmp27 = 2.0
    tmp28 = tmp7 * tmp27
    tmp29 = tmp26 * tmp28
    tmp30 = tmp19 + tmp29
    tmp31 = 0.0
    tmp32 = tl.where(tmp15, tmp31, tmp30)
    tmp33 = tl.full([XBLOCK, R0_BLOCK], 128, tl.int32)
    tmp34 = tmp13 + tmp33
    tmp35 = tmp13 < 0
    tmp36 = tl.where(tmp35, tmp34, tmp13)
    tl.device_assert(((0 <= tmp36) & (tmp36 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp36 < 128")
    tl.atomic_add(out_ptr1 + (tl.broadcast_to(r0_1 + 64*tmp36, [XBLOCK, R0_BLOCK])), tmp32, xmask, sem='relaxed')
