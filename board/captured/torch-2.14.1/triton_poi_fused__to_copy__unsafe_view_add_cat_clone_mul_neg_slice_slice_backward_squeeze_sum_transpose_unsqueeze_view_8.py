import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy__unsafe_view_add_cat_clone_mul_neg_slice_slice_backward_squeeze_sum_transpose_unsqueeze_view_8(in_ptr0, in_ptr1, in_ptr2, out_ptr1, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
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
    tmp36 = tl.load(in_ptr0 + (x2 + 64*y0 + 2048*y1), xmask & ymask)
    tmp37 = tl.load(in_ptr0 + (1024 + x2 + 64*y0 + 2048*y1), xmask & ymask)
    tmp39 = tl.load(in_ptr1 + (y0 + 16*x2 + 1024*y1), xmask & ymask)
    tmp41 = tl.load(in_ptr2 + ((y3 % 8)), ymask, eviction_policy='evict_last')
    tmp0 = (y0).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1, 1], 8, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tl.load(in_ptr0 + ((-512) + x2 + 64*y0 + 2048*y1), tmp3 & xmask & ymask, other=0.0)
    tmp5 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp3 & xmask & ymask, other=0.0)
    tmp6 = tmp4 + tmp5
    tmp7 = tl.load(in_ptr1 + ((-8) + y0 + 16*x2 + 1024*y1), tmp3 & xmask & ymask, other=0.0)
    tmp8 = tmp6 + tmp7
    tmp9 = tl.load(in_ptr2 + (tl.broadcast_to((y3 % 8), [YBLOCK, XBLOCK])), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp10 = (tl.broadcast_to(x2, [YBLOCK, XBLOCK])).to(tl.float32)
    tmp11 = (tmp10).to(tl.float32)
    tmp12 = tmp11 * tmp9
    tmp13 = tl_math.sin(tmp12)
    tmp14 = tmp8 * tmp13
    tmp15 = -tmp14
    tmp16 = tl.full(tmp15.shape, 0.0, tmp15.dtype)
    tmp17 = tl.where(tmp3, tmp15, tmp16)
    tmp18 = tl.full([1, 1], 0.0, tl.float32)
    tmp19 = tl.where(tmp3, tmp17, tmp18)
    tmp20 = tmp1 < tmp2
    tmp21 = tl.load(in_ptr0 + (512 + x2 + 64*y0 + 2048*y1), tmp20 & xmask & ymask, other=0.0)
    tmp22 = tl.load(in_ptr0 + (1536 + x2 + 64*y0 + 2048*y1), tmp20 & xmask & ymask, other=0.0)
    tmp23 = tmp21 + tmp22
    tmp24 = tl.load(in_ptr1 + (8 + y0 + 16*x2 + 1024*y1), tmp20 & xmask & ymask, other=0.0)
    tmp25 = tmp23 + tmp24
    tmp26 = tl.load(in_ptr2 + (tl.broadcast_to((y3 % 8), [YBLOCK, XBLOCK])), tmp20 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp27 = (tl.broadcast_to(x2, [YBLOCK, XBLOCK])).to(tl.float32)
    tmp28 = (tmp27).to(tl.float32)
    tmp29 = tmp28 * tmp26
    tmp30 = tl_math.sin(tmp29)
    tmp31 = tmp25 * tmp30
    tmp32 = tl.full(tmp31.shape, 0.0, tmp31.dtype)
    tmp33 = tl.where(tmp20, tmp31, tmp32)
    tmp34 = tl.where(tmp20, tmp33, tmp18)
    tmp35 = tmp19 + tmp34
    tmp38 = tmp36 + tmp37
    tmp40 = tmp38 + tmp39
    tmp42 = (x2).to(tl.float32)
    tmp43 = (tmp42).to(tl.float32)
    tmp44 = tmp43 * tmp41
    tmp45 = tl_math.cos(tmp44)
    tmp46 = tmp40 * tmp45
    tmp47 = tmp35 + tmp46
    tl.store(out_ptr1 + (32*x2 + 2048*(y3 // 32) + ((y3 % 32))), tmp47, xmask & ymask)
