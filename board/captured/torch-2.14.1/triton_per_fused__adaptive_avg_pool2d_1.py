import triton
import triton.language as tl


@triton.jit
def triton_per_fused__adaptive_avg_pool2d_1(in_out_ptr0, in_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_2 = (r0_index % 8)
    r0_3 = r0_index // 8
    x0 = (xindex % 4)
    x1 = xindex // 4
    x4 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_2 + 8*x0 + 32*r0_3 + 256*x1), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tmp5 = tl.full([1, 1], 64.0, tl.float32)
    tmp6 = (tmp4 / tmp5)
    tl.store(in_out_ptr0 + (x4), tmp6, xmask)
