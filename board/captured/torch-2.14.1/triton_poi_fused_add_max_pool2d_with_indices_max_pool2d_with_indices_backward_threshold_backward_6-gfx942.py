import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_max_pool2d_with_indices_max_pool2d_with_indices_backward_threshold_backward_6(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 65536
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x2 = xindex
    x0 = (xindex % 256)
    x1 = xindex // 256
    tmp0 = tl.load(in_ptr0 + (x2), None)
    tmp7 = tl.load(in_ptr1 + (x2), None)
    tmp10 = tl.load(in_ptr2 + (x2), None)
    tmp11 = tl.load(in_ptr3 + (x2), None)
    tmp14 = tl.load(in_ptr4 + (x2), None)
    tmp1 = (tl.full([XBLOCK], 9, tl.int32)).to(tl.int32)
    tmp2 = tmp0 + tmp1
    tmp3 = tmp0 < 0
    tmp4 = tl.where(tmp3, tmp2, tmp0)
    tl.device_assert((0 <= tmp4) & (tmp4 < 9), "index out of bounds: 0 <= tmp4 < 9")
    tl.device_assert(0 <= (-33) + tmp4 + 2*((x0 % 16)) + 29*(tmp4 // 3) + 64*(x0 // 16), "index out of bounds: 0 <= (-33) + tmp4 + 2*((x0 % 16)) + 29*(tmp4 // 3) + 64*(x0 // 16)")
    tmp8 = tl.full([1], 0.0, tl.float32)
    tmp9 = tmp7 <= tmp8
    tmp12 = tmp10 + tmp11
    tmp13 = tl.where(tmp9, tmp8, tmp12)
    tmp15 = tmp13 + tmp14
    tl.atomic_add(out_ptr0 + ((-33) + tmp4 + 2*((x0 % 16)) + 29*(tmp4 // 3) + 64*(x0 // 16) + 1024*x1), tmp15, None, sem='relaxed')
