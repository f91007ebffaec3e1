import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def fmaximum(a, b):
    return tl.maximum(a, b)


@triton.jit
def fmax2(a, dim):
    return tl.reduce(a, dim, fmaximum)


@triton.jit
def triton_per_fused__softmax_add_bitwise_and_div_expand_gt_le_mul_new_ones_prepare_softmax_online_scalar_tensor_sub_tanh_unsqueeze_view_where_zeros_4(in_ptr0, out_ptr2, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_2 = r0_index
    x3 = xindex
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (r0_2 + 64*x3), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.full([1, 1], 0.0625, tl.float32)
    tmp2 = tmp0 * tmp1
    tmp3 = tl.full([1, 1], 0.02, tl.float32)
    tmp4 = tmp2 * tmp3
    tmp5 = libdevice.tanh(tmp4)
    tmp6 = tl.full([1, 1], 50.0, tl.float32)
    tmp7 = tmp5 * tmp6
    tmp8 = (r0_2).to(tl.int64)
    tmp9 = (tmp8).to(tl.int64)
    tmp10 = ((-4096) + x0).to(tl.int64)
    tmp11 = (tmp10).to(tl.int64)
    tmp12 = tmp9 > tmp11
    tmp13 = tl.full([1, 1], True, tl.int1)
    tmp14 = tmp13 & tmp12
    tmp15 = (x0).to(tl.int64)
    tmp16 = (tmp15).to(tl.int64)
    tmp17 = tmp9 <= tmp16
    tmp18 = tmp14 & tmp17
    tmp19 = tl.full([1, 1], 0.0, tl.float32)
    tmp20 = tl.full([1, 1], -3.4028234663852886e+38, tl.float32)
    tmp21 = tl.where(tmp18, tmp19, tmp20)
    tmp22 = tmp7 + tmp21
    tmp23 = tl.broadcast_to(tmp22, [XBLOCK, R0_BLOCK])
    tmp25 = tl.broadcast_to(tmp23, [XBLOCK, R0_BLOCK])
    tmp27 = tl.where(xmask, tmp25, float("-inf"))
    tmp28 = fmax2(tmp27, 1)[:, None].to(tl.float32)
    tmp29 = tmp23 - tmp28
    tmp30 = libdevice.exp(tmp29)
    tmp31 = tl.broadcast_to(tmp30, [XBLOCK, R0_BLOCK])
    tmp33 = tl.where(xmask, tmp31, 0)
    tmp34 = tl.sum(tmp33, 1)[:, None].to(tl.float32)
    tmp35 = tmp22 - tmp28
    tmp36 = libdevice.exp(tmp35)
    tmp37 = (tmp36 / tmp34)
    tl.store(out_ptr2 + (r0_2 + 64*x3), tmp37, xmask)
