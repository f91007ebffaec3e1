import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_add_fill_mul_silu_slice_slice_backward_split_squeeze_sub_transpose_unsqueeze_view_82(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 512
    xnumel = 67
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y0 = (yindex % 128)
    y1 = yindex // 128
    y3 = yindex
    tmp0 = x2
    tmp1 = tl.full([1, 1], 64, tl.int64)
    tmp2 = tmp0 < tmp1
    tmp3 = tmp2.to(tl.int1)
    tmp4 = tl.load(in_ptr0 + (y0 + 128*x2 + 8192*y1), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp5 = tl.load(in_ptr1 + (128 + y0 + 256*x2 + 16384*y1), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp6 = tl.sigmoid(tmp5)
    tmp7 = tmp5 * tmp6
    tmp8 = tmp4 * tmp7
    tmp9 = tl.load(in_ptr2 + (tl.broadcast_to(y0, [YBLOCK, XBLOCK])), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp10 = tmp8 * tmp9
    tmp11 = tl.load(in_ptr3 + (x2 + 64*y3), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp12 = tmp10 + tmp11
    tmp13 = tl.load(in_ptr4 + (y0 + 128*x2 + 8192*y1), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp14 = tmp12 + tmp13
    tmp15 = tl.load(in_out_ptr0 + (x2 + 67*y3), tmp3 & xmask & ymask, eviction_policy='evict_last', other=0.0)
    tmp16 = tl.sigmoid(tmp15)
    tmp17 = 1.0
    tmp18 = tmp17 - tmp16
    tmp19 = tmp15 * tmp18
    tmp20 = tmp19 + tmp17
    tmp21 = tmp16 * tmp20
    tmp22 = tmp14 * tmp21
    tmp23 = tl.full(tmp22.shape, 0.0, tmp22.dtype)
    tmp24 = tl.where(tmp3, tmp22, tmp23)
    tmp25 = 0.0
    tmp26 = tl.where(tmp2, tmp24, tmp25)
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (x2 + 67*y3), tmp26, xmask & ymask)
