import triton
import triton.language as tl


@triton.jit
def triton_red_fused__native_batch_norm_legit_functional_convolution_backward_max_pool2d_with_indices_backward_native_batch_norm_backward_relu_threshold_backward_7(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, out_ptr2, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 64
    r0_numel = 4096
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = xindex
    tmp1 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr2 + (x0), xmask, eviction_policy='evict_last')
    tmp5 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    _tmp16 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    _tmp20 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK, num_stages = 2):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 1024)
        r0_2 = r0_index // 1024
        tmp0 = tl.load(in_ptr0 + (r0_1 + 1024*x0 + 65536*r0_2), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp13 = tl.load(in_ptr5 + (r0_1 + 1024*x0 + 65536*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp2 = tmp0 - tmp1
        tmp4 = tmp2 * tmp3
        tmp6 = tmp4 * tmp5
        tmp8 = tmp6 + tmp7
        tmp9 = tl.full([1, 1], 0, tl.int32)
        tmp10 = tl.maximum(tmp9, tmp8, tl.PropagateNan.ALL)
        tmp11 = tl.full([1, 1], 0.0, tl.float32)
        tmp12 = tmp10 <= tmp11
        tmp14 = tl.where(tmp12, tmp11, tmp13)
        tmp15 = tl.broadcast_to(tmp14, [XBLOCK, R0_BLOCK])
        tmp17 = _tmp16 + tmp15
        _tmp16 = tl.where(r0_mask & xmask, tmp17, _tmp16)
        tmp18 = tmp14 * tmp2
        tmp19 = tl.broadcast_to(tmp18, [XBLOCK, R0_BLOCK])
        tmp21 = _tmp20 + tmp19
        _tmp20 = tl.where(r0_mask & xmask, tmp21, _tmp20)
        tl.store(in_out_ptr0 + (r0_1 + 1024*x0 + 65536*r0_2), tmp14, r0_mask & xmask)
    tmp16 = tl.sum(_tmp16, 1)[:, None]
    tmp20 = tl.sum(_tmp20, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp16, xmask)
    tmp22 = tl.load(in_ptr2 + (x0), xmask)
    tmp23 = tmp20 * tmp22
    tl.store(out_ptr2 + (x0), tmp23, xmask)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK, num_stages = 2):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 1024)
        r0_2 = r0_index // 1024
        tl.debug_barrier()
        tmp24 = tl.load(in_out_ptr0 + (r0_1 + 1024*x0 + 65536*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp25 = tl.load(in_ptr0 + (r0_1 + 1024*x0 + 65536*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp26 = tmp25 - tmp1
        tmp27 = tl.full([1, 1], 0.000244140625, tl.float32)
        tmp28 = tmp20 * tmp27
        tmp29 = tmp3 * tmp3
        tmp30 = tmp28 * tmp29
        tmp31 = tmp26 * tmp30
        tmp32 = tmp24 - tmp31
        tmp33 = tmp16 * tmp27
        tmp34 = tmp32 - tmp33
        tmp35 = tmp3 * tmp5
        tmp36 = tmp34 * tmp35
        tl.store(in_out_ptr0 + (r0_1 + 1024*x0 + 65536*r0_2), tmp36, r0_mask & xmask)
