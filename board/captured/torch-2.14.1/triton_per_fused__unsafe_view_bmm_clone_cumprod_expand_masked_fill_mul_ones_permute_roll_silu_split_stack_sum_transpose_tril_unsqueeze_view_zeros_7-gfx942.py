import triton
import triton.language as tl


@triton.jit
def _triton_helper_fn_mul0(arg0_0, arg1_0):
    tmp0 = arg0_0 * arg1_0
    return tmp0


@triton.jit
def triton_per_fused__unsafe_view_bmm_clone_cumprod_expand_masked_fill_mul_ones_permute_roll_silu_split_stack_sum_transpose_tril_unsqueeze_view_zeros_7(in_ptr0, in_ptr1, in_ptr2, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 1048576
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = tl.full([XBLOCK], True, tl.int1)[:, None]
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_3 = r0_index
    x1 = ((xindex // 8192) % 64)
    x0 = (xindex % 8192)
    x2 = xindex // 524288
    x7 = xindex // 8192
    x5 = ((xindex // 16) % 128)
    x6 = ((xindex // 2048) % 4)
    x4 = (xindex % 16)
    x9 = xindex
    tmp6 = tl.load(in_ptr0 + (x0 + 8192*r0_3 + 524288*x2), None, eviction_policy='evict_last')
    tmp0 = (r0_3 + ((-1)*x1)).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1, 1], 0, tl.int64)
    tmp3 = tmp1 <= tmp2
    tmp4 = tl.full([1, 1], True, tl.int1)
    tmp5 = tmp3 & tmp4
    tmp7 = tl.full([1, 1], 1.0, tl.float32)
    tmp8 = tl.where(tmp5, tmp7, tmp6)
    tmp9 = tmp8.to(tl.float32)
    tmp10 = tl.broadcast_to(tmp9, [XBLOCK, R0_BLOCK])
    tmp11, = tl.associative_scan((tmp10,), 1, _triton_helper_fn_mul0)
    tmp12 = tl.full([1, 1], -1, tl.int64)
    tmp13 = tmp1 <= tmp12
    tmp14 = tmp13 & tmp4
    tmp15 = tl.full([1, 1], 0.0, tl.float32)
    tmp16 = tl.where(tmp14, tmp15, tmp11)
    tmp17 = (r0_3 + 64*x2).to(tl.int32)
    tmp18 = tmp17 >= tmp2
    tmp19 = (r0_3 + 64*x2).to(tl.int64)
    tmp20 = (tmp19).to(tl.int64)
    tmp21 = tl.full([1, 1], 64, tl.int64)
    tmp22 = tmp20 < tmp21
    tmp23 = tmp22.to(tl.int1)
    tmp24 = tl.full([1, 1], 0.0, tl.float32)
    tmp25 = tl.full(tmp24.shape, 0.0, tmp24.dtype)
    tmp26 = tl.where(tmp23, tmp24, tmp25)
    tmp27 = tmp17 >= tmp21
    tmp28 = tl.full([1, 1], 128, tl.int64)
    tmp29 = tmp17 < tmp28
    tmp30 = tmp27.to(tl.int1)
    tmp31 = tl.load(in_ptr1 + (64*x5 + 8192*((((64*x6 + ((-64) + r0_3 + 64*x2)) // 64) % 4)) + (((64*x6 + ((-64) + r0_3 + 64*x2)) % 64))), tmp30, eviction_policy='evict_last', other=0.0)
    tmp32 = tl.load(in_ptr2 + (x4 + 36*((-64) + r0_3 + 64*x2) + 2304*x6), tmp30, eviction_policy='evict_last', other=0.0)
    tmp33 = tmp31 * tmp32
    tmp34 = tl.full(tmp33.shape, 0.0, tmp33.dtype)
    tmp35 = tl.where(tmp30, tmp33, tmp34)
    tmp36 = tl.where(tmp22, tmp26, tmp35)
    tmp37 = tmp16 * tmp36
    tmp38 = tl.broadcast_to(tmp37, [XBLOCK, R0_BLOCK])
    tmp40 = tl.sum(tmp38, 1)[:, None].to(tl.float32)
    tl.store(out_ptr1 + (x9), tmp40, None)
