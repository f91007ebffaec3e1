import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def _triton_helper_fn_mul_mul_add0(arg0_0, arg0_1, arg1_0, arg1_1):
    tmp0 = arg0_0 * arg1_0
    tmp1 = arg1_0 * arg0_1
    tmp2 = tmp1 + arg1_1
    return tmp0, tmp2


@triton.jit
def triton_per_fused__unsafe_view_clone_exp_mul_neg_permute_silu_slice_softplus_softplus_backward_split_with_sizes_transpose_unsqueeze_5(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, out_ptr1, out_ptr2, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 8192
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
    x4 = (xindex % 2048)
    r0_3 = r0_index
    x1 = ((xindex // 16) % 128)
    x2 = xindex // 2048
    x0 = (xindex % 16)
    x5 = xindex // 16
    x6 = xindex
    tmp0 = tl.load(in_ptr0 + (x4), None, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr1 + (x1 + 128*r0_3 + 8192*x2), None, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (x1), None, eviction_policy='evict_last')
    tmp13 = tl.load(in_ptr3 + (4 + x0 + 36*r0_3 + 2304*x2), None, eviction_policy='evict_last')
    tmp15 = tl.load(in_ptr4 + (r0_3 + 67*x5), None, eviction_policy='evict_last')
    tmp1 = libdevice.exp(tmp0)
    tmp2 = -tmp1
    tmp5 = tmp3 + tmp4
    tmp6 = tl.full([1, 1], 20.0, tl.float32)
    tmp7 = tmp5 > tmp6
    tmp8 = libdevice.exp(tmp5)
    tmp9 = libdevice.log1p(tmp8)
    tmp10 = tl.where(tmp7, tmp5, tmp9)
    tmp11 = tmp2 * tmp10
    tmp12 = libdevice.exp(tmp11)
    tmp14 = tmp10 * tmp13
    tmp16 = -tmp15
    tmp17 = libdevice.exp(tmp16)
    tmp18 = tl.full([1, 1], 1.0, tl.float32)
    tmp19 = tmp17 + tmp18
    tmp20 = (tmp15 / tmp19)
    tmp21 = tmp14 * tmp20
    tmp22 = tmp12.to(tl.float32)
    tmp23 = tl.broadcast_to(tmp22, [XBLOCK, R0_BLOCK])
    tmp24 = tmp21.to(tl.float32)
    tmp25 = tl.broadcast_to(tmp24, [XBLOCK, R0_BLOCK])
    tmp26, tmp27, = tl.associative_scan((tmp23, tmp25,), 1, _triton_helper_fn_mul_mul_add0)
    tl.store(out_ptr0 + (x6 + 8192*r0_3), tmp26, None)
    tl.store(out_ptr1 + (x6 + 8192*r0_3), tmp27, None)
    tl.store(out_ptr2 + (x4 + 2048*r0_3 + 131072*x2), tmp27, None)
