import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused_add_arange_embedding_expand_le_native_dropout_native_layer_norm_native_layer_norm_backward_scalar_tensor_unsqueeze_where_1(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, out_ptr1, out_ptr2, out_ptr3, out_ptr6, out_ptr7, out_ptr8, load_seed_offset, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 256
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([XBLOCK, R0_BLOCK], True, tl.int1)
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    x2 = (xindex % 64)
    tmp6 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp13 = tl.load(in_ptr3 + (x2), xmask, eviction_policy='evict_last')
    tmp24 = tl.load(in_ptr3 + (r0_1), None, eviction_policy='evict_last')
    tmp52 = tl.load(in_ptr5 + (r0_1), None, eviction_policy='evict_last')
    tmp54 = tl.load(in_ptr6 + (r0_1), None, eviction_policy='evict_last')
    tmp0 = tl.load(in_ptr0 + load_seed_offset)
    tmp1 = r0_1 + 64*x0
    tmp2 = tl.rand(tmp0, (tmp1).to(tl.uint32))
    tmp3 = 0.1
    tmp4 = tmp2 > tmp3
    tmp5 = tmp4.to(tl.float32)
    tmp7 = tl.full([XBLOCK, R0_BLOCK], 128, tl.int32)
    tmp8 = tmp6 + tmp7
    tmp9 = tmp6 < 0
    tmp10 = tl.where(tmp9, tmp8, tmp6)
    tl.device_assert(((0 <= tmp10) & (tmp10 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp10 < 128")
    tmp12 = tl.load(in_ptr2 + (r0_1 + 64*tmp10), xmask, other=0.0)
    tmp14 = tl.full([XBLOCK, R0_BLOCK], 1024, tl.int32)
    tmp15 = tmp13 + tmp14
    tmp16 = tmp13 < 0
    tmp17 = tl.where(tmp16, tmp15, tmp13)
    tl.device_assert(((0 <= tmp17) & (tmp17 < 1024)) | ~(xmask), "index out of bounds: 0 <= tmp17 < 1024")
    tmp19 = tl.load(in_ptr4 + (r0_1 + 64*tmp17), xmask, other=0.0)
    tmp20 = tmp12 + tmp19
    tmp21 = tmp5 * tmp20
    tmp22 = 1.1111111111111112
    tmp23 = tmp21 * tmp22
    tmp25 = tmp24 <= tmp13
    tmp26 = 0.0
    tmp27 = float("-inf")
    tmp28 = tl.where(tmp25, tmp26, tmp27)
    tmp29 = tl.broadcast_to(tmp23, [XBLOCK, R0_BLOCK])
    tmp31 = tl.where(xmask, tmp29, 0)
    tmp32 = tl.broadcast_to(tmp29, [XBLOCK, R0_BLOCK])
    tmp34 = tl.where(xmask, tmp32, 0)
    tmp35 = tl.sum(tmp34, 1)[:, None].to(tl.float32)
    tmp36 = tl.full([XBLOCK, 1], 64, tl.int32)
    tmp37 = tmp36.to(tl.float32)
    tmp38 = (tmp35 / tmp37)
    tmp39 = tmp29 - tmp38
    tmp40 = tmp39 * tmp39
    tmp41 = tl.broadcast_to(tmp40, [XBLOCK, R0_BLOCK])
    tmp43 = tl.where(xmask, tmp41, 0)
    tmp44 = tl.sum(tmp43, 1)[:, None].to(tl.float32)
    tmp45 = tmp23 - tmp38
    tmp46 = 64.0
    tmp47 = (tmp44 / tmp46)
    tmp48 = 1e-05
    tmp49 = tmp47 + tmp48
    tmp50 = libdevice.rsqrt(tmp49)
    tmp51 = tmp45 * tmp50
    tmp53 = tmp51 * tmp52
    tmp55 = tmp53 + tmp54
    tmp56 = 0.015625
    tmp57 = tmp50 * tmp56
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp4, xmask)
    tl.store(out_ptr2 + (r0_1 + 64*x0), tmp23, xmask)
    tl.store(out_ptr3 + (r0_1 + 64*x0), tmp28, xmask)
    tl.store(out_ptr6 + (r0_1 + 64*x0), tmp51, xmask)
    tl.store(out_ptr7 + (r0_1 + 64*x0), tmp55, xmask)
    tl.store(out_ptr8 + (x0), tmp57, xmask)
