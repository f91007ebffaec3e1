import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_embedding_expand_native_dropout_native_layer_norm_native_layer_norm_backward_slice_1(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, out_ptr3, out_ptr4, out_ptr5, load_seed_offset, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    x3 = xindex
    r0_2 = r0_index
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (x3), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr2 + (x0), xmask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr4 + (x0), xmask, eviction_policy='evict_last')
    tmp39 = tl.load(in_ptr7 + (r0_2), None, eviction_policy='evict_last')
    tmp41 = tl.load(in_ptr8 + (r0_2), None, eviction_policy='evict_last')
    tl.device_assert(((0 <= tmp0) & (tmp0 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp0 < 128")
    tmp2 = tl.load(in_ptr1 + (r0_2 + 64*tmp0), xmask, eviction_policy='evict_first', other=0.0)
    tl.device_assert(((0 <= tmp3) & (tmp3 < 2)) | ~(xmask), "index out of bounds: 0 <= tmp3 < 2")
    tmp5 = tl.load(in_ptr3 + (r0_2 + 64*tmp3), xmask, eviction_policy='evict_first', other=0.0)
    tmp6 = tmp2 + tmp5
    tl.device_assert(((0 <= tmp7) & (tmp7 < 512)) | ~(xmask), "index out of bounds: 0 <= tmp7 < 512")
    tmp9 = tl.load(in_ptr5 + (r0_2 + 64*tmp7), xmask, eviction_policy='evict_first', other=0.0)
    tmp10 = tmp6 + tmp9
    tmp11 = tl.broadcast_to(tmp10, [XBLOCK, R0_BLOCK])
    tmp13 = tl.where(xmask, tmp11, 0)
    tmp14 = tl.broadcast_to(tmp11, [XBLOCK, R0_BLOCK])
    tmp16 = tl.where(xmask, tmp14, 0)
    tmp17 = tl.sum(tmp16, 1)[:, None].to(tl.float32)
    tmp18 = (tl.full([1, 1], 64, tl.int32)).to(tl.float32)
    tmp19 = (tmp17 / tmp18)
    tmp20 = tmp11 - tmp19
    tmp21 = tmp20 * tmp20
    tmp22 = tl.broadcast_to(tmp21, [XBLOCK, R0_BLOCK])
    tmp24 = tl.where(xmask, tmp22, 0)
    tmp25 = tl.sum(tmp24, 1)[:, None].to(tl.float32)
    tmp26 = tl.load(in_ptr6 + load_seed_offset)
    tmp27 = (r0_2 + 64*x3).to(tl.int32)
    tmp28 = tl.rand(tmp26, (tmp27).to(tl.uint32))
    tmp29 = tl.full([1, 1], 0.1, tl.float32)
    tmp30 = tmp28 > tmp29
    tmp31 = tmp10 - tmp19
    tmp32 = tl.full([1, 1], 64.0, tl.float32)
    tmp33 = (tmp25 / tmp32)
    tmp34 = tl.full([1, 1], 1e-12, tl.float32)
    tmp35 = tmp33 + tmp34
    tmp36 = tl.rsqrt(tmp35)
    tmp37 = tmp31 * tmp36
    tmp38 = tmp30.to(tl.float32)
    tmp40 = tmp37 * tmp39
    tmp42 = tmp40 + tmp41
    tmp43 = tmp38 * tmp42
    tmp44 = tl.full([1, 1], 1.1111111111111112, tl.float32)
    tmp45 = tmp43 * tmp44
    tmp46 = tl.full([1, 1], 0.015625, tl.float32)
    tmp47 = tmp36 * tmp46
    tl.store(out_ptr3 + (r0_2 + 64*x3), tmp30, xmask)
    tl.store(in_out_ptr0 + (r0_2 + 64*x3), tmp37, xmask)
    tl.store(out_ptr4 + (r0_2 + 64*x3), tmp45, xmask)
    tl.store(out_ptr5 + (x3), tmp47, xmask)
