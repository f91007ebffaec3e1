import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_arange_cat_clone_cos_mul_neg_sin_slice_slice_backward_transpose_unsqueeze_8(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x0 = (xindex % 16)
    x4 = xindex
    x2 = ((xindex // 64) % 64)
    tmp31 = tl.load(in_ptr0 + (x4), None)
    tmp32 = tl.load(in_ptr1 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = x0
    tmp1 = tl.full([1], 8, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tl.load(in_ptr0 + ((-8) + x4), tmp2, other=0.0)
    tmp4 = tl.load(in_ptr1 + ((x4 % 8)), tmp2, eviction_policy='evict_last', other=0.0)
    tmp5 = x2
    tmp6 = tmp5.to(tl.float32)
    tmp7 = tmp6 * tmp4
    tmp8 = tl_math.sin(tmp7)
    tmp9 = 1.0
    tmp10 = tmp8 * tmp9
    tmp11 = tmp3 * tmp10
    tmp12 = -tmp11
    tmp13 = tl.full(tmp12.shape, 0.0, tmp12.dtype)
    tmp14 = tl.where(tmp2, tmp12, tmp13)
    tmp15 = 0.0
    tmp16 = tl.where(tmp2, tmp14, tmp15)
    tmp17 = tmp0 < tmp1
    tmp18 = tl.load(in_ptr0 + (8 + x4), tmp17, other=0.0)
    tmp19 = tl.load(in_ptr1 + ((x4 % 8)), tmp17, eviction_policy='evict_last', other=0.0)
    tmp20 = x2
    tmp21 = tmp20.to(tl.float32)
    tmp22 = tmp21 * tmp19
    tmp23 = tl_math.sin(tmp22)
    tmp24 = 1.0
    tmp25 = tmp23 * tmp24
    tmp26 = tmp18 * tmp25
    tmp27 = tl.full(tmp26.shape, 0.0, tmp26.dtype)
    tmp28 = tl.where(tmp17, tmp26, tmp27)
    tmp29 = tl.where(tmp17, tmp28, tmp15)
    tmp30 = tmp16 + tmp29
    tmp33 = x2
    tmp34 = tmp33.to(tl.float32)
    tmp35 = tmp34 * tmp32
    tmp36 = tl_math.cos(tmp35)
    tmp37 = 1.0
    tmp38 = tmp36 * tmp37
    tmp39 = tmp31 * tmp38
    tmp40 = tmp30 + tmp39
    tl.store(out_ptr0 + (x4), tmp40, None)
