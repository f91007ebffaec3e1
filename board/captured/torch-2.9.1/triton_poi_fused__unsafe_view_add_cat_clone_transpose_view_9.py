import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_add_cat_clone_transpose_view_9(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 49152
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x0 = (xindex % 192)
    x3 = xindex // 192
    x1 = ((xindex // 192) % 64)
    x2 = xindex // 12288
    x4 = xindex
    tmp0 = x0
    tmp1 = tl.full([1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tl.full([1], 64, tl.int64)
    tmp4 = tmp0 < tmp3
    tmp5 = tl.load(in_ptr0 + (64*x3 + (x0)), tmp4, eviction_policy='evict_last', other=0.0)
    tmp6 = tmp0 >= tmp3
    tmp7 = tl.full([1], 128, tl.int64)
    tmp8 = tmp0 < tmp7
    tmp9 = tmp6 & tmp8
    tmp10 = tl.load(in_ptr1 + (16*x1 + 1024*(((((-64) + x0) // 16) % 4)) + 4096*x2 + ((((-64) + x0) % 16))), tmp9, eviction_policy='evict_last', other=0.0)
    tmp11 = tl.load(in_ptr2 + (64*x3 + ((((-64) + x0) % 64))), tmp9, eviction_policy='evict_last', other=0.0)
    tmp12 = tmp10 + tmp11
    tmp13 = tl.full(tmp12.shape, 0.0, tmp12.dtype)
    tmp14 = tl.where(tmp9, tmp12, tmp13)
    tmp15 = tmp0 >= tmp7
    tmp16 = tl.full([1], 192, tl.int64)
    tmp17 = tmp0 < tmp16
    tmp18 = tl.load(in_ptr3 + (16*x1 + 1024*(((((-128) + x0) // 16) % 4)) + 4096*x2 + ((((-128) + x0) % 16))), tmp15, eviction_policy='evict_last', other=0.0)
    tmp19 = tl.load(in_ptr4 + (64*x3 + ((((-128) + x0) % 64))), tmp15, eviction_policy='evict_last', other=0.0)
    tmp20 = tmp18 + tmp19
    tmp21 = tl.full(tmp20.shape, 0.0, tmp20.dtype)
    tmp22 = tl.where(tmp15, tmp20, tmp21)
    tmp23 = tl.where(tmp9, tmp14, tmp22)
    tmp24 = tl.where(tmp4, tmp5, tmp23)
    tl.store(out_ptr0 + (x4), tmp24, None)
