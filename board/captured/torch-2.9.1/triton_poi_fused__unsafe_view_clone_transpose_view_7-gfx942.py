import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_clone_transpose_view_7(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x0 = (xindex % 64)
    x1 = xindex // 64
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (16*((x1 % 64)) + 1024*(x0 // 16) + 4096*(x1 // 64) + ((x0 % 16))), None)
    tl.store(out_ptr0 + (x2), tmp0, None)
