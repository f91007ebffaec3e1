import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_embedding_dense_backward_native_layer_norm_backward_sum_view_11(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 4096
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x1 = xindex // 64
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (x2), xmask)
    tmp1 = tl.load(in_ptr1 + (x1), xmask, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (x2), xmask)
    tmp7 = tl.load(in_ptr0 + (4096 + x2), xmask)
    tmp8 = tl.load(in_ptr1 + (64 + x1), xmask, eviction_policy='evict_last')
    tmp10 = tl.load(in_ptr2 + (4096 + x2), xmask)
    tmp14 = tl.load(in_ptr0 + (8192 + x2), xmask)
    tmp15 = tl.load(in_ptr1 + (128 + x1), xmask, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr2 + (8192 + x2), xmask)
    tmp21 = tl.load(in_ptr0 + (12288 + x2), xmask)
    tmp22 = tl.load(in_ptr1 + (192 + x1), xmask, eviction_policy='evict_last')
    tmp24 = tl.load(in_ptr2 + (12288 + x2), xmask)
    tmp28 = tl.load(in_ptr3 + (x1), xmask, eviction_policy='evict_last')
    tmp2 = tl.full([1], 0.015625, tl.float32)
    tmp3 = tmp1 * tmp2
    tmp5 = tmp3 * tmp4
    tmp6 = tmp0 + tmp5
    tmp9 = tmp8 * tmp2
    tmp11 = tmp9 * tmp10
    tmp12 = tmp7 + tmp11
    tmp13 = tmp6 + tmp12
    tmp16 = tmp15 * tmp2
    tmp18 = tmp16 * tmp17
    tmp19 = tmp14 + tmp18
    tmp20 = tmp13 + tmp19
    tmp23 = tmp22 * tmp2
    tmp25 = tmp23 * tmp24
    tmp26 = tmp21 + tmp25
    tmp27 = tmp20 + tmp26
    tmp29 = tl.full([1], 63, tl.int64)
    tmp30 = tl.minimum(tmp29, tmp28, tl.PropagateNan.ALL)
    tmp31 = tl.full([1], -64, tl.int64)
    tmp32 = tl.maximum(tmp31, tmp30, tl.PropagateNan.ALL)
    tmp33 = (tl.full([XBLOCK], 64, tl.int32)).to(tl.int32)
    tmp34 = tmp32 + tmp33
    tmp35 = tmp32 < 0
    tmp36 = tl.where(tmp35, tmp34, tmp32)
    tmp37 = tl.full([1], 0, tl.int64)
    tmp38 = tmp28 >= tmp37
    tmp39 = tl.full([1], 64, tl.int64)
    tmp40 = tmp28 < tmp39
    tmp41 = tmp38 & tmp40
    tmp42 = tl.full([1], -1, tl.int64)
    tmp43 = tmp28 != tmp42
    tmp44 = tmp41 & tmp43
    tmp45 = tl.full([1], 0.0, tl.float32)
    tmp46 = tl.where(tmp44, tmp27, tmp45)
    tl.atomic_add(out_ptr1 + (x0 + 64*tmp36), tmp46, xmask, sem='relaxed')
