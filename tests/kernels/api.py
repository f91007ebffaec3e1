"""One kernel for each piece of Triton's API, or of the Python in kernels, that came or went between 3.0.0 and 3.9.0; and some that stayed."""

import triton
import triton.language as tl


@triton.jit
def assume(source, result, size, BLOCK: tl.constexpr):
    tl.assume(size > 0)
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def gather(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.gather(tl.load(source + at), BLOCK - 1 - at, axis=0))


@triton.jit
def make_tensor_descriptor(source, result, size, BLOCK: tl.constexpr):
    block = tl.make_tensor_descriptor(source, shape=[size], strides=[1], block_shape=[BLOCK])
    tl.store(result + tl.arange(0, BLOCK), block.load([0]))


@triton.jit
def descriptor_atomic_add(source, result, size, BLOCK: tl.constexpr):
    block = tl.make_tensor_descriptor(result, shape=[size], strides=[1], block_shape=[BLOCK])
    block.atomic_add([0], tl.load(source + tl.arange(0, BLOCK)))


@triton.jit
def descriptor_padding(source, result, size, BLOCK: tl.constexpr):
    block = tl.make_tensor_descriptor(source, shape=[size], strides=[1], block_shape=[BLOCK], padding_option="zero")
    tl.store(result + tl.arange(0, BLOCK), block.load([0]))


@triton.jit
def block_pointer(source, result, size, BLOCK: tl.constexpr):
    block = tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(block))


@triton.jit
def advance(source, result, size, BLOCK: tl.constexpr):
    block = tl.advance(tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (0,)), (BLOCK,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(block))


