"""Names of Triton's API: those that came, those that went, and arguments that it does not take."""

import triton
import triton.language as tl


@triton.jit
def new_gather(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    tl.store(result + at, tl.gather(x, at, 0))


@triton.jit
def new_range_keywords(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.range(0, size, flatten=True):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def new_range_unroll(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.range(0, size, loop_unroll_factor=2):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def new_range_licm(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.range(0, size, disable_licm=True):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def new_sum_dtype(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, BLOCK)), 0, dtype=tl.float32))


@triton.jit
def new_topk(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, 4), tl.topk(tl.load(source + tl.arange(0, BLOCK)), 4))


@triton.jit
def new_dot_scaled(source, result, size, BLOCK: tl.constexpr):
    at, k, s = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 2)
    a = tl.load(source + at[:, None] * 64 + k[None, :]).to(tl.float8e5)
    scale = tl.load(source + at[:, None] * 2 + s[None, :]).to(tl.uint8)
    tl.store(result + at[:, None] * 64 + at[None, :], tl.dot_scaled(a, scale, "e5m2", a, scale, "e5m2"))


@triton.jit
def new_map_elementwise(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.map_elementwise(_more, tl.load(source + at)))


@triton.jit
def _more(x):
    return x + 1


@triton.jit
def new_squeeze(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.squeeze(tl.load(source + at)[None, :], 0))


@triton.jit
def new_item(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source + tl.arange(0, 1)).item())


@triton.jit
def new_target_info(source, result, size, BLOCK: tl.constexpr):
    if tl.target_info.is_cuda():
        tl.store(result, 1.0)


@triton.jit
def new_program_id_axis(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.program_id(axis=0), 1.0)


@triton.jit
def new_tuple_type(source, result, size, BLOCK: tl.constexpr):
    pair = tl.tuple([1, 2])
    tl.store(result, pair[0])


@triton.jit
def old_libdevice(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.math.tanh(tl.load(source)))


@triton.jit
def old_libdevice_module(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.libdevice.tanh(tl.load(source)))


@triton.jit
def old_math_pow(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.math.pow(tl.load(source), 2.0))


@triton.jit
def old_math_max(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.math.max(tl.load(source), 2.0))


@triton.jit
def old_view(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at[None, :], tl.view(tl.load(source + at), [1, BLOCK]))


@triton.jit
def old_multiple_of(source, result, size, BLOCK: tl.constexpr):
    at = tl.multiple_of(tl.arange(0, BLOCK), 16)
    tl.store(result + at, tl.load(source + tl.max_contiguous(at, BLOCK)))


@triton.jit
def old_allow_tf32(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot(a, a, allow_tf32=False))


@triton.jit
def old_block_pointer_advance(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size, 64), (64, 1), (0, 0), (16, 64), (1, 0))
    x = tl.load(tl.advance(at, (16, 0)))
    tl.store(tl.make_block_ptr(result, (size, 64), (64, 1), (0, 0), (16, 64), (1, 0)), x)


@triton.jit
def old_experimental_descriptor(source, result, size, BLOCK: tl.constexpr):
    tile = tl._experimental_make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tl.store(result + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], tile.load([0, 0]))


@triton.jit
def old_reinterpret_descriptor(source, result, size, BLOCK: tl.constexpr):
    tile = tl._experimental_reinterpret_tensor_descriptor(source, [16, 64], tl.float32)
    tl.store(result + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], tile.load([0, 0]))


@triton.jit
def old_debug_barrier(source, result, size, BLOCK: tl.constexpr):
    tl.debug_barrier()
    tl.store(result, tl.load(source))


@triton.jit
def old_swizzle(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.swizzle2d(tl.program_id(0), tl.program_id(1), 4, 4, 2)
    tl.store(result + a, b)


@triton.jit
def wrong_module(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.nn.softmax(tl.load(source)))


@triton.jit
def wrong_top_module(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, triton.load(source))


@triton.jit
def torch_like_zeros(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), tl.ones((BLOCK,), tl.float32))


@triton.jit
def missing_dtype(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(tl.float4))


@triton.jit
def missing_method(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).clone())


@triton.jit
def missing_extra(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.extra.cuda.libdevice.no_such_function(tl.load(source)))


@triton.jit
def wrong_keyword_store(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 1.0, value=2.0)


@triton.jit
def wrong_keyword_sum(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, BLOCK)), dim=0))


@triton.jit
def wrong_keyword_dot(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot(a, a, transpose_b=True))


@triton.jit
def too_many_arguments(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.exp(tl.load(source), 1.0, 2.0, 3.0))


@triton.jit
def too_few_arguments(source, result, size, BLOCK: tl.constexpr):
    tl.store(result)


@triton.jit
def no_arguments(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load())


@triton.jit
def argument_given_twice(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, pointer=source))


@triton.jit
def helper_too_many(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _more(tl.load(source), 2))


@triton.jit
def helper_too_few(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _more())


@triton.jit
def helper_wrong_keyword(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _more(x=tl.load(source), y=2))


@triton.jit
def cache_modifier_unknown(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, cache_modifier=".xx"))


@triton.jit
def cache_modifier_of_store_unknown(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 1.0, cache_modifier=".ca")


@triton.jit
def cache_modifier_cv(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, cache_modifier=".cv"))


@triton.jit
def cache_modifier_cs(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, cache_modifier=".cs"))


