import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_add_cat_clone_transpose_view_5(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 49152
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 192)
    x3 = xindex // 192
    x1 = ((xindex // 192) % 64)
    x2 = xindex // 12288
    x4 = xindex
    tmp0 = (x0).to(tl.int32)
    tmp1 = tl.full([1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = (x0).to(tl.int64)
    tmp4 = (tmp3).to(tl.int64)
    tmp5 = tl.full([1], 64, tl.int64)
    tmp6 = tmp4 < tmp5
    tmp7 = tmp6.to(tl.int1)
    tmp8 = tl.load(in_ptr0 + (64*x3 + (x0)), tmp7, eviction_policy='evict_last', other=0.0)
    tmp9 = tmp4 >= tmp5
    tmp10 = tl.full([1], 128, tl.int64)
    tmp11 = tmp4 < tmp10
    tmp12 = tmp9 & tmp11
    tmp13 = tmp12.to(tl.int1)
    tmp14 = tl.load(in_ptr1 + (16*x1 + 1024*(((((-64) + x0) // 16) % 4)) + 4096*x2 + ((((-64) + x0) % 16))), tmp13, eviction_policy='evict_last', other=0.0)
    tmp15 = tl.load(in_ptr2 + (64*x3 + ((((-64) + x0) % 64))), tmp13, eviction_policy='evict_last', other=0.0)
    tmp16 = tmp14 + tmp15
    tmp17 = tl.full(tmp16.shape, 0.0, tmp16.dtype)
    tmp18 = tl.where(tmp13, tmp16, tmp17)
    tmp19 = tmp0 >= tmp10
    tmp20 = tl.full([1], 192, tl.int64)
    tmp21 = tmp0 < tmp20
    tmp22 = tmp19.to(tl.int1)
    tmp23 = tl.load(in_ptr3 + (16*x1 + 1024*(((((-128) + x0) // 16) % 4)) + 4096*x2 + ((((-128) + x0) % 16))), tmp22, eviction_policy='evict_last', other=0.0)
    tmp24 = tl.load(in_ptr4 + (64*x3 + ((((-128) + x0) % 64))), tmp22, eviction_policy='evict_last', other=0.0)
    tmp25 = tmp23 + tmp24
    tmp26 = tl.full(tmp25.shape, 0.0, tmp25.dtype)
    tmp27 = tl.where(tmp22, tmp25, tmp26)
    tmp28 = tl.where(tmp12, tmp18, tmp27)
    tmp29 = tl.where(tmp6, tmp8, tmp28)
    tl.store(out_ptr0 + (x4), tmp29, None)
