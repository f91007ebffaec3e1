"""Control flow, calls, and the part of Python that is compiled."""

import math

import triton
import triton.language as tl

NUMBER = 3
CONSTANT = tl.constexpr(3)
NAMES = ["a", "b"]


class Settings:
    factor = 2


@triton.jit
def breaks(source, result, size, BLOCK: tl.constexpr):
    for i in range(size):
        if i > 3:
            break
    tl.store(result, 1.0)


@triton.jit
def continues(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(size):
        if i > 3:
            continue
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def returns_early(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        return
    tl.store(result, tl.load(source))


@triton.jit
def returns_early_with_a_value(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _early(size))


@triton.jit
def _early(x):
    if x > 3:
        return x
    return x + 1


@triton.jit
def returns_two_dtypes(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _two_dtypes(size, tl.load(source)))


@triton.jit
def _two_dtypes(x, y):
    if x > 3:
        return x
    return y


@triton.jit
def returns_in_while(source, result, size, BLOCK: tl.constexpr):
    i = 0
    while i < size:
        i += 1
        if i > 3:
            return
    tl.store(result, 1.0)


@triton.jit
def kernel_returns_a_value(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 1.0)
    return 3


@triton.jit
def kernel_returns_a_tensor(source, result, size, BLOCK: tl.constexpr):
    return tl.load(source)


@triton.jit
def while_true(source, result, size, BLOCK: tl.constexpr):
    i = 0
    while True:
        i += 1
        if i > size:
            break
    tl.store(result, i)


@triton.jit
def while_loop(source, result, size, BLOCK: tl.constexpr):
    i = 0
    while i < size:
        i += 1
    tl.store(result, i)


@triton.jit
def while_over_a_block(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    while x > 0:
        x = x - 1
    tl.store(result + tl.arange(0, BLOCK), x)


@triton.jit
def while_carrying_dtype(source, result, size, BLOCK: tl.constexpr):
    total = 0
    i = 0
    while i < size:
        total += tl.load(source + i)
        i += 1
    tl.store(result, total)


@triton.jit
def while_carrying_shape(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    i = 0
    while i < size:
        total += tl.load(source + tl.arange(0, BLOCK))
        i += 1
    tl.store(result + tl.arange(0, BLOCK), total)


@triton.jit
def for_carrying_shape(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(size):
        total += tl.load(source + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), total)


@triton.jit
def for_carrying_pointer(source, result, size, BLOCK: tl.constexpr):
    at = 0
    for i in range(size):
        at = source + i
    tl.store(result, tl.load(at))


@triton.jit
def for_carrying_none(source, result, size, BLOCK: tl.constexpr):
    x = None
    for i in range(size):
        x = tl.load(source + i)
    tl.store(result, x)


@triton.jit
def for_carrying_constexpr(source, result, size, BLOCK: tl.constexpr):
    x: tl.constexpr = 0
    for i in range(size):
        x = x + 1
    tl.store(result, x)


@triton.jit
def for_reassigning_constexpr(source, result, size, BLOCK: tl.constexpr):
    for i in range(size):
        BLOCK = BLOCK + 1
    tl.store(result, BLOCK)


@triton.jit
def if_reassigning_constexpr(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        BLOCK = 5
    tl.store(result, BLOCK)


@triton.jit
def for_carrying_dtype_narrower(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(size):
        total = tl.load(source + i).to(tl.float16)
    tl.store(result, total)


@triton.jit
def for_carrying_tuple(source, result, size, BLOCK: tl.constexpr):
    pair = (0.0, 1.0)
    for i in range(size):
        pair = (tl.load(source + i), pair[0])
    tl.store(result, pair[0])


@triton.jit
def for_carrying_tuple_of_other_length(source, result, size, BLOCK: tl.constexpr):
    pair = (0.0, 1.0)
    for i in range(size):
        pair = (0.0, 1.0, 2.0)
    tl.store(result, pair[0])


@triton.jit
def for_over_a_tuple(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for x in (1, 2, 3):
        total += x
    tl.store(result, total)


@triton.jit
def for_over_a_list(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for x in [1, 2, 3]:
        total += x
    tl.store(result, total)


@triton.jit
def for_over_a_block(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for x in tl.load(source + tl.arange(0, BLOCK)):
        total += x
    tl.store(result, total)


@triton.jit
def for_over_enumerate(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i, x in enumerate((1, 2)):
        total += x
    tl.store(result, total)


@triton.jit
def for_over_zip(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i, x in zip((1, 2), (3, 4)):
        total += x
    tl.store(result, total)


@triton.jit
def for_with_else(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(size):
        total += 1.0
    else:
        total = 3.0
    tl.store(result, total)


@triton.jit
def for_over_floats(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(0.0, tl.load(source)):
        total += 1.0
    tl.store(result, total)


@triton.jit
def for_with_a_float_bound(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(0, size, 1.5):
        total += 1.0
    tl.store(result, total)


@triton.jit
def for_with_negative_step(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(size, 0, -1):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def for_with_zero_step(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.static_range(0, 4, 0):
        total += 1.0
    tl.store(result, total)


@triton.jit
def for_over_nothing(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range():
        total += 1.0
    tl.store(result, total)


@triton.jit
def for_over_wide_and_narrow(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(0, size.to(tl.int64), 1):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def for_over_block_of_one(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(tl.load(source + tl.arange(0, 1)).to(tl.int32)):
        total += 1.0
    tl.store(result, total)


@triton.jit
def static_range(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.static_range(4):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def static_range_of_floats(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.static_range(4.0):
        total += 1.0
    tl.store(result, total)


@triton.jit
def pipelined_range(source, result, size, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.range(0, size, num_stages=3):
        total += tl.load(source + i * BLOCK + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), total)


@triton.jit
def pipelined_range_with_text(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.range(0, size, num_stages="many"):
        total += 1.0
    tl.store(result, total)


@triton.jit
def pipelined_at_run_time(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.range(0, size, num_stages=size):
        total += 1.0
    tl.store(result, total)


@triton.jit
def warp_specialized_range(source, result, size, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.range(0, size, warp_specialize=True):
        total += tl.load(source + i * BLOCK + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), total)


@triton.jit
def if_with_block(source, result, size, BLOCK: tl.constexpr):
    if tl.arange(0, BLOCK) < size:
        tl.store(result, 1.0)


@triton.jit
def if_with_block_of_one(source, result, size, BLOCK: tl.constexpr):
    if tl.load(source + tl.arange(0, 1)) > 0:
        tl.store(result, 1.0)


@triton.jit
def if_with_pointer(source, result, size, BLOCK: tl.constexpr):
    if source:
        tl.store(result, 1.0)


@triton.jit
def if_with_float(source, result, size, BLOCK: tl.constexpr):
    if tl.load(source):
        tl.store(result, 1.0)


@triton.jit
def if_two_dtypes(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        x = 1
    else:
        x = 1.5
    tl.store(result, x)


@triton.jit
def if_two_shapes(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        x = tl.zeros((16,), tl.float32)
    else:
        x = tl.zeros((32,), tl.float32)
    tl.store(result, tl.sum(x))


@triton.jit
def if_changes_dtype(source, result, size, BLOCK: tl.constexpr):
    x = 1
    if size > 3:
        x = tl.load(source)
    tl.store(result, x)


@triton.jit
def if_one_branch_returns(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        x = tl.load(source)
    else:
        return
    tl.store(result, x)


@triton.jit
def if_defined_later(source, result, size, BLOCK: tl.constexpr):
    if BLOCK > 1000:
        x = 1.0
    tl.store(result, x)


@triton.jit
def loop_defines(source, result, size, BLOCK: tl.constexpr):
    for i in range(size):
        x = tl.load(source + i)
    tl.store(result, x)


@triton.jit
def static_if(source, result, size, BLOCK: tl.constexpr):
    if BLOCK > 3:
        tl.store(result, 1.0)
    else:
        tl.store(result, tl.no_such_thing)


@triton.jit
def ternary_block(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, 1.0 if at > 3 else 2.0)


@triton.jit
def ternary_dtypes(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source) if size > 3 else size)


@triton.jit
def ternary(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 1.0 if size > 3 else 2.0)


@triton.jit
def chained_comparison(source, result, size, BLOCK: tl.constexpr):
    if 0 < size < 10:
        tl.store(result, 1.0)


@triton.jit
def three_ands(source, result, size, BLOCK: tl.constexpr):
    if size > 0 and size < 10 and size != 5:
        tl.store(result, 1.0)


@triton.jit
def membership(source, result, size, BLOCK: tl.constexpr):
    if BLOCK in (64, 128):
        tl.store(result, 1.0)


@triton.jit
def not_membership(source, result, size, BLOCK: tl.constexpr):
    if size not in (64, 128):
        tl.store(result, 1.0)


@triton.jit
def identity(source, result, size, BLOCK: tl.constexpr):
    if size is 3:
        tl.store(result, 1.0)


@triton.jit
def uses_lambda(source, result, size, BLOCK: tl.constexpr):
    more = lambda x: x + 1
    tl.store(result, more(tl.load(source)))


@triton.jit
def uses_nested_function(source, result, size, BLOCK: tl.constexpr):
    def more(x):
        return x + 1

    tl.store(result, more(tl.load(source)))


@triton.jit
def uses_class(source, result, size, BLOCK: tl.constexpr):
    class Inner:
        pass

    tl.store(result, 1.0)


@triton.jit
def uses_import(source, result, size, BLOCK: tl.constexpr):
    import math

    tl.store(result, 1.0)


@triton.jit
def uses_global(source, result, size, BLOCK: tl.constexpr):
    global NUMBER
    NUMBER = 5
    tl.store(result, 1.0)


@triton.jit
def uses_del(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    del x
    tl.store(result, 1.0)


@triton.jit
def uses_try(source, result, size, BLOCK: tl.constexpr):
    try:
        tl.store(result, 1.0)
    finally:
        tl.store(result, 2.0)


@triton.jit
def uses_with(source, result, size, BLOCK: tl.constexpr):
    with open("x") as f:
        tl.store(result, 1.0)


@triton.jit
def uses_raise(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        raise ValueError("no")
    tl.store(result, 1.0)


@triton.jit
def uses_yield(source, result, size, BLOCK: tl.constexpr):
    yield 3


@triton.jit
def uses_match(source, result, size, BLOCK: tl.constexpr):
    match size:
        case 3:
            tl.store(result, 1.0)


@triton.jit
def uses_f_string(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 0, f"block {BLOCK}")
    tl.store(result, 1.0)


@triton.jit
def uses_f_string_of_a_value(source, result, size, BLOCK: tl.constexpr):
    tl.device_print(f"block {size}", size)


@triton.jit
def uses_walrus(source, result, size, BLOCK: tl.constexpr):
    if (x := size + 1) > 3:
        tl.store(result, x)


@triton.jit
def uses_comprehension(source, result, size, BLOCK: tl.constexpr):
    x = [i for i in range(3)]
    tl.store(result, x[0])


@triton.jit
def uses_generator(source, result, size, BLOCK: tl.constexpr):
    x = sum(i for i in range(3))
    tl.store(result, x)


@triton.jit
def uses_dict_comprehension(source, result, size, BLOCK: tl.constexpr):
    x = {i: i for i in range(3)}
    tl.store(result, x[0])


@triton.jit
def uses_starred_call(source, result, size, BLOCK: tl.constexpr):
    pair = (result, 1.0)
    tl.store(*pair)


@triton.jit
def uses_double_starred_call(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 1.0, **{"mask": size > 3})


@triton.jit
def uses_starred_assignment(source, result, size, BLOCK: tl.constexpr):
    a, *b = (1.0, 2.0, 3.0)
    tl.store(result, a)


@triton.jit
def uses_chained_assignment(source, result, size, BLOCK: tl.constexpr):
    a = b = tl.load(source)
    tl.store(result, a + b)


@triton.jit
def uses_augmented_attribute(source, result, size, BLOCK: tl.constexpr):
    result += 1
    tl.store(result, 1.0)


@triton.jit
def uses_augmented_matmul(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source)
    x @= 2
    tl.store(result, x)


@triton.jit
def uses_pass(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        pass
    tl.store(result, 1.0)


@triton.jit
def uses_global_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, NUMBER)


@triton.jit
def uses_global_constant(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, CONSTANT)


@triton.jit
def uses_global_list(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, len(NAMES))


@triton.jit
def uses_global_class(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, Settings.factor)


@triton.jit
def uses_math(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, math.pi)


@triton.jit
def calls_math(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, math.sqrt(2.0))


@triton.jit
def calls_math_on_a_value(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, math.sqrt(tl.load(source)))


def plain(x):
    return x + 1


@triton.jit
def calls_plain(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, plain(tl.load(source)))


@triton.jit
def recursion(x):
    return recursion(x + 1)


@triton.jit
def calls_recursion(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, recursion(size))


@triton.jit
def _mutual_one(x):
    return _mutual_two(x)


@triton.jit
def _mutual_two(x):
    return _mutual_one(x)


@triton.jit
def calls_mutual_recursion(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _mutual_one(size))


@triton.jit
def _shrinking(x, N: tl.constexpr):
    if N == 0:
        return x
    else:
        return _shrinking(x + 1, N - 1)


@triton.jit
def calls_static_recursion(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _shrinking(size, 3))


@triton.jit(noinline=True)
def _apart(x):
    return x + 1


@triton.jit
def calls_noinline(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _apart(size))


@triton.jit(noinline=True)
def _apart_block(x):
    return tl.sum(x, 0)


@triton.jit
def calls_noinline_block(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _apart_block(tl.load(source + tl.arange(0, BLOCK))))


@triton.jit
def _with_constexpr(x, N: tl.constexpr):
    return x + tl.arange(0, N)


@triton.jit
def helper_wants_constexpr(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), _with_constexpr(size, size))


@triton.jit
def _with_default(x, y=2):
    return x + y


@triton.jit
def helper_with_default(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _with_default(size))


@triton.jit
def _fails_inside(x):
    return x + undefined_in_helper


@triton.jit
def helper_fails(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _fails_inside(tl.load(source)))


@triton.jit
def _fails_deeper(x):
    return _fails_inside(x) + 1


@triton.jit
def helper_of_helper_fails(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _fails_deeper(tl.load(source)))


@triton.jit
def _nothing(x):
    tl.debug_barrier()


@triton.jit
def helper_returns_nothing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _nothing(size))


@triton.jit
def _pair(x):
    return x, x + 1


@triton.jit
def helper_returns_a_pair(source, result, size, BLOCK: tl.constexpr):
    a, b, c = _pair(size)
    tl.store(result, a + b)


@triton.jit
def helper_returns_a_pair_used_as_one(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _pair(size) + 1)


@triton.jit
def _with_variable_arguments(*xs):
    return xs[0]


@triton.jit
def helper_with_variable_arguments(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _with_variable_arguments(size, 2))


@triton.jit
def passes_a_function(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _applies(_with_default, size))


@triton.jit
def _applies(function: tl.constexpr, x):
    return function(x)


@triton.jit
def passes_a_plain_function(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _applies(plain, size))


@triton.jit
def undefined_in_a_long_kernel(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a0 = tl.load(source + at + 0 * BLOCK, mask=at < size, other=0.0)
    a1 = tl.load(source + at + 1 * BLOCK, mask=at < size, other=0.0)
    a2 = tl.load(source + at + 2 * BLOCK, mask=at < size, other=0.0)
    a3 = tl.load(source + at + 3 * BLOCK, mask=at < size, other=0.0)
    a4 = tl.load(source + at + 4 * BLOCK, mask=at < size, other=0.0)
    a5 = tl.load(source + at + 5 * BLOCK, mask=at < size, other=0.0)
    a6 = tl.load(source + at + 6 * BLOCK, mask=at < size, other=0.0)
    a7 = tl.load(source + at + 7 * BLOCK, mask=at < size, other=0.0)
    a8 = tl.load(source + at + 8 * BLOCK, mask=at < size, other=0.0)
    a9 = tl.load(source + at + 9 * BLOCK, mask=at < size, other=0.0)
    b0 = tl.load(source + at + 10 * BLOCK, mask=at < size, other=0.0)
    b1 = tl.load(source + at + 11 * BLOCK, mask=at < size, other=0.0)
    total = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b0 + b1
    tl.store(result + at, total[:, None] + b_ps[None, :], mask=at < size)


@triton.jit
def undefined_in_a_slice(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    y = x + 1
    y = y + 1
    y = y + 1
    y = y + 1
    y = y + 1
    y = y + 1
    y = y + 1
    y = y + 1
    y = y + 1
    y = y + 1
    y = y + 1
    tl.store(result + tl.arange(0, BLOCK), x[b_ps:])


@triton.jit
def undefined_in_a_keyword(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK), mask=b_ps)
    y = x + 1
    y = y + 1
    y = y + 1
    tl.store(result + tl.arange(0, BLOCK), y)


@triton.jit
def undefined_as_a_default(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, _with_undefined_default(size))


@triton.jit
def _with_undefined_default(x, y=CONSTANT):
    return x + y + b_ps


@triton.jit
def undefined_in_a_condition(source, result, size, BLOCK: tl.constexpr):
    if b_ps:
        tl.store(result, 1.0)


@triton.jit
def undefined_in_a_loop(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(b_ps):
        total += 1.0
    tl.store(result, total)


@triton.jit
def undefined_in_an_augmented_assignment(source, result, size, BLOCK: tl.constexpr):
    b_ps += 1
    tl.store(result, b_ps)


@triton.jit
def undefined_multi_line(source, result, size, BLOCK: tl.constexpr):
    tl.store(
        result,
        tl.load(
            source,
            mask=b_ps,
        ),
    )


@triton.jit
def type_annotation_unknown(source, result: "no_such_type", size, BLOCK: tl.constexpr):
    tl.store(result, 1.0)
