import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__safe_softmax__softmax_backward_data_add_expand_native_dropout_backward_scalar_tensor_view_where_12(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_mask = tl.full([XBLOCK, R0_BLOCK], True, tl.int1)
    roffset = r0_offset
    rindex = r0_index
    x3 = xindex
    r0_2 = r0_index
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (x3), xmask, eviction_policy='evict_last')
    tmp1 = tl.load(in_out_ptr0 + (r0_2 + 64*x3), xmask, other=0.0)
    tmp2 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr2 + (x3), xmask, eviction_policy='evict_last')
    tmp10 = tl.load(in_ptr3 + (x3), xmask, eviction_policy='evict_last')
    tmp13 = tl.load(in_ptr4 + (r0_2 + 64*x3), xmask, other=0.0)
    tmp14 = tl.load(in_ptr5 + (r0_2 + 64*x3), xmask, other=0.0)
    tmp3 = 0.0
    tmp4 = float("-inf")
    tmp5 = tl.where(tmp2, tmp3, tmp4)
    tmp6 = tmp1 + tmp5
    tmp8 = tmp6 - tmp7
    tmp9 = libdevice.exp(tmp8)
    tmp11 = (tmp9 / tmp10)
    tmp12 = tl.where(tmp0, tmp3, tmp11)
    tmp15 = tmp14.to(tl.float32)
    tmp16 = 1.1111111111111112
    tmp17 = tmp15 * tmp16
    tmp18 = tmp13 * tmp17
    tmp19 = tmp18 * tmp12
    tmp20 = tl.broadcast_to(tmp19, [XBLOCK, R0_BLOCK])
    tmp22 = tl.where(xmask, tmp20, 0)
    tmp23 = tl.sum(tmp22, 1)[:, None].to(tl.float32)
    tmp24 = -tmp12
    tmp25 = libdevice.fma(tmp24, tmp23, tmp19)
    tl.store(in_out_ptr0 + (r0_2 + 64*x3), tmp25, xmask)
