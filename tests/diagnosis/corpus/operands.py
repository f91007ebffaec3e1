"""Operands of the wrong type, value or number: one mistake or feature each."""

import triton
import triton.language as tl


@triton.jit
def pointer_plus_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source + result))


@triton.jit
def pointer_times_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source * 2))


@triton.jit
def pointer_minus_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, result - source)


@triton.jit
def pointer_plus_float(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source + 1.5))


@triton.jit
def pointer_plus_float_block(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at.to(tl.float32)))


@triton.jit
def pointer_as_value(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, source)


@triton.jit
def exp_of_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.exp(source))


@triton.jit
def pointer_compared(source, result, size, BLOCK: tl.constexpr):
    if source == result:
        tl.store(result, 1.0)


@triton.jit
def pointer_and_number_compared(source, result, size, BLOCK: tl.constexpr):
    if source != 0:
        tl.store(result, 1.0)


@triton.jit
def load_of_a_block(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(at))


@triton.jit
def load_of_a_constant(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(3))


@triton.jit
def load_of_none(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(None))


@triton.jit
def store_to_a_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(size, 1.0)


@triton.jit
def store_of_none(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, None)


@triton.jit
def store_of_a_string(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, "text")


@triton.jit
def store_of_a_tuple(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, (1.0, 2.0))


@triton.jit
def store_of_a_block_to_a_scalar(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source + tl.arange(0, BLOCK)))


@triton.jit
def store_of_a_dtype(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.float32)


@triton.jit
def store_of_another_dtype(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(tl.int64))


@triton.jit
def mask_of_floats(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=tl.load(source + at)))


@triton.jit
def mask_of_ints(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at))


@triton.jit
def mask_block_scalar_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, mask=tl.arange(0, BLOCK) < size))


@triton.jit
def other_without_mask(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, other=0.0))


@triton.jit
def other_block_scalar_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, mask=size > 3, other=tl.zeros((BLOCK,), tl.float32)))


@triton.jit
def other_of_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, mask=size > 3, other=source))


@triton.jit
def shift_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source) << 2)


@triton.jit
def and_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source) & 3)


@triton.jit
def invert_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, ~tl.load(source))


@triton.jit
def logical_not_of_block(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=not (at < size)))


@triton.jit
def logical_and_of_blocks(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=(at < size) and (at > 3)))


@triton.jit
def floor_division_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source) // 2.0)


@triton.jit
def modulo_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source) % 2.0)


@triton.jit
def power(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source) ** 2)


@triton.jit
def matrix_multiplication_sign(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(source + at[:, None] * BLOCK + at[None, :])
    tl.store(result + at[:, None] * BLOCK + at[None, :], a @ a)


@triton.jit
def mixed_signs_divided(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size.to(tl.uint32) // size)


@triton.jit
def mixed_signs_remainder(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size.to(tl.uint32) % size)


@triton.jit
def exp_of_ints(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.exp(size))


@triton.jit
def sqrt_of_half(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sqrt(tl.load(source).to(tl.float16)))


@triton.jit
def sqrt_rn_of_half(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sqrt_rn(tl.load(source).to(tl.float16)))


@triton.jit
def erf_of_half(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.erf(tl.load(source).to(tl.float16)))


@triton.jit
def abs_of_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.abs(source))


@triton.jit
def umulhi_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.umulhi(tl.load(source), tl.load(source)))


@triton.jit
def umulhi_of_mixed(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.umulhi(size, size.to(tl.int64)).to(tl.float32))


@triton.jit
def fma_of_mixed(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    tl.store(result, tl.fma(x, x.to(tl.float16), x))


@triton.jit
def clamp_of_ints(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.clamp(size, 0, 5))


@triton.jit
def maximum_of_pointers(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.maximum(source, result))


@triton.jit
def python_max(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, max(tl.load(source), 0.0))


@triton.jit
def python_abs(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, abs(tl.load(source)))


@triton.jit
def python_sum(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, sum(tl.load(source + tl.arange(0, BLOCK))))


@triton.jit
def python_len(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, len(tl.load(source + tl.arange(0, BLOCK))))


@triton.jit
def python_float(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, float(size))


@triton.jit
def python_round(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, round(tl.load(source)))


@triton.jit
def constant_max(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + max(BLOCK, 3), 1.0)


@triton.jit
def to_a_string_dtype(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to("float16"))


@triton.jit
def to_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to())


@triton.jit
def to_python_float(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(float))


@triton.jit
def bitcast_of_widths(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(tl.int16, bitcast=True))


@triton.jit
def cast_of_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, source.to(tl.float32))


@triton.jit
def cast_to_pointer(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(size.to(tl.pointer_type(tl.float32))))


@triton.jit
def cast_to_pointer_wide(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(size.to(tl.int64).to(tl.pointer_type(tl.float32))))


@triton.jit
def cast_rounding(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32))


@triton.jit
def cast_rounding_unknown(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(tl.float16, fp_downcast_rounding="up").to(tl.float32))


@triton.jit
def cast_rounding_upwards(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(tl.float64, fp_downcast_rounding="rtz").to(tl.float32))


