import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_poi_fused__unsafe_view_add_mul_silu_slice_split_squeeze_transpose_unsqueeze_view_6(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 256
    xnumel = 128
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y3 = yindex
    y0 = (yindex % 64)
    y1 = yindex // 64
    tmp0 = tl.load(in_out_ptr0 + (x2 + 128*y3), xmask & ymask)
    tmp1 = tl.load(in_ptr0 + (y0 + 67*x2 + 8576*y1), xmask & ymask)
    tmp7 = tl.load(in_ptr1 + (x2), xmask, eviction_policy='evict_last')
    tmp10 = tl.load(in_ptr2 + (128 + x2 + 256*y3), xmask & ymask)
    tmp2 = -tmp1
    tmp3 = libdevice.exp(tmp2)
    tmp4 = tl.full([1, 1], 1.0, tl.float32)
    tmp5 = tmp3 + tmp4
    tmp6 = (tmp1 / tmp5)
    tmp8 = tmp6 * tmp7
    tmp9 = tmp0 + tmp8
    tmp11 = -tmp10
    tmp12 = libdevice.exp(tmp11)
    tmp13 = tmp12 + tmp4
    tmp14 = (tmp10 / tmp13)
    tmp15 = tmp9 * tmp14
    tl.store(in_out_ptr0 + (x2 + 128*y3), tmp9, xmask & ymask)
    tl.store(out_ptr0 + (y0 + 64*x2 + 8192*y1), tmp15, xmask & ymask)
