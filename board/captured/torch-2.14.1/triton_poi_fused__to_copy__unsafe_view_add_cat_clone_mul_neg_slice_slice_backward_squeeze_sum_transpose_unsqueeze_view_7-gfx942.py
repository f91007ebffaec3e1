import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy__unsafe_view_add_cat_clone_mul_neg_slice_slice_backward_squeeze_sum_transpose_unsqueeze_view_7(in_ptr0, in_ptr1, in_ptr2, out_ptr1, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
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
    y3 = yindex
    tmp38 = tl.load(in_ptr0 + (x2 + 64*y0 + 2048*y1), xmask & ymask)
    tmp39 = tl.load(in_ptr0 + (1024 + x2 + 64*y0 + 2048*y1), xmask & ymask)
    tmp41 = tl.load(in_ptr1 + (y0 + 16*x2 + 1024*y1), xmask & ymask)
    tmp43 = tl.load(in_ptr2 + ((y3 % 8)), ymask, eviction_policy='evict_last')
    tmp0 = (y0).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1, 1], 8, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tmp3.to(tl.int1)
    tmp5 = tl.load(in_ptr0 + ((-512) + x2 + 64*y0 + 2048*y1), tmp4 & xmask & ymask, other=0.0)
    tmp6 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp4 & xmask & ymask, other=0.0)
    tmp7 = tmp5 + tmp6
    tmp8 = tl.load(in_ptr1 + ((-8) + y0 + 16*x2 + 1024*y1), tmp4 & xmask & ymask, other=0.0)
    tmp9 = tmp7 + tmp8
    tmp10 = tl.load(in_ptr2 + (tl.broadcast_to((y3 % 8), [YBLOCK, XBLOCK])), tmp4 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp11 = (tl.broadcast_to(x2, [YBLOCK, XBLOCK])).to(tl.float32)
    tmp12 = (tmp11).to(tl.float32)
    tmp13 = tmp12 * tmp10
    tmp14 = tl_math.sin(tmp13)
    tmp15 = tmp9 * tmp14
    tmp16 = -tmp15
    tmp17 = tl.full(tmp16.shape, 0.0, tmp16.dtype)
    tmp18 = tl.where(tmp4, tmp16, tmp17)
    tmp19 = tl.full([1, 1], 0.0, tl.float32)
    tmp20 = tl.where(tmp3, tmp18, tmp19)
    tmp21 = tmp1 < tmp2
    tmp22 = tmp21.to(tl.int1)
    tmp23 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp22 & xmask & ymask, other=0.0)
    tmp24 = tl.load(in_ptr0 + (1536 + x2 + 64*y0 + 2048*y1), tmp22 & xmask & ymask, other=0.0)
    tmp25 = tmp23 + tmp24
    tmp26 = tl.load(in_ptr1 + (8 + y0 + 16*x2 + 1024*y1), tmp22 & xmask & ymask, other=0.0)
    tmp27 = tmp25 + tmp26
    tmp28 = tl.load(in_ptr2 + (tl.broadcast_to((y3 % 8), [YBLOCK, XBLOCK])), tmp22 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp29 = (tl.broadcast_to(x2, [YBLOCK, XBLOCK])).to(tl.float32)
    tmp30 = (tmp29).to(tl.float32)
    tmp31 = tmp30 * tmp28
    tmp32 = tl_math.sin(tmp31)
    tmp33 = tmp27 * tmp32
    tmp34 = tl.full(tmp33.shape, 0.0, tmp33.dtype)
    tmp35 = tl.where(tmp22, tmp33, tmp34)
    tmp36 = tl.where(tmp21, tmp35, tmp19)
    tmp37 = tmp20 + tmp36
    tmp40 = tmp38 + tmp39
    tmp42 = tmp40 + tmp41
    tmp44 = (x2).to(tl.float32)
    tmp45 = (tmp44).to(tl.float32)
    tmp46 = tmp45 * tmp43
    tmp47 = tl_math.cos(tmp46)
    tmp48 = tmp42 * tmp47
    tmp49 = tmp37 + tmp48
    tl.store(out_ptr1 + (32*x2 + 2048*(y3 // 32) + ((y3 % 32))), tmp49, xmask & ymask)
