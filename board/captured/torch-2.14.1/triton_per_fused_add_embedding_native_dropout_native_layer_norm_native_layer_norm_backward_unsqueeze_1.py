import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_per_fused_add_embedding_native_dropout_native_layer_norm_native_layer_norm_backward_unsqueeze_1(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, out_ptr1, out_ptr2, out_ptr5, out_ptr6, out_ptr7, load_seed_offset, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    r0_1 = r0_index
    x0 = xindex
    x2 = (xindex % 64)
    tmp6 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp9 = tl.load(in_ptr3 + (x2), xmask, eviction_policy='evict_last')
    tmp38 = tl.load(in_ptr5 + (r0_1), None, eviction_policy='evict_last')
    tmp40 = tl.load(in_ptr6 + (r0_1), None, eviction_policy='evict_last')
    tmp0 = tl.load(in_ptr0 + load_seed_offset)
    tmp1 = (r0_1 + 64*x0).to(tl.int32)
    tmp2 = tl.rand(tmp0, (tmp1).to(tl.uint32))
    tmp3 = tl.full([1, 1], 0.1, tl.float32)
    tmp4 = tmp2 > tmp3
    tmp5 = tmp4.to(tl.float32)
    tl.device_assert(((0 <= tmp6) & (tmp6 < 128)) | ~(xmask), "index out of bounds: 0 <= tmp6 < 128")
    tmp8 = tl.load(in_ptr2 + (r0_1 + 64*tmp6), xmask, eviction_policy='evict_first', other=0.0)
    tl.device_assert(((0 <= tmp9) & (tmp9 < 1024)) | ~(xmask), "index out of bounds: 0 <= tmp9 < 1024")
    tmp11 = tl.load(in_ptr4 + (r0_1 + 64*tmp9), xmask, eviction_policy='evict_first', other=0.0)
    tmp12 = tmp8 + tmp11
    tmp13 = tmp5 * tmp12
    tmp14 = tl.full([1, 1], 1.1111111111111112, tl.float32)
    tmp15 = tmp13 * tmp14
    tmp16 = tl.broadcast_to(tmp15, [XBLOCK, R0_BLOCK])
    tmp18 = tl.where(xmask, tmp16, 0)
    tmp19 = tl.broadcast_to(tmp16, [XBLOCK, R0_BLOCK])
    tmp21 = tl.where(xmask, tmp19, 0)
    tmp22 = tl.sum(tmp21, 1)[:, None].to(tl.float32)
    tmp23 = (tl.full([1, 1], 64, tl.int32)).to(tl.float32)
    tmp24 = (tmp22 / tmp23)
    tmp25 = tmp16 - tmp24
    tmp26 = tmp25 * tmp25
    tmp27 = tl.broadcast_to(tmp26, [XBLOCK, R0_BLOCK])
    tmp29 = tl.where(xmask, tmp27, 0)
    tmp30 = tl.sum(tmp29, 1)[:, None].to(tl.float32)
    tmp31 = tmp15 - tmp24
    tmp32 = tl.full([1, 1], 64.0, tl.float32)
    tmp33 = (tmp30 / tmp32)
    tmp34 = tl.full([1, 1], 1e-05, tl.float32)
    tmp35 = tmp33 + tmp34
    tmp36 = libdevice.rsqrt(tmp35)
    tmp37 = tmp31 * tmp36
    tmp39 = tmp37 * tmp38
    tmp41 = tmp39 + tmp40
    tmp42 = tl.full([1, 1], 0.015625, tl.float32)
    tmp43 = tmp36 * tmp42
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp4, xmask)
    tl.store(out_ptr2 + (r0_1 + 64*x0), tmp15, xmask)
    tl.store(out_ptr5 + (r0_1 + 64*x0), tmp37, xmask)
    tl.store(out_ptr6 + (r0_1 + 64*x0), tmp41, xmask)
    tl.store(out_ptr7 + (x0), tmp43, xmask)
