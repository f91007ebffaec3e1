import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_convolution_backward_split_squeeze_transpose_unsqueeze_7(in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 512
    xnumel = 64
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
    tmp0 = tl.load(in_ptr0 + (y0 + 256*x2 + 16384*y1), xmask & ymask)
    tl.store(out_ptr0 + (x2 + 64*y3), tmp0, xmask & ymask)
