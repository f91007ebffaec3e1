import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__unsafe_view_add_clone_softplus_softplus_backward_squeeze_sum_transpose_unsqueeze_12(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 128
    r0_numel = 256
    R0_BLOCK: tl.constexpr = 256
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
    r0_1 = (r0_index % 64)
    r0_2 = r0_index // 64
    tmp0 = tl.load(in_ptr0 + (x0 + 128*r0_3), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp5 = tl.load(in_ptr2 + (r0_1 + 64*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp6 = tl.load(in_ptr3 + (r0_1 + 64*x0 + 8192*r0_2), xmask, eviction_policy='evict_first', other=0.0)
    tmp2 = tmp0 + tmp1
    tmp3 = tl.full([1, 1], 20.0, tl.float32)
    tmp4 = tmp2 > tmp3
    tmp7 = tmp5 + tmp6
    tmp8 = libdevice.exp(tmp2)
    tmp9 = tmp7 * tmp8
    tmp10 = tl.full([1, 1], 1.0, tl.float32)
    tmp11 = tmp8 + tmp10
    tmp12 = (tmp9 / tmp11)
    tmp13 = tl.where(tmp4, tmp7, tmp12)
    tmp14 = tl.broadcast_to(tmp13, [XBLOCK, R0_BLOCK])
    tmp16 = tl.where(xmask, tmp14, 0)
    tmp17 = tl.sum(tmp16, 1)[:, None].to(tl.float32)
    tl.store(out_ptr0 + (x0), tmp17, xmask)
