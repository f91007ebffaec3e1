import triton
import triton.language as tl


@triton.jit
def triton_per_fused_convolution_backward_native_batch_norm_backward_threshold_backward_2(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, out_ptr2, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 32
    r0_numel = 1024
    R0_BLOCK: tl.constexpr = 1024
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
    r0_1 = (r0_index % 256)
    r0_2 = r0_index // 256
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (r0_1 + 256*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp3 = tl.load(in_ptr0 + (r0_1 + 256*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp9 = tl.load(in_ptr1 + (r0_1 + 256*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp10 = tl.load(in_ptr2 + (x0), xmask, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr3 + (x0), xmask)
    tmp21 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp28 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    tmp1 = tl.full([1, 1], 0.0, tl.float32)
    tmp2 = tmp0 <= tmp1
    tmp4 = tl.where(tmp2, tmp1, tmp3)
    tmp5 = tl.broadcast_to(tmp4, [XBLOCK, R0_BLOCK])
    tmp7 = tl.where(xmask, tmp5, 0)
    tmp8 = tl.sum(tmp7, 1)[:, None].to(tl.float32)
    tmp11 = tmp9 - tmp10
    tmp12 = tmp4 * tmp11
    tmp13 = tl.broadcast_to(tmp12, [XBLOCK, R0_BLOCK])
    tmp15 = tl.where(xmask, tmp13, 0)
    tmp16 = tl.sum(tmp15, 1)[:, None].to(tl.float32)
    tmp18 = tmp16 * tmp17
    tmp19 = tl.full([1, 1], 0.0009765625, tl.float32)
    tmp20 = tmp16 * tmp19
    tmp22 = tmp21 * tmp21
    tmp23 = tmp20 * tmp22
    tmp24 = tmp11 * tmp23
    tmp25 = tmp4 - tmp24
    tmp26 = tmp8 * tmp19
    tmp27 = tmp25 - tmp26
    tmp29 = tmp21 * tmp28
    tmp30 = tmp27 * tmp29
    tl.store(out_ptr2 + (x0), tmp18, xmask)
    tl.store(in_out_ptr0 + (r0_1 + 256*x0 + 8192*r0_2), tmp30, xmask)
    tl.store(out_ptr0 + (x0), tmp8, xmask)
