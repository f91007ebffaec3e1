import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__unsafe_view_clone_expand_transpose_unsqueeze_view_5(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 16384
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 64)
    x3 = ((xindex // 2048) % 2)
    x4 = xindex // 4096
    x5 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 16*x3 + 32*x1 + 2048*x4), None, eviction_policy='evict_last')
    tl.store(out_ptr0 + (x5), tmp0, None)
