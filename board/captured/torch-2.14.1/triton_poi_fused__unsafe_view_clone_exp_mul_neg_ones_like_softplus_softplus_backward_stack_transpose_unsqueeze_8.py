import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_poi_fused__unsafe_view_clone_exp_mul_neg_ones_like_softplus_softplus_backward_stack_transpose_unsqueeze_8(in_ptr0, in_ptr1, in_ptr2, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 524288
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x5 = (xindex % 2048)
    x6 = xindex // 16
    x1 = ((xindex // 16) % 128)
    x2 = ((xindex // 2048) % 64)
    x3 = xindex // 131072
    tmp0 = tl.load(in_ptr0 + (x5), None, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr1 + (x6), None, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (x1), None, eviction_policy='evict_last')
    tmp1 = libdevice.exp(tmp0)
    tmp2 = -tmp1
    tmp5 = tmp3 + tmp4
    tmp6 = tl.full([1], 20.0, tl.float32)
    tmp7 = tmp5 > tmp6
    tmp8 = libdevice.exp(tmp5)
    tmp9 = libdevice.log1p(tmp8)
    tmp10 = tl.where(tmp7, tmp5, tmp9)
    tmp11 = tmp2 * tmp10
    tmp12 = libdevice.exp(tmp11)
    tmp13 = tl.full([1], 1.0, tl.float32)
    tmp14 = tmp13 * tmp12
    tl.store(out_ptr0 + (x5 + 2048*x3 + 8192*x2), tmp12, None)
    tl.store(out_ptr1 + (x5 + 2048*x3 + 8192*x2), tmp14, None)
