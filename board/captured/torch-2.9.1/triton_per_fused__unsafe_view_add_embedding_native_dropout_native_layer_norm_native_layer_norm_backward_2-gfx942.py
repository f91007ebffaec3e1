import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused__unsafe_view_add_embedding_native_dropout_native_layer_norm_native_layer_norm_backward_2(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, out_ptr1, out_ptr4, out_ptr5, out_ptr6, load_seed_offset, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp5 = tl.load(in_ptr1 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp7 = tl.load(in_ptr2 + (x0), xmask, eviction_policy='evict_last')
    tmp14 = tl.load(in_ptr4 + (r0_1 + 64*x2), xmask, eviction_policy='evict_last', other=0.0)
    tmp20 = tl.load(in_out_ptr0 + (r0_1 + 64*x0), xmask, other=0.0)
    tmp47 = tl.load(in_ptr5 + (r0_1), None, eviction_policy='evict_last')
    tmp49 = tl.load(in_ptr6 + (r0_1), None, eviction_policy='evict_last')
    tmp0 = tl.load(in_ptr0 + load_seed_offset)
    tmp1 = r0_1 + 64*x0
    tmp2 = tl.rand(tmp0, (tmp1).to(tl.uint32))
    tmp3 = 0.1
    tmp4 = tmp2 > tmp3
    tmp6 = tmp5.to(tl.float32)
    tmp8 = tl.full([XBLOCK, R0_BLOCK], 128, tl.int32)
    tmp9 = tmp7 + tmp8
    tmp10 = tmp7 < 0
    tmp11 = tl.where(tmp10, tmp9, tmp7)
    tl.device_assert(((0 <= tmp11) & (tmp11 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp11 < 128")
    tmp13 = tl.load(in_ptr3 + (r0_1 + 64*tmp11), xmask, other=0.0)
    tmp15 = tmp13 + tmp14
    tmp16 = tmp6 * tmp15
    tmp17 = 1.1111111111111112
    tmp18 = tmp16 * tmp17
    tmp19 = tmp4.to(tl.float32)
    tmp21 = tmp19 * tmp20
    tmp22 = tmp21 * tmp17
    tmp23 = tmp18 + tmp22
    tmp24 = tl.broadcast_to(tmp23, [XBLOCK, R0_BLOCK])
    tmp26 = tl.where(xmask, tmp24, 0)
    tmp27 = tl.broadcast_to(tmp24, [XBLOCK, R0_BLOCK])
    tmp29 = tl.where(xmask, tmp27, 0)
    tmp30 = tl.sum(tmp29, 1)[:, None].to(tl.float32)
    tmp31 = tl.full([XBLOCK, 1], 64, tl.int32)
    tmp32 = tmp31.to(tl.float32)
    tmp33 = (tmp30 / tmp32)
    tmp34 = tmp24 - tmp33
    tmp35 = tmp34 * tmp34
    tmp36 = tl.broadcast_to(tmp35, [XBLOCK, R0_BLOCK])
    tmp38 = tl.where(xmask, tmp36, 0)
    tmp39 = tl.sum(tmp38, 1)[:, None].to(tl.float32)
    tmp40 = tmp23 - tmp33
    tmp41 = 64.0
    tmp42 = (tmp39 / tmp41)
    tmp43 = 1e-05
    tmp44 = tmp42 + tmp43
    tmp45 = libdevice.rsqrt(tmp44)
    tmp46 = tmp40 * tmp45
    tmp48 = tmp46 * tmp47
    tmp50 = tmp48 + tmp49
    tmp51 = 0.015625
    tmp52 = tmp45 * tmp51
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp4, xmask)
    tl.store(in_out_ptr0 + (r0_1 + 64*x0), tmp23, xmask)
    tl.store(out_ptr4 + (r0_1 + 64*x0), tmp46, xmask)
    tl.store(out_ptr5 + (r0_1 + 64*x0), tmp50, xmask)
    tl.store(out_ptr6 + (x0), tmp52, xmask)
