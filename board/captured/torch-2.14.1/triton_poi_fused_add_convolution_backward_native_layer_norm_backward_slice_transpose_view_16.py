import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_convolution_backward_native_layer_norm_backward_slice_transpose_view_16(in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 256
    xnumel = 196
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
    tmp0 = tl.load(in_ptr0 + (64 + y0 + 64*x2 + 12608*y1), xmask & ymask)
    tl.store(out_ptr0 + (x2 + 196*y3), tmp0, xmask & ymask)
