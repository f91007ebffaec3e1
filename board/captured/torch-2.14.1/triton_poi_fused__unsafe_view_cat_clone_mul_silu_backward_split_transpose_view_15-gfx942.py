import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_cat_clone_mul_silu_backward_split_transpose_view_15(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 256
    xnumel = 256
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y0 = (yindex % 64)
    y1 = yindex // 64
    y3 = yindex
    tmp0 = (x2).to(tl.int32)
    tmp1 = tl.full([1, 1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = (x2).to(tl.int64)
    tmp4 = (tmp3).to(tl.int64)
    tmp5 = tl.full([1, 1], 128, tl.int64)
    tmp6 = tmp4 < tmp5
    tmp7 = tmp6.to(tl.int1)
    tmp8 = tl.load(in_ptr0 + (y0 + 64*(x2) + 8192*y1), tmp7 & xmask & ymask, other=0.0)
    tmp9 = tmp0 >= tmp5
    tmp10 = tl.full([1, 1], 256, tl.int64)
    tmp11 = tmp0 < tmp10
    tmp12 = tmp9.to(tl.int1)
    tmp13 = tl.load(in_ptr1 + (128*y3 + ((-128) + x2)), tmp12 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp14 = tl.load(in_ptr2 + (128*y3 + ((-128) + x2)), tmp12 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp15 = tmp13 * tmp14
    tmp16 = tl.load(in_ptr3 + (128 + 256*y3 + ((-128) + x2)), tmp12 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp17 = tl.sigmoid(tmp16)
    tmp18 = tmp15 * tmp17
    tmp19 = tl.full([1, 1], 1.0, tl.float32)
    tmp20 = tmp19 - tmp17
    tmp21 = tmp16 * tmp20
    tmp22 = tmp21 + tmp19
    tmp23 = tmp18 * tmp22
    tmp24 = tl.full(tmp23.shape, 0.0, tmp23.dtype)
    tmp25 = tl.where(tmp12, tmp23, tmp24)
    tmp26 = tl.where(tmp6, tmp8, tmp25)
    tl.store(out_ptr0 + (x2 + 256*y3), tmp26, xmask & ymask)
