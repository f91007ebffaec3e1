import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy_add_cat_clone_mul_neg_slice_slice_backward_transpose_unsqueeze_view_9(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 16)
    x4 = xindex
    x1 = ((xindex // 16) % 64)
    x2 = ((xindex // 1024) % 4)
    x3 = xindex // 4096
    tmp30 = tl.load(in_ptr0 + (x4), None)
    tmp31 = tl.load(in_ptr1 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp0 = (x0).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1], 8, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tmp3.to(tl.int1)
    tmp5 = tl.load(in_ptr0 + ((-8) + x4), tmp4, other=0.0)
    tmp6 = tl.load(in_ptr1 + ((x4 % 8)), tmp4, eviction_policy='evict_last', other=0.0)
    tmp7 = (x1).to(tl.float32)
    tmp8 = (tmp7).to(tl.float32)
    tmp9 = tmp8 * tmp6
    tmp10 = tl_math.sin(tmp9)
    tmp11 = tmp5 * tmp10
    tmp12 = -tmp11
    tmp13 = tl.full(tmp12.shape, 0.0, tmp12.dtype)
    tmp14 = tl.where(tmp4, tmp12, tmp13)
    tmp15 = tl.full([1], 0.0, tl.float32)
    tmp16 = tl.where(tmp3, tmp14, tmp15)
    tmp17 = tmp1 < tmp2
    tmp18 = tmp17.to(tl.int1)
    tmp19 = tl.load(in_ptr0 + (8 + x4), tmp18, other=0.0)
    tmp20 = tl.load(in_ptr1 + ((x4 % 8)), tmp18, eviction_policy='evict_last', other=0.0)
    tmp21 = (x1).to(tl.float32)
    tmp22 = (tmp21).to(tl.float32)
    tmp23 = tmp22 * tmp20
    tmp24 = tl_math.sin(tmp23)
    tmp25 = tmp19 * tmp24
    tmp26 = tl.full(tmp25.shape, 0.0, tmp25.dtype)
    tmp27 = tl.where(tmp18, tmp25, tmp26)
    tmp28 = tl.where(tmp17, tmp27, tmp15)
    tmp29 = tmp16 + tmp28
    tmp32 = (x1).to(tl.float32)
    tmp33 = (tmp32).to(tl.float32)
    tmp34 = tmp33 * tmp31
    tmp35 = tl_math.cos(tmp34)
    tmp36 = tmp30 * tmp35
    tmp37 = tmp29 + tmp36
    tl.store(out_ptr0 + (x0 + 16*x2 + 64*x1 + 4096*x3), tmp37, None)
