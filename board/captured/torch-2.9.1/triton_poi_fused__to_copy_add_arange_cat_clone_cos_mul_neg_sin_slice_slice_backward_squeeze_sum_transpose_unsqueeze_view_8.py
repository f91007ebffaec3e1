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
    tmp39 = tl.load(in_ptr0 + (x2 + 64*y0 + 2048*y1), xmask & ymask, eviction_policy='evict_last')
    tmp40 = tl.load(in_ptr0 + (1024 + x2 + 64*y0 + 2048*y1), xmask & ymask, eviction_policy='evict_last')
    tmp42 = tl.load(in_ptr1 + (y0 + 16*x2 + 1024*y1), xmask & ymask, eviction_policy='evict_last')
    tmp44 = tl.load(in_ptr2 + ((y5 % 8)), ymask, eviction_policy='evict_last')
    tmp0 = y0
    tmp1 = tl.full([1, 1], 8, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tl.load(in_ptr0 + ((-512) + x2 + 64*y0 + 2048*y1), tmp2 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp4 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp2 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp5 = tmp3 + tmp4
    tmp6 = tl.load(in_ptr1 + ((-8) + y0 + 16*x2 + 1024*y1), tmp2 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp7 = tmp5 + tmp6
    tmp8 = tl.load(in_ptr2 + (tl.broadcast_to((y5 % 8), [YBLOCK, XBLOCK])), tmp2 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp9 = tl.broadcast_to(x2, [YBLOCK, XBLOCK])
    tmp10 = tmp9.to(tl.float32)
    tmp11 = tmp10 * tmp8
    tmp12 = tl_math.sin(tmp11)
    tmp13 = 1.0
    tmp14 = tmp12 * tmp13
    tmp15 = tmp7 * tmp14
    tmp16 = -tmp15
    tmp17 = tl.full(tmp16.shape, 0.0, tmp16.dtype)
    tmp18 = tl.where(tmp2, tmp16, tmp17)
    tmp19 = 0.0
    tmp20 = tl.where(tmp2, tmp18, tmp19)
    tmp21 = tmp0 < tmp1
    tmp22 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp21 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp23 = tl.load(in_ptr0 + (1536 + x2 + 64*y0 + 2048*y1), tmp21 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp24 = tmp22 + tmp23
    tmp25 = tl.load(in_ptr1 + (8 + y0 + 16*x2 + 1024*y1), tmp21 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp26 = tmp24 + tmp25
    tmp27 = tl.load(in_ptr2 + (tl.broadcast_to((y5 % 8), [YBLOCK, XBLOCK])), tmp21 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp28 = tl.broadcast_to(x2, [YBLOCK, XBLOCK])
    tmp29 = tmp28.to(tl.float32)
    tmp30 = tmp29 * tmp27
    tmp31 = tl_math.sin(tmp30)
    tmp32 = 1.0
    tmp33 = tmp31 * tmp32
    tmp34 = tmp26 * tmp33
    tmp35 = tl.full(tmp34.shape, 0.0, tmp34.dtype)
    tmp36 = tl.where(tmp21, tmp34, tmp35)
    tmp37 = tl.where(tmp21, tmp36, tmp19)
    tmp38 = tmp20 + tmp37
    tmp41 = tmp39 + tmp40
    tmp43 = tmp41 + tmp42
    tmp45 = x2
    tmp46 = tmp45.to(tl.float32)
    tmp47 = tmp46 * tmp44
    tmp48 = tl_math.cos(tmp47)
    tmp49 = 1.0
    tmp50 = tmp48 * tmp49
    tmp51 = tmp43 * tmp50
    tmp52 = tmp38 + tmp51
    tl.store(out_ptr1 + (y6 + 32*x2 + 2048*y4), tmp52, xmask & ymask)