@triton.jit
def eviction_unknown(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, eviction_policy="never"))


@triton.jit
def padding_without_block_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, padding_option="zero"))


@triton.jit
def padding_unknown(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, padding_option="five"))


@triton.jit
def boundary_check_without_block_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, boundary_check=(0,)))


@triton.jit
def program_id_of_axis_three(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.program_id(3), 1.0)


@triton.jit
def num_programs_of_axis_four(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.num_programs(4), 1.0)


@triton.jit
def program_id_at_run_time(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.program_id(size), 1.0)


@triton.jit
def input_precision_unknown(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot(a, a, input_precision="tf64"))


@triton.jit
def input_precision_bf16x3(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot(a, a, input_precision="bf16x3"))


@triton.jit
def input_precision_tf32x3(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot(a, a, input_precision="tf32x3"))


@triton.jit
def input_precision_and_tf32(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 32)
    a = tl.load(source + at[:, None] * 32 + at[None, :])
    tl.store(result + at[:, None] * 32 + at[None, :], tl.dot(a, a, input_precision="ieee", allow_tf32=True))


@triton.jit
def semantics_unknown(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_add(result, 1.0, sem="strong")


@triton.jit
def scope_unknown(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_add(result, 1.0, scope="galaxy")


@triton.jit
def arange_not_a_power_of_two(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 100)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def arange_backwards(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(BLOCK, 0)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def arange_empty(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 0)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def arange_of_floats(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0.0, 64.0)
    tl.store(result + at, 1.0)


@triton.jit
def arange_beyond_32_bits(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 8589934592)
    tl.store(result + at, 1.0)


@triton.jit
def arange_one_argument(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(BLOCK)
    tl.store(result + at, 1.0)


@triton.jit
def block_too_large(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 2097152)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def zeros_too_large(source, result, size, BLOCK: tl.constexpr):
    at, to = tl.arange(0, 2048), tl.arange(0, 1024)
    tl.store(result + at[:, None] * 1024 + to[None, :], tl.zeros((2048, 1024), tl.float32))


@triton.jit
def zeros_not_a_power_of_two(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((100,), tl.float32)
    tl.store(result, tl.sum(x))


@triton.jit
def zeros_of_floats(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((64.0,), tl.float32)
    tl.store(result, tl.sum(x))


@triton.jit
def zeros_without_dtype(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((64,))
    tl.store(result, tl.sum(x))


@triton.jit
def zeros_of_python_dtype(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((64,), float)
    tl.store(result, tl.sum(x))


@triton.jit
def zeros_of_a_number(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros(64, tl.float32)
    tl.store(result, tl.sum(x))


@triton.jit
def full_without_dtype(source, result, size, BLOCK: tl.constexpr):
    x = tl.full((64,), 1.0)
    tl.store(result, tl.sum(x))


@triton.jit
def full_of_a_block(source, result, size, BLOCK: tl.constexpr):
    x = tl.full((64,), tl.load(source + tl.arange(0, 64)), tl.float32)
    tl.store(result, tl.sum(x))


@triton.jit
def zeros_like_a_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.zeros_like(size))


@triton.jit
def cdiv_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.cdiv(tl.load(source), 2.0))


@triton.jit
def static_print(source, result, size, BLOCK: tl.constexpr):
    tl.static_print("size", size)
    tl.store(result, tl.load(source))


@triton.jit
def device_print(source, result, size, BLOCK: tl.constexpr):
    tl.device_print("value", tl.load(source))


@triton.jit
def device_print_without_text(source, result, size, BLOCK: tl.constexpr):
    tl.device_print(tl.load(source))


@triton.jit
def device_print_special(source, result, size, BLOCK: tl.constexpr):
    tl.device_print("100% 'é'", tl.load(source))


@triton.jit
def python_print(source, result, size, BLOCK: tl.constexpr):
    print("value", tl.load(source))


@triton.jit
def device_assert(source, result, size, BLOCK: tl.constexpr):
    tl.device_assert(size > 0, "nothing")
    tl.store(result, tl.load(source))


@triton.jit
def device_assert_without_text(source, result, size, BLOCK: tl.constexpr):
    tl.device_assert(size > 0, 3)
    tl.store(result, tl.load(source))


@triton.jit
def python_assert(source, result, size, BLOCK: tl.constexpr):
    assert size > 0, "nothing"
    tl.store(result, tl.load(source))


@triton.jit
def static_assert_of_a_value(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(size > 0, "nothing")
    tl.store(result, tl.load(source))


@triton.jit
def static_assert_without_words(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == 7)
    tl.store(result, tl.load(source))


@triton.jit
def assumes(source, result, size, BLOCK: tl.constexpr):
    tl.assume(size > 0)
    tl.store(result, tl.load(source))


@triton.jit
def assumes_a_number(source, result, size, BLOCK: tl.constexpr):
    tl.assume(tl.load(source))
    tl.store(result, 1.0)


@triton.jit
def random_numbers(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.rand(size, at))


@triton.jit
def random_with_float_seed(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.rand(tl.load(source), at.to(tl.float32)))


@triton.jit
def clock(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.extra.cuda.globaltimer())


@triton.jit
def shared_id(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.extra.cuda.smid())


@triton.jit
def num_warps_inside(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.extra.cuda.num_warps())


@triton.jit
def num_threads_inside(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.extra.cuda.num_threads())