@triton.jit
def histogram(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    counts = tl.histogram(at % 16, 16)
    tl.store(result + tl.arange(0, 16), counts.to(tl.float32))


@triton.jit
def histogram_mask(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    counts = tl.histogram(at % 16, 16, mask=at < size)
    tl.store(result + tl.arange(0, 16), counts.to(tl.float32))


@triton.jit
def topk(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + tl.arange(0, 16), tl.topk(tl.load(source + at), 16))


@triton.jit
def squeeze(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.squeeze(tl.load(source + at)[None, :], 0))


@triton.jit
def unsqueeze(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at[None, :], tl.unsqueeze(tl.load(source + at), 0))


@triton.jit
def _plus_one(x):
    return x + 1


@triton.jit
def map_elementwise(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.map_elementwise(_plus_one, tl.load(source + at)))


@triton.jit
def swizzle2d(source, result, size, BLOCK: tl.constexpr):
    row, column = tl.swizzle2d(tl.program_id(0), tl.program_id(1), 4, 4, 2)
    tl.store(result + row * 4 + column, 1.0)


@triton.jit
def target_info(source, result, size, BLOCK: tl.constexpr):
    if tl.target_info.is_cuda():
        tl.store(result, 1.0)


@triton.jit
def range_warp_specialize(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in tl.range(0, size, warp_specialize=False):
        tl.store(result + at + i, tl.load(source + at + i))


@triton.jit
def range_flatten(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in tl.range(0, size, flatten=True):
        tl.store(result + at + i, tl.load(source + at + i))


@triton.jit
def range_loop_unroll_factor(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in tl.range(0, size, loop_unroll_factor=2):
        tl.store(result + at + i, tl.load(source + at + i))


@triton.jit
def range_disallow_acc_multi_buffer(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in tl.range(0, size, disallow_acc_multi_buffer=True):
        tl.store(result + at + i, tl.load(source + at + i))


@triton.jit
def range_disable_licm(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in tl.range(0, size, disable_licm=True):
        tl.store(result + at + i, tl.load(source + at + i))


@triton.jit
def dot_max_num_imprecise_acc(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    a = tl.load(source + at[:, None] * 16 + at[None, :]).to(tl.float16)
    tl.store(result + at[:, None] * 16 + at[None, :], tl.dot(a, a, max_num_imprecise_acc=0))


@triton.jit
def dot_allow_tf32(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    a = tl.load(source + at[:, None] * 16 + at[None, :])
    tl.store(result + at[:, None] * 16 + at[None, :], tl.dot(a, a, allow_tf32=False))


@triton.jit
def dot_bf16x3(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    a = tl.load(source + at[:, None] * 16 + at[None, :])
    tl.store(result + at[:, None] * 16 + at[None, :], tl.dot(a, a, input_precision="bf16x3"))


@triton.jit
def dot_out_dtype(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)
    a = tl.load(source + at[:, None] * 16 + at[None, :]).to(tl.float16)
    tl.store(result + at[:, None] * 16 + at[None, :], tl.dot(a, a, out_dtype=tl.float16).to(tl.float32))


@triton.jit
def max_tie_break(source, result, size, BLOCK: tl.constexpr):
    value, at = tl.max(tl.load(source + tl.arange(0, BLOCK)), 0, return_indices=True, return_indices_tie_break_left=False)
    tl.store(result + at, value)


@triton.jit
def max_keep_dims(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 1), tl.max(tl.load(source + tl.arange(0, BLOCK)), 0, keep_dims=True))


@triton.jit
def sort_descending(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.sort(tl.load(source + at), descending=True))


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def reduce_keep_dims(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 1), tl.reduce(tl.load(source + tl.arange(0, BLOCK)), 0, _add, keep_dims=True))


@triton.jit
def reduce_or(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reduce_or(tl.arange(0, BLOCK), 0).to(tl.float32))


@triton.jit
def scan_reverse(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.associative_scan(tl.load(source + at), 0, _add, reverse=True))


@triton.jit
def cumsum_reverse(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cumsum(tl.load(source + at), 0, reverse=True))


@triton.jit
def cumsum_dtype(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cumsum(tl.load(source + at), 0, dtype=tl.float64).to(tl.float32))


@triton.jit
def sum_dtype(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, BLOCK)), 0, dtype=tl.float64).to(tl.float32))


@triton.jit
def cast_function(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cast(at, tl.float32))


@triton.jit
def cast_rounding(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cast(tl.load(source + at), tl.float16, fp_downcast_rounding="rtz").to(tl.float32))


@triton.jit
def atomic_scope(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(result + at, tl.load(source + at), sem="relaxed", scope="cta")


@triton.jit
def print_hex(source, result, size, BLOCK: tl.constexpr):
    tl.device_print("size", size, hex=True)


@triton.jit
def float8e4b8(source, result, size, BLOCK: tl.constexpr):
    width: tl.constexpr = tl.float8e4b8.primitive_bitwidth
    tl.store(result, width)


@triton.jit
def attribute_t(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    block = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], block.T)


@triton.jit
def extra_libdevice(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.extra.cuda.libdevice.tanh(tl.load(source + at)))


@triton.jit
def inline_asm(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    one = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [at], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(result + at, one.to(tl.float32))


@triton.jit
def cat_without_reorder(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(source + at), tl.load(source + at), can_reorder=False)
    tl.store(result + tl.arange(0, 2 * BLOCK), both)


@triton.jit
def cat_along(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(source + at), tl.load(source + at), dim=0)
    tl.store(result + tl.arange(0, 2 * BLOCK), both)


@triton.jit
def tuple_of(source, result, size, BLOCK: tl.constexpr):
    both = tl.tuple((size, size + 1))
    tl.store(result, (both[0] + both[1]).to(tl.float32))


@triton.jit
def flip(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.flip(tl.load(source + at)))


@triton.jit
def ravel_reorder(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    block = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + tl.arange(0, 1024), tl.ravel(block, can_reorder=True))


@triton.jit
def gdc_wait(source, result, size, BLOCK: tl.constexpr):
    tl.extra.cuda.gdc_wait()
    tl.store(result, 1.0)


@triton.jit
def to_tensor(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.to_tensor(1.5))


@triton.jit
def permute_method(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    block = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], block.permute(1, 0))


@triton.jit
def sum_method(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source + tl.arange(0, BLOCK)).sum(0))


@triton.jit
def walrus(source, result, size, BLOCK: tl.constexpr):
    if (half := size // 2) > 1:
        tl.store(result, half.to(tl.float32))


@triton.jit
def chained_comparison(source, result, size, BLOCK: tl.constexpr):
    if 0 < size < 10:
        tl.store(result, 1.0)


@triton.jit
def list_of(source, result, size, BLOCK: tl.constexpr):
    both = [size, size + 1]
    tl.store(result, (both[0] + both[1]).to(tl.float32))


@triton.jit
def full_of_float8(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.full((BLOCK,), 1, tl.float8e5).to(tl.float32))


@triton.jit
def dot_scaled(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.full((32, 32), 1, tl.uint8)
    scale = tl.full((32, 1), 1, tl.uint8)
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot_scaled(a, scale, "e5m2", a, scale, "e5m2"))


@triton.jit
def dot_scaled_fast_math(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.full((32, 32), 1, tl.uint8)
    scale = tl.full((32, 1), 1, tl.uint8)
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot_scaled(a, scale, "e5m2", a, scale, "e5m2", fast_math=True))


@triton.jit
def dot_scaled_k_pack(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.full((32, 32), 1, tl.uint8)
    scale = tl.full((32, 1), 1, tl.uint8)
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot_scaled(a, scale, "e5m2", a, scale, "e5m2", lhs_k_pack=True))


@triton.jit
def store_tensor_descriptor(source, result, size, BLOCK: tl.constexpr):
    block = tl.make_tensor_descriptor(result, shape=[size], strides=[1], block_shape=[BLOCK])
    tl.store_tensor_descriptor(block, [0], tl.load(source + tl.arange(0, BLOCK)))


@triton.jit
def experimental_make_descriptor(source, result, size, BLOCK: tl.constexpr):
    block = tl._experimental_make_tensor_descriptor(source, shape=[size, 32], strides=[32, 1], block_shape=[32, 32])
    at = tl.arange(0, 32)
    tl.store(result + at[:, None] * 32 + at[None, :], block.load([0, 0]))


@triton.jit
def experimental_descriptor_load(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    block = tl._experimental_descriptor_load(source, [0, 0], [32, 32], tl.float32)
    tl.store(result + at[:, None] * 32 + at[None, :], block)


@triton.jit
def tensormap_create(source, result, size, BLOCK: tl.constexpr):
    tl.extra.cuda.experimental_device_tensormap_create1d(result, source, BLOCK, size, tl.float32)


@triton.jit
def async_task(source, result, size, BLOCK: tl.constexpr):
    with tl.async_task([0]):
        tl.store(result, tl.load(source))


@triton.jit
def load_boundary_check(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, boundary_check=()))


@triton.jit
def store_boundary_check(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at), boundary_check=())


@triton.jit
def add_function(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.add(tl.load(source), 1.0))


@triton.jit
def mul_function(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.mul(tl.load(source), 2.0))


@triton.jit
def condition(source, result, size, BLOCK: tl.constexpr):
    at = size
    while tl.condition(at > 0, disable_licm=True):
        tl.store(result + at, 1.0)
        at -= 1


@triton.jit
def gather_method(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).gather(BLOCK - 1 - at, axis=0))


@triton.jit
def item_method(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source + tl.arange(0, 1)).item())


@triton.jit
def softmax_dim(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.softmax(tl.load(source + at), dim=0))


@triton.jit
def assert_mask(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.device_assert(at < size, "inside", mask=at < 16)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def topk_ascending(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + tl.arange(0, 16), tl.topk(tl.load(source + at), 16, descending=False))


@triton.jit
def cumprod_dtype(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cumprod(tl.load(source + at), 0, dtype=tl.float64).to(tl.float32))


@triton.jit
def fdiv_approx(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.fdiv(tl.load(source), 3.0, approx=True))


@triton.jit
def atomic_load(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.atomic_load(source))


@triton.jit
def index_into_tuple(source, result, size, BLOCK: tl.constexpr):
    both = (size, size + 1)
    tl.store(result, (both[0] + both[1]).to(tl.float32))


@triton.jit
def star_arguments(source, result, size, BLOCK: tl.constexpr):
    both = (1.0, 2.0)
    tl.store(result, tl.maximum(*both))
