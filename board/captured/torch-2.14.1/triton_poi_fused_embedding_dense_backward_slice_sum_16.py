import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_embedding_dense_backward_slice_sum_16(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 4096
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x1 = xindex // 64
    x2 = xindex
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (x1), None, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr1 + (x2), None)
    tmp18 = tl.load(in_ptr1 + (4096 + x2), None)
    tmp20 = tl.load(in_ptr1 + (8192 + x2), None)
    tmp22 = tl.load(in_ptr1 + (12288 + x2), None)
    tmp1 = tl.full([1], 511, tl.int64)
    tmp2 = tl.minimum(tmp1, tmp0, tl.PropagateNan.ALL)
    tmp3 = tl.full([1], -512, tl.int64)
    tmp4 = tl.maximum(tmp3, tmp2, tl.PropagateNan.ALL)
    tmp5 = (tl.full([XBLOCK], 512, tl.int32)).to(tl.int32)
    tmp6 = tmp4 + tmp5
    tmp7 = tmp4 < 0
    tmp8 = tl.where(tmp7, tmp6, tmp4)
    tmp9 = tl.full([1], 0, tl.int64)
    tmp10 = tmp0 >= tmp9
    tmp11 = tl.full([1], 512, tl.int64)
    tmp12 = tmp0 < tmp11
    tmp13 = tmp10 & tmp12
    tmp14 = tl.full([1], -1, tl.int64)
    tmp15 = tmp0 != tmp14
    tmp16 = tmp13 & tmp15
    tmp19 = tmp17 + tmp18
    tmp21 = tmp19 + tmp20
    tmp23 = tmp21 + tmp22
    tmp24 = tl.full([1], 0.0, tl.float32)
    tmp25 = tl.where(tmp16, tmp23, tmp24)
    tl.atomic_add(out_ptr0 + (x0 + 64*tmp8), tmp25, None, sem='relaxed')
