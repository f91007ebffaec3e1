import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_cat_clone_mul_neg_slice_slice_backward_transpose_unsqueeze_6(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 4)
    x2 = ((xindex // 64) % 64)
    x3 = xindex // 4096
    x4 = xindex
    tmp32 = tl.load(in_ptr0 + (x0 + 16*x2 + 1024*x1 + 4096*x3), None)
    tmp33 = tl.load(in_ptr1 + (x4), None)
    tmp35 = tl.load(in_ptr2 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = (x0).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1], 8, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tl.load(in_ptr0 + ((-8) + x0 + 16*x2 + 1024*x1 + 4096*x3), tmp3, other=0.0)
    tmp5 = tl.load(in_ptr1 + ((-8) + x4), tmp3, other=0.0)
    tmp6 = tmp4 + tmp5
    tmp7 = tl.load(in_ptr2 + ((x4 % 8)), tmp3, eviction_policy='evict_last', other=0.0)
    tmp8 = (x2).to(tl.float32)
    tmp9 = (tmp8).to(tl.float32)
    tmp10 = tmp9 * tmp7
    tmp11 = tl_math.sin(tmp10)
    tmp12 = tmp6 * tmp11
    tmp13 = -tmp12
    tmp14 = tl.full(tmp13.shape, 0.0, tmp13.dtype)
    tmp15 = tl.where(tmp3, tmp13, tmp14)
    tmp16 = tl.full([1], 0.0, tl.float32)
    tmp17 = tl.where(tmp3, tmp15, tmp16)
    tmp18 = tmp1 < tmp2
    tmp19 = tl.load(in_ptr0 + (8 + x0 + 16*x2 + 1024*x1 + 4096*x3), tmp18, other=0.0)
    tmp20 = tl.load(in_ptr1 + (8 + x4), tmp18, other=0.0)
    tmp21 = tmp19 + tmp20
    tmp22 = tl.load(in_ptr2 + ((x4 % 8)), tmp18, eviction_policy='evict_last', other=0.0)
    tmp23 = (x2).to(tl.float32)
    tmp24 = (tmp23).to(tl.float32)
    tmp25 = tmp24 * tmp22
    tmp26 = tl_math.sin(tmp25)
    tmp27 = tmp21 * tmp26
    tmp28 = tl.full(tmp27.shape, 0.0, tmp27.dtype)
    tmp29 = tl.where(tmp18, tmp27, tmp28)
    tmp30 = tl.where(tmp18, tmp29, tmp16)
    tmp31 = tmp17 + tmp30
    tmp34 = tmp32 + tmp33
    tmp36 = (x2).to(tl.float32)
    tmp37 = (tmp36).to(tl.float32)
    tmp38 = tmp37 * tmp35
    tmp39 = tl_math.cos(tmp38)
    tmp40 = tmp34 * tmp39
    tmp41 = tmp31 + tmp40
    tl.store(out_ptr0 + (x4), tmp41, None)
