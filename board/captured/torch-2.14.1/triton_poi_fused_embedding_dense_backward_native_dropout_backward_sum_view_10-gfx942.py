import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_embedding_dense_backward_native_dropout_backward_sum_view_10(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 4096
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x1 = xindex // 64
    x2 = xindex
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (x1), xmask, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr1 + (x2), xmask)
    tmp18 = tl.load(in_ptr2 + (x2), xmask)
    tmp23 = tl.load(in_ptr1 + (4096 + x2), xmask)
    tmp24 = tl.load(in_ptr2 + (4096 + x2), xmask)
    tmp29 = tl.load(in_ptr1 + (8192 + x2), xmask)
    tmp30 = tl.load(in_ptr2 + (8192 + x2), xmask)
    tmp35 = tl.load(in_ptr1 + (12288 + x2), xmask)
    tmp36 = tl.load(in_ptr2 + (12288 + x2), xmask)
    tmp1 = tl.full([1], 63, tl.int64)
    tmp2 = tl.minimum(tmp1, tmp0, tl.PropagateNan.ALL)
    tmp3 = tl.full([1], -64, tl.int64)
    tmp4 = tl.maximum(tmp3, tmp2, tl.PropagateNan.ALL)
    tmp5 = (tl.full([XBLOCK], 64, tl.int32)).to(tl.int32)
    tmp6 = tmp4 + tmp5
    tmp7 = tmp4 < 0
    tmp8 = tl.where(tmp7, tmp6, tmp4)
    tmp9 = tl.full([1], 0, tl.int64)
    tmp10 = tmp0 >= tmp9
    tmp11 = tl.full([1], 64, tl.int64)
    tmp12 = tmp0 < tmp11
    tmp13 = tmp10 & tmp12
    tmp14 = tl.full([1], -1, tl.int64)
    tmp15 = tmp0 != tmp14
    tmp16 = tmp13 & tmp15
    tmp19 = tmp18.to(tl.float32)
    tmp20 = tl.full([1], 1.1111111111111112, tl.float32)
    tmp21 = tmp19 * tmp20
    tmp22 = tmp17 * tmp21
    tmp25 = tmp24.to(tl.float32)
    tmp26 = tmp25 * tmp20
    tmp27 = tmp23 * tmp26
    tmp28 = tmp22 + tmp27
    tmp31 = tmp30.to(tl.float32)
    tmp32 = tmp31 * tmp20
    tmp33 = tmp29 * tmp32
    tmp34 = tmp28 + tmp33
    tmp37 = tmp36.to(tl.float32)
    tmp38 = tmp37 * tmp20
    tmp39 = tmp35 * tmp38
    tmp40 = tmp34 + tmp39
    tmp41 = tl.full([1], 0.0, tl.float32)
    tmp42 = tl.where(tmp16, tmp40, tmp41)
    tl.atomic_add(out_ptr0 + (x0 + 64*tmp8), tmp42, xmask, sem='relaxed')
