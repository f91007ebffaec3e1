import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__to_copy__unsafe_view_add_arange_cat_cos_mul_neg_sin_slice_transpose_unsqueeze_view_2(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 8192
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x4 = xindex
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 64)
    x2 = ((xindex // 1024) % 2)
    x3 = xindex // 2048
    tmp0 = tl.load(in_ptr0 + (x4), None)
    tl.store(out_ptr0 + (x0 + 16*x2 + 32*x1 + 2048*x3), tmp0, None)
