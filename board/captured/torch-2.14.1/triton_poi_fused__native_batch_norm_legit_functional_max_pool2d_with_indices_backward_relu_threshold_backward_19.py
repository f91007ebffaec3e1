import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__native_batch_norm_legit_functional_max_pool2d_with_indices_backward_relu_threshold_backward_19(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 64
    xnumel = 4096
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = tl.full([XBLOCK], True, tl.int1)[None, :]
    x3 = xindex
    y0 = yindex
    x1 = (xindex % 1024)
    x2 = xindex // 1024
    tmp0 = tl.load(in_ptr0 + (y0 + 64*x3), ymask)
    tmp1 = tl.load(in_ptr1 + (y0), ymask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr2 + (y0), ymask, eviction_policy='evict_last')
    tmp5 = tl.load(in_ptr3 + (y0), ymask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr4 + (y0), ymask, eviction_policy='evict_last')
    tmp13 = tl.load(in_ptr5 + (x1 + 1024*y0 + 65536*x2), ymask)
    tmp2 = tmp0 - tmp1
    tmp4 = tmp2 * tmp3
    tmp6 = tmp4 * tmp5
    tmp8 = tmp6 + tmp7
    tmp9 = tl.full([1, 1], 0, tl.int32)
    tmp10 = tl.maximum(tmp9, tmp8, tl.PropagateNan.ALL)
    tmp11 = tl.full([1, 1], 0.0, tl.float32)
    tmp12 = tmp10 <= tmp11
    tmp14 = tl.where(tmp12, tmp11, tmp13)
    tl.store(out_ptr0 + (x1 + 1024*y0 + 65536*x2), tmp14, ymask)
