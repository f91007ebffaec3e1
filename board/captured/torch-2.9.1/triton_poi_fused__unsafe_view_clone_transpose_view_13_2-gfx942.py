import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_clone_transpose_view_13(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 50432
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 64)
    x1 = xindex // 64
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (16*((x1 % 197)) + 3152*(x0 // 16) + 12608*(x1 // 197) + ((x0 % 16))), xmask)
    tl.store(out_ptr0 + (x2), tmp0, xmask)
