import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_cat_clone_mul_neg_slice_slice_backward_transpose_unsqueeze_view_10(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 16)
    x4 = xindex
    x1 = ((xindex // 16) % 64)
    x2 = ((xindex // 1024) % 4)
    x3 = xindex // 4096
    tmp28 = tl.load(in_ptr0 + (x4), None)
    tmp29 = tl.load(in_ptr1 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = (x0).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1], 8, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tl.load(in_ptr0 + ((-8) + x4), tmp3, other=0.0)
    tmp5 = tl.load(in_ptr1 + ((x4 % 8)), tmp3, eviction_policy='evict_last', other=0.0)
    tmp6 = (x1).to(tl.float32)
    tmp7 = (tmp6).to(tl.float32)
    tmp8 = tmp7 * tmp5
    tmp9 = tl_math.sin(tmp8)
    tmp10 = tmp4 * tmp9
    tmp11 = -tmp10
    tmp12 = tl.full(tmp11.shape, 0.0, tmp11.dtype)
    tmp13 = tl.where(tmp3, tmp11, tmp12)
    tmp14 = tl.full([1], 0.0, tl.float32)
    tmp15 = tl.where(tmp3, tmp13, tmp14)
    tmp16 = tmp1 < tmp2
    tmp17 = tl.load(in_ptr0 + (8 + x4), tmp16, other=0.0)
    tmp18 = tl.load(in_ptr1 + ((x4 % 8)), tmp16, eviction_policy='evict_last', other=0.0)
    tmp19 = (x1).to(tl.float32)
    tmp20 = (tmp19).to(tl.float32)
    tmp21 = tmp20 * tmp18
    tmp22 = tl_math.sin(tmp21)
    tmp23 = tmp17 * tmp22
    tmp24 = tl.full(tmp23.shape, 0.0, tmp23.dtype)
    tmp25 = tl.where(tmp16, tmp23, tmp24)
    tmp26 = tl.where(tmp16, tmp25, tmp14)
    tmp27 = tmp15 + tmp26
    tmp30 = (x1).to(tl.float32)
    tmp31 = (tmp30).to(tl.float32)
    tmp32 = tmp31 * tmp29
    tmp33 = tl_math.cos(tmp32)
    tmp34 = tmp28 * tmp33
    tmp35 = tmp27 + tmp34
    tl.store(out_ptr0 + (x0 + 16*x2 + 64*x1 + 4096*x3), tmp35, None)
