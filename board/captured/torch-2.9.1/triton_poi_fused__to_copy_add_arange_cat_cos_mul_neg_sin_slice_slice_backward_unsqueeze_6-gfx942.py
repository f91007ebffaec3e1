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
    tmp37 = tl.load(in_ptr0 + (x4), None)
    tmp38 = tl.load(in_ptr1 + (x0 + 16*x2 + 64*x1 + 4096*x3), None)
    tmp40 = tl.load(in_ptr2 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = x0
    tmp1 = tl.full([1], 8, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tmp2.to(tl.int1)
    tmp4 = tl.load(in_ptr0 + ((-8) + x4), tmp3, other=0.0)
    tmp5 = tl.load(in_ptr1 + ((-8) + x0 + 16*x2 + 64*x1 + 4096*x3), tmp3, other=0.0)
    tmp6 = tmp4 + tmp5
    tmp7 = tl.load(in_ptr2 + ((x4 % 8)), tmp3, eviction_policy='evict_last', other=0.0)
    tmp8 = x1
    tmp9 = tmp8.to(tl.float32)
    tmp10 = tmp9 * tmp7
    tmp11 = tl_math.sin(tmp10)
    tmp12 = 1.0
    tmp13 = tmp11 * tmp12
    tmp14 = tmp6 * tmp13
    tmp15 = -tmp14
    tmp16 = tl.full(tmp15.shape, 0.0, tmp15.dtype)
    tmp17 = tl.where(tmp3, tmp15, tmp16)
    tmp18 = 0.0
    tmp19 = tl.where(tmp2, tmp17, tmp18)
    tmp20 = tmp0 < tmp1
    tmp21 = tmp20.to(tl.int1)
    tmp22 = tl.load(in_ptr0 + (8 + x4), tmp21, other=0.0)
    tmp23 = tl.load(in_ptr1 + (8 + x0 + 16*x2 + 64*x1 + 4096*x3), tmp21, other=0.0)
    tmp24 = tmp22 + tmp23
    tmp25 = tl.load(in_ptr2 + ((x4 % 8)), tmp21, eviction_policy='evict_last', other=0.0)
    tmp26 = x1
    tmp27 = tmp26.to(tl.float32)
    tmp28 = tmp27 * tmp25
    tmp29 = tl_math.sin(tmp28)
    tmp30 = 1.0
    tmp31 = tmp29 * tmp30
    tmp32 = tmp24 * tmp31
    tmp33 = tl.full(tmp32.shape, 0.0, tmp32.dtype)
    tmp34 = tl.where(tmp21, tmp32, tmp33)
    tmp35 = tl.where(tmp20, tmp34, tmp18)
    tmp36 = tmp19 + tmp35
    tmp39 = tmp37 + tmp38
    tmp41 = x1
    tmp42 = tmp41.to(tl.float32)
    tmp43 = tmp42 * tmp40
    tmp44 = tl_math.cos(tmp43)
    tmp45 = 1.0
    tmp46 = tmp44 * tmp45
    tmp47 = tmp39 * tmp46
    tmp48 = tmp36 + tmp47
    tl.store(out_ptr0 + (x4), tmp48, None)
