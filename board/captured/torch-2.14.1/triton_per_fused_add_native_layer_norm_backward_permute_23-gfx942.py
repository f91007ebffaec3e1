import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_native_layer_norm_backward_permute_23(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_3 = r0_index
    x0 = xindex
    r0_1 = (r0_index % 256)
    r0_2 = r0_index // 256
    tmp0 = tl.load(in_ptr0 + (x0 + 32*r0_3), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_ptr1 + (r0_1 + 256*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp3 = tl.load(in_ptr2 + (r0_1 + 256*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp4 = tl.load(in_ptr3 + (r0_3), None, eviction_policy='evict_last')
    tmp6 = tl.load(in_ptr4 + (r0_3), None, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp5 = tmp3 - tmp4
    tmp7 = tmp5 * tmp6
    tmp8 = tmp2 * tmp7
    tmp9 = tl.broadcast_to(tmp8, [XBLOCK, R0_BLOCK])
    tmp11 = tl.where(xmask, tmp9, 0)
    tmp12 = tl.sum(tmp11, 1)[:, None].to(tl.float32)
    tl.store(out_ptr0 + (x0), tmp12, xmask)
