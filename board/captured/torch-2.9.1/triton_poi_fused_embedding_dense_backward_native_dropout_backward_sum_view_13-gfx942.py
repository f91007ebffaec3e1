import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_embedding_dense_backward_native_dropout_backward_sum_view_13(in_ptr0, in_ptr1, in_ptr2, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 4096
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x1 = xindex // 64
    x2 = xindex
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (x1), None, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr1 + (x2), None)
    tmp4 = tl.load(in_ptr2 + (x2), None)
    tmp9 = tl.load(in_ptr1 + (4096 + x2), None)
    tmp10 = tl.load(in_ptr2 + (4096 + x2), None)
    tmp15 = tl.load(in_ptr1 + (8192 + x2), None)
    tmp16 = tl.load(in_ptr2 + (8192 + x2), None)
    tmp21 = tl.load(in_ptr1 + (12288 + x2), None)
    tmp22 = tl.load(in_ptr2 + (12288 + x2), None)
    tmp1 = tl.full([1], -1, tl.int64)
    tmp2 = tmp0 == tmp1
    tmp5 = tmp4.to(tl.float32)
    tmp6 = 1.1111111111111112
    tmp7 = tmp5 * tmp6
    tmp8 = tmp3 * tmp7
    tmp11 = tmp10.to(tl.float32)
    tmp12 = tmp11 * tmp6
    tmp13 = tmp9 * tmp12
    tmp14 = tmp8 + tmp13
    tmp17 = tmp16.to(tl.float32)
    tmp18 = tmp17 * tmp6
    tmp19 = tmp15 * tmp18
    tmp20 = tmp14 + tmp19
    tmp23 = tmp22.to(tl.float32)
    tmp24 = tmp23 * tmp6
    tmp25 = tmp21 * tmp24
    tmp26 = tmp20 + tmp25
    tmp27 = 0.0
    tmp28 = tl.where(tmp2, tmp27, tmp26)
    tmp29 = tl.full([XBLOCK], 64, tl.int32)
    tmp30 = tmp0 + tmp29
    tmp31 = tmp0 < 0
    tmp32 = tl.where(tmp31, tmp30, tmp0)
    tl.device_assert((0 <= tmp32) & (tmp32 < 64), "index out of bounds: 0 <= tmp32 < 64")
    tl.atomic_add(out_ptr1 + (x0 + 64*tmp32), tmp28, None, sem='relaxed')
