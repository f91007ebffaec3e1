import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def _triton_helper_fn_mul_fma0(arg0_0, arg0_1, arg1_0, arg1_1):
    tmp0 = arg0_0 * arg1_0
    tmp1 = tl.fma(arg1_0, arg0_1, arg1_1)
    return tmp0, tmp1


@triton.jit
def triton_per_fused__unsafe_view_bmm_cat_clone_exp_flip_mul_neg_ones_like_permute_silu_slice_softplus_softplus_backward_split_transpose_unsqueeze_view_7(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, ynumel, xnumel, r0_numel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 512
    xnumel = 16
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_3 = r0_index
    x2 = xindex
    y0 = (yindex % 128)
    y1 = yindex // 128
    y4 = yindex
    tmp33 = tl.load(in_ptr3 + (64*y0 + 8192*y1 + (((63 + ((-1)*r0_3) + 64*y1) % 64))), ymask, eviction_policy='evict_last', other=0.0)
    tmp34 = tl.load(in_ptr4 + (2268 + x2 + ((-36)*r0_3) + 2304*y1), xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp0 = (63 + ((-1)*r0_3)).to(tl.int32)
    tmp1 = tl.full([1, 1, 1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = (63 + ((-1)*r0_3)).to(tl.int64)
    tmp4 = (tmp3).to(tl.int64)
    tmp5 = tl.full([1, 1, 1], 63, tl.int64)
    tmp6 = tmp4 < tmp5
    tmp7 = tmp6.to(tl.int1)
    tmp8 = tl.load(in_ptr0 + (tl.broadcast_to(x2 + 16*y0, [YBLOCK, XBLOCK, R0_BLOCK])), tmp7 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp9 = libdevice.exp(tmp8)
    tmp10 = -tmp9
    tmp11 = tl.load(in_ptr1 + (tl.broadcast_to(128 + y0 + 128*(63 + ((-1)*r0_3)) + 8192*y1, [YBLOCK, XBLOCK, R0_BLOCK])), tmp7 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp12 = tl.load(in_ptr2 + (tl.broadcast_to(y0, [YBLOCK, XBLOCK, R0_BLOCK])), tmp7 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp13 = tmp11 + tmp12
    tmp14 = tl.full([1, 1, 1], 20.0, tl.float32)
    tmp15 = tmp13 > tmp14
    tmp16 = libdevice.exp(tmp13)
    tmp17 = libdevice.log1p(tmp16)
    tmp18 = tl.where(tmp15, tmp13, tmp17)
    tmp19 = tmp10 * tmp18
    tmp20 = libdevice.exp(tmp19)
    tmp21 = tl.full([1, 1, 1], 1.0, tl.float32)
    tmp22 = tmp21 * tmp20
    tmp23 = tl.full(tmp22.shape, 0.0, tmp22.dtype)
    tmp24 = tl.where(tmp7, tmp22, tmp23)
    tmp25 = tmp0 >= tmp5
    tmp26 = tl.full([1, 1, 1], 64, tl.int64)
    tmp27 = tmp0 < tmp26
    tmp28 = tmp25.to(tl.int1)
    tmp29 = tl.full([1, 1, 1], 1.0, tl.float32)
    tmp30 = tl.full(tmp29.shape, 0.0, tmp29.dtype)
    tmp31 = tl.where(tmp28, tmp29, tmp30)
    tmp32 = tl.where(tmp6, tmp24, tmp31)
    tmp35 = tmp33 * tmp34
    tmp36 = tmp32.to(tl.float32)
    tmp37 = tl.broadcast_to(tmp36, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp38 = tmp35.to(tl.float32)
    tmp39 = tl.broadcast_to(tmp38, [YBLOCK, XBLOCK, R0_BLOCK])
    tmp40, tmp41, = tl.associative_scan((tmp37, tmp39,), 2, _triton_helper_fn_mul_fma0)
    tl.store(out_ptr0 + (x2 + 16*y4 + 8192*r0_3), tmp41, xmask & ymask)
