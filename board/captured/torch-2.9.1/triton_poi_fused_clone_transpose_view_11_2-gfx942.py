import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_clone_transpose_view_11(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 50432
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 197)
    x2 = ((xindex // 3152) % 4)
    x3 = xindex // 12608
    x4 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 16*x2 + 64*x1 + 12608*x3), xmask)
    tl.store(out_ptr0 + (x4), tmp0, xmask)
