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
def _triton_helper_fn_mul_fma1(arg0_0, arg0_1, arg1_0, arg1_1):
    tmp0 = arg0_0 * arg1_0
    tmp1 = tl.fma(arg1_0, arg0_1, arg1_1)
    return tmp0, tmp1


@triton.jit
def triton_per_fused__unsafe_view_cat_clone_exp_flip_mul_neg_ones_like_permute_silu_slice_softplus_softplus_backward_split_with_sizes_transpose_unsqueeze_zeros_4(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, out_ptr1, out_ptr2, out_ptr3, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp28 = (63 + ((-1)*r0_3)).to(tl.int32)
    tmp29 = tl.full([1, 1], 0, tl.int64)
    tmp30 = tmp28 >= tmp29
    tmp31 = (63 + ((-1)*r0_3)).to(tl.int64)
    tmp32 = (tmp31).to(tl.int64)
    tmp33 = tl.full([1, 1], 63, tl.int64)
    tmp34 = tmp32 < tmp33
    tmp35 = tmp34.to(tl.int1)
    tmp36 = tl.load(in_ptr0 + (tl.broadcast_to(x4, [XBLOCK, R0_BLOCK])), tmp35, eviction_policy='evict_last', other=0.0)
    tmp37 = libdevice.exp(tmp36)
    tmp38 = -tmp37
    tmp39 = tl.load(in_ptr1 + (128 + x1 + 128*(63 + ((-1)*r0_3)) + 8192*x2), tmp35, eviction_policy='evict_last', other=0.0)
    tmp40 = tl.load(in_ptr2 + (tl.broadcast_to(x1, [XBLOCK, R0_BLOCK])), tmp35, eviction_policy='evict_last', other=0.0)
    tmp41 = tmp39 + tmp40
    tmp42 = tl.full([1, 1], 20.0, tl.float32)
    tmp43 = tmp41 > tmp42
    tmp44 = libdevice.exp(tmp41)
    tmp45 = libdevice.log1p(tmp44)
    tmp46 = tl.where(tmp43, tmp41, tmp45)
    tmp47 = tmp38 * tmp46
    tmp48 = libdevice.exp(tmp47)
    tmp49 = tl.full(tmp48.shape, 0.0, tmp48.dtype)
    tmp50 = tl.where(tmp35, tmp48, tmp49)
    tmp51 = tmp28 >= tmp33
    tmp52 = tl.full([1, 1], 64, tl.int64)
    tmp53 = tmp28 < tmp52
    tmp54 = tmp51.to(tl.int1)
    tmp55 = tl.full([1, 1], 1.0, tl.float32)
    tmp56 = tl.full(tmp55.shape, 0.0, tmp55.dtype)
    tmp57 = tl.where(tmp54, tmp55, tmp56)
    tmp58 = tl.where(tmp34, tmp50, tmp57)
    tmp59 = tl.full([1, 1], 0.0, tl.float32)
    tmp60 = tmp58.to(tl.float32)
    tmp61 = tl.broadcast_to(tmp60, [XBLOCK, R0_BLOCK])
    tmp62 = tmp59.to(tl.float32)
    tmp63 = tl.broadcast_to(tmp62, [XBLOCK, R0_BLOCK])
    tmp64, tmp65, = tl.associative_scan((tmp61, tmp63,), 1, _triton_helper_fn_mul_fma1)
    tl.store(out_ptr0 + (x6 + 8192*r0_3), tmp26, None)
    tl.store(out_ptr1 + (x6 + 8192*r0_3), tmp27, None)
    tl.store(out_ptr2 + (x6 + 8192*r0_3), tmp65, None)
    tl.store(out_ptr3 + (x4 + 2048*r0_3 + 131072*x2), tmp27, None)
