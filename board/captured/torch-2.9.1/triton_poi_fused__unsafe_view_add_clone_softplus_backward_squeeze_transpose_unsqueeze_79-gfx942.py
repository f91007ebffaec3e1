import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_poi_fused__unsafe_view_add_clone_softplus_backward_squeeze_transpose_unsqueeze_79(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
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
    tmp0 = tl.load(in_out_ptr0 + (x2 + 128*y3), xmask & ymask, eviction_policy='evict_last')
    tmp1 = tl.load(in_ptr0 + (x2), xmask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr1 + (y0 + 64*x2 + 8192*y1), xmask & ymask, eviction_policy='evict_last')
    tmp8 = tl.load(in_ptr2 + (y0 + 64*x2 + 8192*y1), xmask & ymask, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp3 = 1.0
    tmp4 = tmp2 * tmp3
    tmp5 = 20.0
    tmp6 = tmp4 > tmp5
    tmp9 = tmp7 + tmp8
    tmp10 = libdevice.exp(tmp4)
    tmp11 = tmp9 * tmp10
    tmp12 = tmp10 + tmp3
    tmp13 = (tmp11 / tmp12)
    tmp14 = tl.where(tmp6, tmp9, tmp13)
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (x2 + 128*y3), tmp14, xmask & ymask)
