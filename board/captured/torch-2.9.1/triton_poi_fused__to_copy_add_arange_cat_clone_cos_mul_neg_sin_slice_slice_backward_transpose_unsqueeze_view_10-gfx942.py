import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_arange_cat_clone_cos_mul_neg_sin_slice_slice_backward_transpose_unsqueeze_view_10(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x0 = (xindex % 16)
    x4 = xindex
    x1 = ((xindex // 16) % 64)
    x2 = ((xindex // 1024) % 4)
    x3 = xindex // 4096
    tmp33 = tl.load(in_ptr0 + (x4), None)
    tmp34 = tl.load(in_ptr1 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = x0
    tmp1 = tl.full([1], 8, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tmp2.to(tl.int1)
    tmp4 = tl.load(in_ptr0 + ((-8) + x4), tmp3, other=0.0)
    tmp5 = tl.load(in_ptr1 + ((x4 % 8)), tmp3, eviction_policy='evict_last', other=0.0)
    tmp6 = x1
    tmp7 = tmp6.to(tl.float32)
    tmp8 = tmp7 * tmp5
    tmp9 = tl_math.sin(tmp8)
    tmp10 = 1.0
    tmp11 = tmp9 * tmp10
    tmp12 = tmp4 * tmp11
    tmp13 = -tmp12
    tmp14 = tl.full(tmp13.shape, 0.0, tmp13.dtype)
    tmp15 = tl.where(tmp3, tmp13, tmp14)
    tmp16 = 0.0
    tmp17 = tl.where(tmp2, tmp15, tmp16)
    tmp18 = tmp0 < tmp1
    tmp19 = tmp18.to(tl.int1)
    tmp20 = tl.load(in_ptr0 + (8 + x4), tmp19, other=0.0)
    tmp21 = tl.load(in_ptr1 + ((x4 % 8)), tmp19, eviction_policy='evict_last', other=0.0)
    tmp22 = x1
    tmp23 = tmp22.to(tl.float32)
    tmp24 = tmp23 * tmp21
    tmp25 = tl_math.sin(tmp24)
    tmp26 = 1.0
    tmp27 = tmp25 * tmp26
    tmp28 = tmp20 * tmp27
    tmp29 = tl.full(tmp28.shape, 0.0, tmp28.dtype)
    tmp30 = tl.where(tmp19, tmp28, tmp29)
    tmp31 = tl.where(tmp18, tmp30, tmp16)
    tmp32 = tmp17 + tmp31
    tmp35 = x1
    tmp36 = tmp35.to(tl.float32)
    tmp37 = tmp36 * tmp34
    tmp38 = tl_math.cos(tmp37)
    tmp39 = 1.0
    tmp40 = tmp38 * tmp39
    tmp41 = tmp33 * tmp40
    tmp42 = tmp32 + tmp41
    tl.store(out_ptr0 + (x0 + 16*x2 + 64*x1 + 4096*x3), tmp42, None)
