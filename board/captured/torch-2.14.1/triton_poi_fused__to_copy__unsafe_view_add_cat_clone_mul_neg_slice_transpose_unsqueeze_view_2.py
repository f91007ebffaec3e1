import triton
import triton.language as tl
import triton.language.math as tl_math


@triton.jit
def triton_poi_fused__to_copy__unsafe_view_add_cat_clone_mul_neg_slice_transpose_unsqueeze_view_2(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x4 = xindex
    x2 = ((xindex // 64) % 64)
    x0 = (xindex % 16)
    x5 = xindex // 16
    x1 = ((xindex // 16) % 4)
    x3 = xindex // 4096
    tmp0 = tl.load(in_ptr0 + (x4), None)
    tmp1 = tl.load(in_ptr1 + ((x4 % 8)), None, eviction_policy='evict_last')
    tmp2 = (x2).to(tl.float32)
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
    tmp14 = tl.load(in_ptr0 + (8 + 16*x5 + (x0)), tmp13, eviction_policy='evict_last', other=0.0)
    tmp15 = -tmp14
    tmp16 = tl.full(tmp15.shape, 0.0, tmp15.dtype)
    tmp17 = tl.where(tmp13, tmp15, tmp16)
    tmp18 = tmp7 >= tmp12
    tmp19 = tl.full([1], 16, tl.int64)
    tmp20 = tmp7 < tmp19
    tmp21 = tl.load(in_ptr0 + (16*x5 + ((-8) + x0)), tmp18, eviction_policy='evict_last', other=0.0)
    tmp22 = tl.where(tmp13, tmp17, tmp21)
    tmp23 = tl_math.sin(tmp4)
    tmp24 = tmp22 * tmp23
    tmp25 = tmp6 + tmp24
    tl.store(out_ptr0 + (x0 + 16*x2 + 1024*x1 + 4096*x3), tmp25, None)
