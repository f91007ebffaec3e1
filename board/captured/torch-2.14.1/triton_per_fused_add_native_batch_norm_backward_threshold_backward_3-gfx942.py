import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_native_batch_norm_backward_threshold_backward_3(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, out_ptr2, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 64
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
    tmp0 = tl.load(in_ptr0 + (r0_1 + 256*x0 + 16384*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp3 = tl.load(in_ptr1 + (r0_1 + 256*x0 + 16384*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp4 = tl.load(in_ptr2 + (r0_1 + 256*x0 + 16384*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp11 = tl.load(in_out_ptr0 + (r0_1 + 256*x0 + 16384*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp12 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp19 = tl.load(in_ptr4 + (x0), xmask)
    tmp23 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    tmp30 = tl.load(in_ptr5 + (x0), xmask, eviction_policy='evict_last')
    tmp1 = tl.full([1, 1], 0.0, tl.float32)
    tmp2 = tmp0 <= tmp1
    tmp5 = tmp3 + tmp4
    tmp6 = tl.where(tmp2, tmp1, tmp5)
    tmp7 = tl.broadcast_to(tmp6, [XBLOCK, R0_BLOCK])
    tmp9 = tl.where(xmask, tmp7, 0)
    tmp10 = tl.sum(tmp9, 1)[:, None].to(tl.float32)
    tmp13 = tmp11 - tmp12
    tmp14 = tmp6 * tmp13
    tmp15 = tl.broadcast_to(tmp14, [XBLOCK, R0_BLOCK])
    tmp17 = tl.where(xmask, tmp15, 0)
    tmp18 = tl.sum(tmp17, 1)[:, None].to(tl.float32)
    tmp20 = tmp18 * tmp19
    tmp21 = tl.full([1, 1], 0.0009765625, tl.float32)
    tmp22 = tmp18 * tmp21
    tmp24 = tmp23 * tmp23
    tmp25 = tmp22 * tmp24
    tmp26 = tmp13 * tmp25
    tmp27 = tmp6 - tmp26
    tmp28 = tmp10 * tmp21
    tmp29 = tmp27 - tmp28
    tmp31 = tmp23 * tmp30
    tmp32 = tmp29 * tmp31
    tl.store(out_ptr2 + (x0), tmp20, xmask)
    tl.store(in_out_ptr0 + (r0_1 + 256*x0 + 16384*r0_2), tmp32, xmask)
    tl.store(out_ptr0 + (x0), tmp10, xmask)
