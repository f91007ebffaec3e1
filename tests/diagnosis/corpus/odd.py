"""What no author means to write, and a release may not have foreseen."""

import triton
import triton.language as tl


@triton.jit
def code_after_return(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 1.0)
    return
    tl.store(result, 2.0)


@triton.jit
def code_after_two_returns(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        return
    else:
        return
    tl.store(result, 2.0)


@triton.jit
def _returns_sometimes(x):
    if x > 3:
        return x + 1


@triton.jit
def helper_returns_sometimes(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _returns_sometimes(size))


@triton.jit
def _returns_something_or_nothing(x):
    if x > 3:
        return x + 1
    else:
        return


@triton.jit
def helper_returns_something_or_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _returns_something_or_nothing(size))


@triton.jit
def range_kept(source, result, size, BLOCK: tl.constexpr):
    steps = tl.range(0, 3)
    for i in steps:
        tl.store(result + i, 1.0)


@triton.jit
def annotated_without_value(source, result, size, BLOCK: tl.constexpr):
    x: tl.constexpr
    tl.store(result, 1.0)


@triton.jit
def only_a_docstring(source, result, size, BLOCK: tl.constexpr):
    """Nothing else."""


@triton.jit
def only_a_constant(source, result, size, BLOCK: tl.constexpr):
    3


@triton.jit
def sum_along_two_axes(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.zeros((16, 16), tl.float32), (0, 1)))


@triton.jit
def zeros_of_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.zeros((), tl.float32))


@triton.jit
def reshape_to_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.reshape(tl.zeros((1,), tl.float32), ()))


@triton.jit
def broadcast_of_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.broadcast())


@triton.jit
def deletes_an_element(source, result, size, BLOCK: tl.constexpr):
    pair = (1, 2)
    del pair[0]
    tl.store(result, 1.0)


@triton.jit
def assigns_into_a_tuple(source, result, size, BLOCK: tl.constexpr):
    pair = (1.0, 2.0)
    pair[0] = 3.0
    tl.store(result, pair[0])


@triton.jit
def nested_tuples(source, result, size, BLOCK: tl.constexpr):
    (a, b), c = (1.0, 2.0), 3.0
    tl.store(result, a + b + c)


@triton.jit
def swaps(source, result, size, BLOCK: tl.constexpr):
    a, b = 1.0, tl.load(source)
    a, b = b, a
    tl.store(result, a - b)


@triton.jit
def loop_variable_reused(source, result, size, BLOCK: tl.constexpr):
    for i in range(size):
        i = tl.load(source + i)
    tl.store(result, 1.0)


@triton.jit
def loop_variable_after(source, result, size, BLOCK: tl.constexpr):
    for i in range(size):
        tl.store(result, 1.0)
    tl.store(result, i)


@triton.jit
def parameter_reassigned(source, result, size, BLOCK: tl.constexpr):
    source = tl.load(source)
    tl.store(result, source)


@triton.jit
def parameter_changes_in_a_loop(source, result, size, BLOCK: tl.constexpr):
    for i in range(3):
        size = tl.load(source + size)
    tl.store(result, size)


@triton.jit
def if_with_tuple(source, result, size, BLOCK: tl.constexpr):
    if (size, 3):
        tl.store(result, 1.0)


@triton.jit
def if_with_string(source, result, size, BLOCK: tl.constexpr):
    if "text":
        tl.store(result, 1.0)


@triton.jit
def if_with_dtype(source, result, size, BLOCK: tl.constexpr):
    if source.dtype.element_ty == tl.float32:
        tl.store(result, 1.0)


@triton.jit
def if_with_wrong_dtype_attribute(source, result, size, BLOCK: tl.constexpr):
    if source.dtype.is_fp8e4m3():
        tl.store(result, 1.0)


@triton.jit
def compares_shapes(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((16, 16), tl.float32)
    if x.shape == (16, 16):
        tl.store(result, 1.0)


@triton.jit
def store_returns(source, result, size, BLOCK: tl.constexpr):
    x = tl.store(result, 1.0)
    tl.store(result, x)


@triton.jit
def barrier_returns(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.debug_barrier())


@triton.jit
def two_widths(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at.to(tl.int64) + at, tl.load(source + at))


@triton.jit
def device_print_of_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.device_print("value")


@triton.jit
def device_print_hex(source, result, size, BLOCK: tl.constexpr):
    tl.device_print("value", size, hex=True)


@triton.jit
def negative_shape(source, result, size, BLOCK: tl.constexpr):
    x = tl.zeros((-16,), tl.float32)
    tl.store(result, tl.sum(x))


@triton.jit
def shift_beyond_the_width(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size << 64)


@triton.jit
def constant_shift_negative(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 1 << (BLOCK - 200))


@triton.jit
def nan_as_int(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, size + float("nan"))


@triton.jit
def infinite_default(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, mask=size > 3, other=float("inf")))


@triton.jit
def max_of_nan_rule(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.maximum(tl.load(source), 0.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def max_of_wrong_nan_rule(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.maximum(tl.load(source), 0.0, propagate_nan="all"))


@triton.jit
def fdiv_of_ints(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.fdiv(size, size))


@triton.jit
def div_rn(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.div_rn(tl.load(source), 3.0))


@triton.jit
def ternary_of_none(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source) if size > 3 else None
    tl.store(result, x)


@triton.jit
def pid_three_dims(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) + tl.program_id(1) + tl.program_id(2) + tl.num_programs(2)
    tl.store(result + at, 1.0)


@triton.jit
def constant_max_of_nan(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, max(float("nan"), 1.0))


@triton.jit
def maps_nothing(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.map_elementwise(_returns_sometimes, tl.load(source + at), pack=0))


@triton.jit(do_not_specialize=["BLOCK"])
def constexpr_not_specialized(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), size)
