import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_add_cat_clone_transpose_view_9(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, xnumel, XBLOCK : tl.constexpr):
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
    tmp7 = tl.load(in_ptr0 + (64*x3 + (x0)), tmp6, eviction_policy='evict_last', other=0.0)
    tmp8 = tmp4 >= tmp5
    tmp9 = tl.full([1], 128, tl.int64)
    tmp10 = tmp4 < tmp9
    tmp11 = tmp8 & tmp10
    tmp12 = tl.load(in_ptr1 + (16*x1 + 1024*(((((-64) + x0) // 16) % 4)) + 4096*x2 + ((((-64) + x0) % 16))), tmp11, eviction_policy='evict_last', other=0.0)
    tmp13 = tl.load(in_ptr2 + (64*x3 + ((((-64) + x0) % 64))), tmp11, eviction_policy='evict_last', other=0.0)
    tmp14 = tmp12 + tmp13
    tmp15 = tl.full(tmp14.shape, 0.0, tmp14.dtype)
    tmp16 = tl.where(tmp11, tmp14, tmp15)
    tmp17 = tmp0 >= tmp9
    tmp18 = tl.full([1], 192, tl.int64)
    tmp19 = tmp0 < tmp18
    tmp20 = tl.load(in_ptr3 + (16*x1 + 1024*(((((-128) + x0) // 16) % 4)) + 4096*x2 + ((((-128) + x0) % 16))), tmp17, eviction_policy='evict_last', other=0.0)
    tmp21 = tl.load(in_ptr4 + (64*x3 + ((((-128) + x0) % 64))), tmp17, eviction_policy='evict_last', other=0.0)
    tmp22 = tmp20 + tmp21
    tmp23 = tl.full(tmp22.shape, 0.0, tmp22.dtype)
    tmp24 = tl.where(tmp17, tmp22, tmp23)
    tmp25 = tl.where(tmp11, tmp16, tmp24)
    tmp26 = tl.where(tmp6, tmp7, tmp25)
    tl.store(out_ptr0 + (x4), tmp26, None)
