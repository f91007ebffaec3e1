import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_tanh_backward_0(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 256
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    tmp2 = tmp1 * tmp1
    tmp3 = tl.full([1], 1.0, tl.float32)
    tmp4 = tmp3 - tmp2
    tmp5 = tmp0 * tmp4
    tl.store(out_ptr0 + (x0), tmp5, xmask)
