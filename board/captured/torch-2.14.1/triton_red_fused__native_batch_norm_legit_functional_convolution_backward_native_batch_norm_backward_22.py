import triton
import triton.language as tl


@triton.jit
def triton_red_fused__native_batch_norm_legit_functional_convolution_backward_native_batch_norm_backward_22(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
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
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 1024)
        r0_2 = r0_index // 1024
        tmp0 = tl.load(in_ptr0 + (r0_1 + 1024*x0 + 65536*r0_2), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp2, xmask)
    tmp6 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp8 = tl.load(in_ptr2 + (x0), xmask, eviction_policy='evict_last')
    tmp11 = tl.load(in_ptr3 + (x0), xmask, eviction_policy='evict_last')
    tmp18 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = (r0_index % 1024)
        r0_2 = r0_index // 1024
        r0_3 = r0_index
        tmp4 = tl.load(in_ptr0 + (r0_1 + 1024*x0 + 65536*r0_2), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp5 = tl.load(in_out_ptr0 + (x0 + 64*r0_3), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp7 = tmp5 - tmp6
        tmp9 = tl.full([1, 1], 0.000244140625, tl.float32)
        tmp10 = tmp8 * tmp9
        tmp12 = tmp11 * tmp11
        tmp13 = tmp10 * tmp12
        tmp14 = tmp7 * tmp13
        tmp15 = tmp4 - tmp14
        tmp16 = tmp2 * tmp9
        tmp17 = tmp15 - tmp16
        tmp19 = tmp11 * tmp18
        tmp20 = tmp17 * tmp19
        tl.store(in_out_ptr0 + (x0 + 64*r0_3), tmp20, r0_mask & xmask)
