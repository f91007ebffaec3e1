import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_bmm_mul_silu_split_transpose_unsqueeze_view_4(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 32768
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 256)
    x1 = xindex // 256
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (64*x1 + 8192*(x0 // 64) + ((x0 % 64))), None)
    tl.store(out_ptr0 + (x2), tmp0, None)
