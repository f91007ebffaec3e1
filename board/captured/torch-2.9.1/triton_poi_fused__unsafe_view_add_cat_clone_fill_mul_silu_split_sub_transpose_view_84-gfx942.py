import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_add_cat_clone_fill_mul_silu_split_sub_transpose_view_84(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
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
    tmp0 = x2
    tmp1 = tl.full([1, 1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tl.full([1, 1], 128, tl.int64)
    tmp4 = tmp0 < tmp3
    tmp5 = tmp4.to(tl.int1)
    tmp6 = tl.load(in_ptr0 + (y0 + 64*(x2) + 8192*y1), tmp5 & xmask & ymask, other=0.0)
    tmp7 = tmp0 >= tmp3
    tmp8 = tl.full([1, 1], 256, tl.int64)
    tmp9 = tmp0 < tmp8
    tmp10 = tmp7.to(tl.int1)
    tmp11 = tl.load(in_ptr1 + (128*y3 + ((-128) + x2)), tmp10 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp12 = tl.load(in_ptr2 + (y0 + 64*((-128) + x2) + 8192*y1), tmp10 & xmask & ymask, other=0.0)
    tmp13 = tmp11 * tmp12
    tmp14 = tl.load(in_ptr3 + (128 + 256*y3 + ((-128) + x2)), tmp10 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp15 = tl.sigmoid(tmp14)
    tmp16 = 1.0
    tmp17 = tmp16 - tmp15
    tmp18 = tmp14 * tmp17
    tmp19 = tmp18 + tmp16
    tmp20 = tmp15 * tmp19
    tmp21 = tmp13 * tmp20
    tmp22 = tl.full(tmp21.shape, 0.0, tmp21.dtype)
    tmp23 = tl.where(tmp10, tmp21, tmp22)
    tmp24 = tl.where(tmp4, tmp6, tmp23)
    tl.store(out_ptr0 + (x2 + 256*y3), tmp24, xmask & ymask)
