import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_arange_cat_cos_mul_neg_sin_slice_slice_backward_unsqueeze_6(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x0 = (xindex % 16)
    x4 = xindex
    x1 = ((xindex // 16) % 64)
    x2 = ((xindex // 1024) % 4)
    x3 = xindex // 4096
    tmp35 = tl.load(in_ptr0 + (x4), None)
    tmp36 = tl.load(in_ptr1 + (x0 + 16*x2 + 64*x1 + 4096*x3), None)
    tmp38 = tl.load(in_ptr2 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = x0
    tmp1 = tl.full([1], 8, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tl.load(in_ptr0 + ((-8) + x4), tmp2, other=0.0)
    tmp4 = tl.load(in_ptr1 + ((-8) + x0 + 16*x2 + 64*x1 + 4096*x3), tmp2, other=0.0)
    tmp5 = tmp3 + tmp4
    tmp6 = tl.load(in_ptr2 + ((x4 % 8)), tmp2, eviction_policy='evict_last', other=0.0)
    tmp7 = x1
    tmp8 = tmp7.to(tl.float32)
    tmp9 = tmp8 * tmp6
    tmp10 = tl_math.sin(tmp9)
    tmp11 = 1.0
    tmp12 = tmp10 * tmp11
    tmp13 = tmp5 * tmp12
    tmp14 = -tmp13
    tmp15 = tl.full(tmp14.shape, 0.0, tmp14.dtype)
    tmp16 = tl.where(tmp2, tmp14, tmp15)
    tmp17 = 0.0
    tmp18 = tl.where(tmp2, tmp16, tmp17)
    tmp19 = tmp0 < tmp1
    tmp20 = tl.load(in_ptr0 + (8 + x4), tmp19, other=0.0)
    tmp21 = tl.load(in_ptr1 + (8 + x0 + 16*x2 + 64*x1 + 4096*x3), tmp19, other=0.0)
    tmp22 = tmp20 + tmp21
    tmp23 = tl.load(in_ptr2 + ((x4 % 8)), tmp19, eviction_policy='evict_last', other=0.0)
    tmp24 = x1
    tmp25 = tmp24.to(tl.float32)
    tmp26 = tmp25 * tmp23
    tmp27 = tl_math.sin(tmp26)
    tmp28 = 1.0
    tmp29 = tmp27 * tmp28
    tmp30 = tmp22 * tmp29
    tmp31 = tl.full(tmp30.shape, 0.0, tmp30.dtype)
    tmp32 = tl.where(tmp19, tmp30, tmp31)
    tmp33 = tl.where(tmp19, tmp32, tmp17)
    tmp34 = tmp18 + tmp33
    tmp37 = tmp35 + tmp36
    tmp39 = x1
    tmp40 = tmp39.to(tl.float32)
    tmp41 = tmp40 * tmp38
    tmp42 = tl_math.cos(tmp41)
    tmp43 = 1.0
    tmp44 = tmp42 * tmp43
    tmp45 = tmp37 * tmp44
    tmp46 = tmp34 + tmp45
    tl.store(out_ptr0 + (x4), tmp46, None)
