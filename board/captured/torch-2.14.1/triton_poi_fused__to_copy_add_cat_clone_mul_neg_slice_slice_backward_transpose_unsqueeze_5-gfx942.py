import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_cat_clone_mul_neg_slice_slice_backward_transpose_unsqueeze_5(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 4)
    x2 = ((xindex // 64) % 64)
    x3 = xindex // 4096
    x4 = xindex
    tmp34 = tl.load(in_ptr0 + (x0 + 16*x2 + 1024*x1 + 4096*x3), None)
    tmp35 = tl.load(in_ptr1 + (x4), None)
    tmp37 = tl.load(in_ptr2 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = (x0).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1], 8, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tmp3.to(tl.int1)
    tmp5 = tl.load(in_ptr0 + ((-8) + x0 + 16*x2 + 1024*x1 + 4096*x3), tmp4, other=0.0)
    tmp6 = tl.load(in_ptr1 + ((-8) + x4), tmp4, other=0.0)
    tmp7 = tmp5 + tmp6
    tmp8 = tl.load(in_ptr2 + ((x4 % 8)), tmp4, eviction_policy='evict_last', other=0.0)
    tmp9 = (x2).to(tl.float32)
    tmp10 = (tmp9).to(tl.float32)
    tmp11 = tmp10 * tmp8
    tmp12 = tl_math.sin(tmp11)
    tmp13 = tmp7 * tmp12
    tmp14 = -tmp13
    tmp15 = tl.full(tmp14.shape, 0.0, tmp14.dtype)
    tmp16 = tl.where(tmp4, tmp14, tmp15)
    tmp17 = tl.full([1], 0.0, tl.float32)
    tmp18 = tl.where(tmp3, tmp16, tmp17)
    tmp19 = tmp1 < tmp2
    tmp20 = tmp19.to(tl.int1)
    tmp21 = tl.load(in_ptr0 + (8 + x0 + 16*x2 + 1024*x1 + 4096*x3), tmp20, other=0.0)
    tmp22 = tl.load(in_ptr1 + (8 + x4), tmp20, other=0.0)
    tmp23 = tmp21 + tmp22
    tmp24 = tl.load(in_ptr2 + ((x4 % 8)), tmp20, eviction_policy='evict_last', other=0.0)
    tmp25 = (x2).to(tl.float32)
    tmp26 = (tmp25).to(tl.float32)
    tmp27 = tmp26 * tmp24
    tmp28 = tl_math.sin(tmp27)
    tmp29 = tmp23 * tmp28
    tmp30 = tl.full(tmp29.shape, 0.0, tmp29.dtype)
    tmp31 = tl.where(tmp20, tmp29, tmp30)
    tmp32 = tl.where(tmp19, tmp31, tmp17)
    tmp33 = tmp18 + tmp32
    tmp36 = tmp34 + tmp35
    tmp38 = (x2).to(tl.float32)
    tmp39 = (tmp38).to(tl.float32)
    tmp40 = tmp39 * tmp37
    tmp41 = tl_math.cos(tmp40)
    tmp42 = tmp36 * tmp41
    tmp43 = tmp33 + tmp42
    tl.store(out_ptr0 + (x4), tmp43, None)
