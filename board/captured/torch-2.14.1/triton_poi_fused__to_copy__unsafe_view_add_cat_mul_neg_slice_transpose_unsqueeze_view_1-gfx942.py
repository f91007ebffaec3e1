import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy__unsafe_view_add_cat_mul_neg_slice_transpose_unsqueeze_view_1(in_ptr0, in_ptr1, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 8192
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 64)
    x2 = ((xindex // 1024) % 2)
    x3 = xindex // 2048
    x5 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 16*x2 + 32*x1 + 2048*x3), None)
    tmp1 = tl.load(in_ptr1 + ((x5 % 8)), None, eviction_policy='evict_last')
    tmp2 = (x1).to(tl.float32)
    tmp3 = (tmp2).to(tl.float32)
    tmp4 = tmp3 * tmp1
    tmp5 = tl_math.cos(tmp4)
    tmp6 = tmp0 * tmp5
    tmp7 = (x0).to(tl.int32)
    tmp8 = tl.full([1], 0, tl.int64)
    tmp9 = tmp7 >= tmp8
    tmp10 = (x0).to(tl.int64)
    tmp11 = (tmp10).to(tl.int64)
    tmp12 = tl.full([1], 8, tl.int64)
    tmp13 = tmp11 < tmp12
    tmp14 = tmp13.to(tl.int1)
    tmp15 = tl.load(in_ptr0 + (8 + 16*x2 + 32*x1 + 2048*x3 + (x0)), tmp14, eviction_policy='evict_last', other=0.0)
    tmp16 = -tmp15
    tmp17 = tl.full(tmp16.shape, 0.0, tmp16.dtype)
    tmp18 = tl.where(tmp14, tmp16, tmp17)
    tmp19 = tmp7 >= tmp12
    tmp20 = tl.full([1], 16, tl.int64)
    tmp21 = tmp7 < tmp20
    tmp22 = tmp19.to(tl.int1)
    tmp23 = tl.load(in_ptr0 + (16*x2 + 32*x1 + 2048*x3 + ((-8) + x0)), tmp22, eviction_policy='evict_last', other=0.0)
    tmp24 = tl.where(tmp13, tmp18, tmp23)
    tmp25 = tl_math.sin(tmp4)
    tmp26 = tmp24 * tmp25
    tmp27 = tmp6 + tmp26
    tl.store(out_ptr0 + (x5), tmp27, None)
    tl.store(out_ptr1 + (x0 + 16*x2 + 32*x1 + 2048*x3), tmp27, None)
