import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused_add_embedding_mean_mul_pow_rsqrt_0(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    x0 = xindex
    r0_1 = r0_index
    tmp0 = tl.load(in_ptr0 + (x0), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr2 + (0))
    tmp4 = tl.broadcast_to(tmp3, [1, 1])
    tmp17 = tl.load(in_ptr3 + (r0_1), None, eviction_policy='evict_last')
    tl.device_assert(((0 <= tmp0) & (tmp0 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp0 < 128")
    tmp2 = tl.load(in_ptr1 + (r0_1 + 64*tmp0), xmask, eviction_policy='evict_first', other=0.0)
    tmp5 = tmp2 * tmp4
    tmp6 = tmp5 * tmp5
    tmp7 = tl.broadcast_to(tmp6, [XBLOCK, R0_BLOCK])
    tmp9 = tl.where(xmask, tmp7, 0)
    tmp10 = tl.sum(tmp9, 1)[:, None].to(tl.float32)
    tmp11 = tl.full([1, 1], 64.0, tl.float32)
    tmp12 = (tmp10 / tmp11)
    tmp13 = tl.full([1, 1], 1e-06, tl.float32)
    tmp14 = tmp12 + tmp13
    tmp15 = libdevice.rsqrt(tmp14)
    tmp16 = tmp5 * tmp15
    tmp18 = tl.full([1, 1], 1.0, tl.float32)
    tmp19 = tmp17 + tmp18
    tmp20 = tmp16 * tmp19
    tl.store(out_ptr0 + (r0_1 + 64*x0), tmp2, xmask)
    tl.store(in_out_ptr0 + (x0), tmp15, xmask)
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp20, xmask)
