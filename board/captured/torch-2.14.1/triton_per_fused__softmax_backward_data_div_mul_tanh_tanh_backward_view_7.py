import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__softmax_backward_data_div_mul_tanh_tanh_backward_view_7(in_out_ptr0, in_ptr0, in_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 1024
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
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_out_ptr0 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp11 = tl.load(in_ptr1 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp2 = tmp0 * tmp1
    tmp3 = tl.broadcast_to(tmp2, [XBLOCK, R0_BLOCK])
    tmp5 = tl.where(xmask, tmp3, 0)
    tmp6 = tl.sum(tmp5, 1)[:, None].to(tl.float32)
    tmp7 = -tmp1
    tmp8 = tl.fma(tmp7, tmp6, tmp2)
    tmp9 = tl.full([1, 1], 50.0, tl.float32)
    tmp10 = tmp8 * tmp9
    tmp12 = tl.full([1, 1], 0.0625, tl.float32)
    tmp13 = tmp11 * tmp12
    tmp14 = tl.full([1, 1], 0.02, tl.float32)
    tmp15 = tmp13 * tmp14
    tmp16 = libdevice.tanh(tmp15)
    tmp17 = tmp16 * tmp16
    tmp18 = tl.full([1, 1], 1.0, tl.float32)
    tmp19 = tmp18 - tmp17
    tmp20 = tmp10 * tmp19
    tmp21 = tmp20 * tmp14
    tmp22 = tmp21 * tmp12
    tl.store(in_out_ptr0 + (r0_1 + 64*x0), tmp22, xmask)
