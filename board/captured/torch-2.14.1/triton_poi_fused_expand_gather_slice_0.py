import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_expand_gather_slice_0(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 64
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tl.device_assert(((0 <= tmp0) & (tmp0 < 512)) | ~(xmask), "index out of bounds: 0 <= tmp0 < 512")
    tmp2 = tl.load(in_ptr1 + (tmp0), xmask, eviction_policy='evict_last')
    tl.store(out_ptr0 + (x0), tmp2, xmask)
