import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_15(in_out_ptr0, in_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 256
    xnumel = 64
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
    tmp0 = tl.load(in_out_ptr0 + (x2 + 64*y3), xmask & ymask)
    tmp1 = tl.load(in_ptr0 + (y0 + 64*x2 + 4096*y1), xmask & ymask)
    tmp2 = tmp0 + tmp1
    tl.store(in_out_ptr0 + (x2 + 64*y3), tmp2, xmask & ymask)
