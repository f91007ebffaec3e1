import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_cat_max_pool2d_with_indices_3(in_ptr0, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 2)
    x1 = ((xindex // 2) % ks0)
    x3 = xindex
    tmp0 = tl.load(in_ptr0 + (2*x0 + 8*x1), xmask, eviction_policy='evict_last')
    tmp1 = tl.load(in_ptr0 + (1 + 2*x0 + 8*x1), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr0 + (4 + 2*x0 + 8*x1), xmask, eviction_policy='evict_last')
    tmp5 = tl.load(in_ptr0 + (5 + 2*x0 + 8*x1), xmask, eviction_policy='evict_last')
    tmp2 = tl.maximum(tmp0, tmp1, tl.PropagateNan.ALL)
    tmp4 = tl.maximum(tmp2, tmp3, tl.PropagateNan.ALL)
    tmp6 = tl.maximum(tmp4, tmp5, tl.PropagateNan.ALL)
    tl.store(out_ptr0 + (x3), tmp6, xmask)