@triton.jit
def where_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.where(tl.load(source), 1.0, 0.0))


@triton.jit
def where_of_pointer_and_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(tl.where(size > 3, source, 0)))


@triton.jit
def where_of_two_dtypes(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.where(size > 3, tl.load(source), size))


@triton.jit
def block_called(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    tl.store(result, x(0))


@triton.jit
def number_called(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, BLOCK(0))


@triton.jit
def scalar_indexed(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    tl.store(result, x[0])


@triton.jit
def scalar_with_axis(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    tl.store(result + tl.arange(0, 1), x[None])


@triton.jit
def block_indexed(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, x[3])


@triton.jit
def block_sliced(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, 16), x[0:16])


@triton.jit
def pointer_indexed(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, source[0])


@triton.jit
def shape_attribute(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, x.shape[0])


@triton.jit
def attribute_missing(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    tl.store(result, x.mean())


@triton.jit
def attribute_set(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    x.extra = 3
    tl.store(result, x)


@triton.jit
def method_chain(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, x.sum(axis=0).exp())


@triton.jit
def method_numel(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result, x.numel.value)


@triton.jit
def item_of_tensor(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    tl.store(result, x.item())


@triton.jit
def tuple_arithmetic(source, result, size, BLOCK: tl.constexpr):
    pair = (tl.load(source), 2.0)
    tl.store(result, pair + 1)


@triton.jit
def tuple_index_out_of_range(source, result, size, BLOCK: tl.constexpr):
    pair = (tl.load(source), 2.0)
    tl.store(result, pair[2])


@triton.jit
def tuple_index_at_run_time(source, result, size, BLOCK: tl.constexpr):
    pair = (tl.load(source), 2.0)
    tl.store(result, pair[size])


@triton.jit
def tuple_of_results(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.load(source), 2.0
    pair = (a, b)
    c, d = pair
    tl.store(result, c + d)


@triton.jit
def tuple_too_many(source, result, size, BLOCK: tl.constexpr):
    a, b, c = (tl.load(source), 2.0)
    tl.store(result, a + b + c)


@triton.jit
def unpacks_a_block(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.load(source + tl.arange(0, 2))
    tl.store(result, a + b)


@triton.jit
def dtype_called(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.float32(size))


@triton.jit
def dtype_plus_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.float32 + 1)


@triton.jit
def int_overflow(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size + 99999999999999999999999)


@triton.jit
def int_beyond_32_bits(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size + 5000000000)


@triton.jit
def negative_to_unsigned(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size.to(tl.uint8) + -300)


@triton.jit
def none_plus_one(source, result, size, BLOCK: tl.constexpr):
    x = None
    tl.store(result, x + 1)


@triton.jit
def none_compared(source, result, size, BLOCK: tl.constexpr):
    x = None
    if x is None:
        tl.store(result, tl.load(source))


@triton.jit
def none_as_a_condition(source, result, size, BLOCK: tl.constexpr):
    x = None
    if x:
        tl.store(result, tl.load(source))


@triton.jit
def tensor_is_none(source, result, size, BLOCK: tl.constexpr):
    if source is None:
        tl.store(result, 1.0)
    else:
        tl.store(result, 2.0)


@triton.jit
def string_compared(source, result, size, BLOCK: tl.constexpr):
    mode: tl.constexpr = "fast"
    if mode == "fast":
        tl.store(result, tl.load(source))


@triton.jit
def string_added(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size + "text")


@triton.jit
def dict_used(source, result, size, BLOCK: tl.constexpr):
    settings = {"a": 1}
    tl.store(result, settings["a"])


@triton.jit
def list_used(source, result, size, BLOCK: tl.constexpr):
    values = [tl.load(source), 2.0]
    tl.store(result, values[0])


@triton.jit
def list_appended(source, result, size, BLOCK: tl.constexpr):
    values = []
    values.append(tl.load(source))
    tl.store(result, values[0])


@triton.jit
def set_used(source, result, size, BLOCK: tl.constexpr):
    values = {1, 2}
    tl.store(result, 1.0)


@triton.jit
def constexpr_reassigned(source, result, size, BLOCK: tl.constexpr):
    BLOCK = 3
    tl.store(result, BLOCK)


@triton.jit
def constexpr_annotated_twice(source, result, size, BLOCK: tl.constexpr):
    x: tl.constexpr = 3
    x: tl.constexpr = 4
    tl.store(result, x)


@triton.jit
def constexpr_of_a_value(source, result, size, BLOCK: tl.constexpr):
    x: tl.constexpr = tl.load(source)
    tl.store(result, x)


@triton.jit
def constexpr_called_on_a_value(source, result, size, BLOCK: tl.constexpr):
    x = tl.constexpr(tl.load(source))
    tl.store(result, x)


@triton.jit
def annotated_variable(source, result, size, BLOCK: tl.constexpr):
    x: tl.float32 = tl.load(source)
    tl.store(result, x)


@triton.jit
def constant_division_by_zero(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, BLOCK // 0)


@triton.jit
def constant_wrong_operator(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, BLOCK + "text")
