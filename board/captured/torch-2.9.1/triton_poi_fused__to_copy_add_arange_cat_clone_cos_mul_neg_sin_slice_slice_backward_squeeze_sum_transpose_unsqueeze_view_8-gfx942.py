import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_arange_cat_clone_cos_mul_neg_sin_slice_slice_backward_squeeze_sum_transpose_unsqueeze_view_8(in_ptr0, in_ptr1, in_ptr2, out_ptr1, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 128
    xnumel = 64
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    y0 = (yindex % 16)
    x2 = xindex
    y1 = yindex // 16
    y5 = yindex
    y4 = yindex // 32
    y6 = (yindex % 32)
    tmp41 = tl.load(in_ptr0 + (x2 + 64*y0 + 2048*y1), xmask & ymask, eviction_policy='evict_last')
    tmp42 = tl.load(in_ptr0 + (1024 + x2 + 64*y0 + 2048*y1), xmask & ymask, eviction_policy='evict_last')
    tmp44 = tl.load(in_ptr1 + (y0 + 16*x2 + 1024*y1), xmask & ymask, eviction_policy='evict_last')
    tmp46 = tl.load(in_ptr2 + ((y5 % 8)), ymask, eviction_policy='evict_last')
    tmp0 = y0
    tmp1 = tl.full([1, 1], 8, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tmp2.to(tl.int1)
    tmp4 = tl.load(in_ptr0 + ((-512) + x2 + 64*y0 + 2048*y1), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp5 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp6 = tmp4 + tmp5
    tmp7 = tl.load(in_ptr1 + ((-8) + y0 + 16*x2 + 1024*y1), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp8 = tmp6 + tmp7
    tmp9 = tl.load(in_ptr2 + (tl.broadcast_to((y5 % 8), [YBLOCK, XBLOCK])), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp10 = tl.broadcast_to(x2, [YBLOCK, XBLOCK])
    tmp11 = tmp10.to(tl.float32)
    tmp12 = tmp11 * tmp9
    tmp13 = tl_math.sin(tmp12)
    tmp14 = 1.0
    tmp15 = tmp13 * tmp14
    tmp16 = tmp8 * tmp15
    tmp17 = -tmp16
    tmp18 = tl.full(tmp17.shape, 0.0, tmp17.dtype)
    tmp19 = tl.where(tmp3, tmp17, tmp18)
    tmp20 = 0.0
    tmp21 = tl.where(tmp2, tmp19, tmp20)
    tmp22 = tmp0 < tmp1
    tmp23 = tmp22.to(tl.int1)
    tmp24 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp23 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp25 = tl.load(in_ptr0 + (1536 + x2 + 64*y0 + 2048*y1), tmp23 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp26 = tmp24 + tmp25
    tmp27 = tl.load(in_ptr1 + (8 + y0 + 16*x2 + 1024*y1), tmp23 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp28 = tmp26 + tmp27
    tmp29 = tl.load(in_ptr2 + (tl.broadcast_to((y5 % 8), [YBLOCK, XBLOCK])), tmp23 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp30 = tl.broadcast_to(x2, [YBLOCK, XBLOCK])
    tmp31 = tmp30.to(tl.float32)
    tmp32 = tmp31 * tmp29
    tmp33 = tl_math.sin(tmp32)
    tmp34 = 1.0
    tmp35 = tmp33 * tmp34
    tmp36 = tmp28 * tmp35
    tmp37 = tl.full(tmp36.shape, 0.0, tmp36.dtype)
    tmp38 = tl.where(tmp23, tmp36, tmp37)
    tmp39 = tl.where(tmp22, tmp38, tmp20)
    tmp40 = tmp21 + tmp39
    tmp43 = tmp41 + tmp42
    tmp45 = tmp43 + tmp44
    tmp47 = x2
    tmp48 = tmp47.to(tl.float32)
    tmp49 = tmp48 * tmp46
    tmp50 = tl_math.cos(tmp49)
    tmp51 = 1.0
    tmp52 = tmp50 * tmp51
    tmp53 = tmp45 * tmp52
    tmp54 = tmp40 + tmp53
    tl.store(out_ptr1 + (y6 + 32*x2 + 2048*y4), tmp54, xmask & ymask)
