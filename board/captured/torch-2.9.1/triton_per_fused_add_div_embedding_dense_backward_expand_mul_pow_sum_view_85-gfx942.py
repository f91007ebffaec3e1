import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_div_embedding_dense_backward_expand_mul_pow_sum_view_85(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp1 = tl.load(in_ptr1 + (r0_1), None, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr2 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp9 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr4 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp18 = tl.load(in_ptr5 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 * tmp1
    tmp4 = tmp2 * tmp3
    tmp5 = tl.broadcast_to(tmp4, [XBLOCK, R0_BLOCK])
    tmp7 = tl.where(xmask, tmp5, 0)
    tmp8 = tl.sum(tmp7, 1)[:, None].to(tl.float32)
    tmp10 = tl.full([XBLOCK, R0_BLOCK], 128, tl.int32)
    tmp11 = tmp9 + tmp10
    tmp12 = tmp9 < 0
    tmp13 = tl.where(tmp12, tmp11, tmp9)
    tl.device_assert(((0 <= tmp13) & (tmp13 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp13 < 128")
    tmp15 = tl.full([1, 1], -1, tl.int64)
    tmp16 = tmp9 == tmp15
    tmp19 = tmp2 * tmp18
    tmp20 = tmp17 + tmp19
    tmp21 = -0.5
    tmp22 = tmp8 * tmp21
    tmp23 = tmp18 * tmp18
    tmp24 = tmp23 * tmp18
    tmp25 = tmp22 * tmp24
    tmp26 = 0.015625
    tmp27 = tmp25 * tmp26
    tmp28 = 2.0
    tmp29 = tmp3 * tmp28
    tmp30 = tmp27 * tmp29
    tmp31 = tmp20 + tmp30
    tmp32 = 0.0
    tmp33 = tl.where(tmp16, tmp32, tmp31)
    tl.atomic_add(out_ptr1 + (tl.broadcast_to(r0_1 + 64*tmp13, [XBLOCK, R0_BLOCK])), tmp33, xmask, sem='relaxed')
