import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_mul_silu_split_transpose_view_8(in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 256
    xnumel = 128
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x1 = xindex
    y0 = yindex
    tmp0 = tl.load(in_ptr0 + (64*x1 + 8192*(y0 // 64) + ((y0 % 64))), xmask & ymask)
    tl.store(out_ptr0 + (x1 + 128*y0), tmp0, xmask & ymask)
