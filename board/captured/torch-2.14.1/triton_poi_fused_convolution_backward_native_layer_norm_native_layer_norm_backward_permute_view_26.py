import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_convolution_backward_native_layer_norm_native_layer_norm_backward_permute_view_26(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 32768
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 16)
    x2 = ((xindex // 256) % 32)
    x3 = xindex // 8192
    x4 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 16*x2 + 512*x1 + 8192*x3), None)
    tl.store(out_ptr0 + (x4), tmp0, None)
