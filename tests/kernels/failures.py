"""Small kernels that fail, one defect each. ``tests/diagnosis/capture.py`` says with what arguments, and where."""

import triton
import triton.language as tl

# --- the front end says no ---------------------------------------------------------------------------------------------------


@triton.jit
def mismatched(source, result, size, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK * 2)
    tl.store(result + rows, tl.load(source + rows + columns))


@triton.jit
def dot_of_shapes(source, result, size, BLOCK: tl.constexpr):
    m, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK * 2)
    a = tl.load(source + m[:, None] * 32 + k[None, :])
    tl.store(result + m[:, None] * 32 + k[None, :], tl.dot(a, a))


@triton.jit
def dot_of_dtypes(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(source + at[:, None] * BLOCK + at[None, :])
    tl.store(result + at[:, None] * BLOCK + at[None, :], tl.dot(a, a.to(tl.float16)))


@triton.jit
def load_of_a_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(size))


@triton.jit
def max_of_zero(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.max(0, tl.min(size, 5)))


@triton.jit
def branches_disagree(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        value = tl.load(source)
    else:
        value = tl.load(source + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), value)


@triton.jit
def dtype_changes(source, result, size, BLOCK: tl.constexpr):
    total = 0
    for start in range(0, size, BLOCK):
        total += tl.sum(tl.load(source + start + tl.arange(0, BLOCK)))
    tl.store(result, total)


@triton.jit
def shape_changes(source, result, size, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        total = tl.sum(total + tl.load(source + start + tl.arange(0, BLOCK)), 0)
    tl.store(result, total)


@triton.jit
def runtime_range(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, size))))


@triton.jit
def runtime_shape(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), tl.zeros((size,), tl.float32))


@triton.jit
def runtime_unrolling(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.static_range(size):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def missing_function(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.no_such_function(source))


@triton.jit
def descriptor(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, BLOCK], [BLOCK, 1], [16, BLOCK])
    tl.store(result + tl.arange(0, 16)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], tile.load([0, 0]))


@triton.jit
def block_pointer(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(at, boundary_check=(0,)))


@triton.jit
def wrong_keyword(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source, cache="ca"))


@triton.jit
def loop_hint(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.range(0, size, disallow_acc_multi_buffer=True):
        total += tl.load(source + i)
    tl.store(result, total)


@triton.jit
def undefined_name(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, nowhere_defined)


@triton.jit
def leaves_a_loop(source, result, size, BLOCK: tl.constexpr):
    for i in range(size):
        if tl.load(source + i) > 0:
            break
    tl.store(result, 1.0)


@triton.jit
def defined_in_one_branch(source, result, size, BLOCK: tl.constexpr):
    if size > 3:
        x = tl.load(source)
    tl.store(result, x)


NUMBER = 3


@triton.jit
def global_number(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source) * NUMBER)


def undecorated(x):
    return x + 1


@triton.jit
def calls_undecorated(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, undecorated(tl.load(source)))


@triton.jit
def asserts_statically(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 7 == 0, "shapes do not match: BLOCK must be a multiple of 7")
    tl.store(result, tl.load(source))


@triton.jit
def catches(source, result, size, BLOCK: tl.constexpr):
    try:
        tl.store(result, tl.load(source))
    except ValueError:
        pass


@triton.jit
def lists_by_comprehension(source, result, size, BLOCK: tl.constexpr):
    loaded = [tl.load(source + i) for i in range(3)]
    tl.store(result, loaded[0])


@triton.jit
def function_in_function(source, result, size, BLOCK: tl.constexpr):
    def more(x):
        return x + 1

    tl.store(result, more(tl.load(source)))


@triton.jit
def assigns_into_a_block(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK))
    x[0] = 1.0
    tl.store(result + tl.arange(0, BLOCK), x)


@triton.jit
def returns_in_a_loop(source, result, size, BLOCK: tl.constexpr):
    for _ in range(size):
        return
    tl.store(result, tl.load(source))


@triton.jit
def while_and_else(source, result, size, BLOCK: tl.constexpr):
    i = 0
    while i < size:
        i += 1
    else:
        i = 0
    tl.store(result + i, tl.load(source))


@triton.jit
def converts_to_int(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source).to(int))


# --- the compiler trips over itself ------------------------------------------------------------------------------------------


@triton.jit
def block_typed_bound(source, result, size, BLOCK: tl.constexpr):
    bound = tl.load(source + tl.arange(0, 1)).to(tl.int32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, bound, BLOCK):
        total += tl.load(source + start + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), total)


@triton.jit
def scan(source, result, size, BLOCK: tl.constexpr):
    """With ``num_ctas=2`` an assertion fails inside a pass: an abort to 3.2, ``PassManager::run failed`` from 3.3."""
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cumsum(tl.load(source + at), 0))


@triton.jit
def dot_into_dot(source, result, size, BLOCK: tl.constexpr):
    """With ``num_warps=8`` on sm_90: fine in 3.0 and 3.1, broken in 3.2 and (otherwise) in 3.3, fine from 3.4."""
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    a, b, c = tl.load(source + tile), tl.load(source + size + tile), tl.load(source + 2 * size + tile)
    inner = tl.dot(a, b).to(tl.float16)
    tl.store(result + tile, tl.dot(c, inner))


@triton.jit
def dot_into_dot_in_loop(source, result, size, BLOCK: tl.constexpr):
    """In fp32 with ``num_warps=8`` on sm_90: a segmentation fault in 3.0 and 3.1."""
    at, few = tl.arange(0, BLOCK), tl.arange(0, 16)
    total = tl.zeros((16, BLOCK), tl.float32)
    a = tl.load(source + at[:, None] * BLOCK + at[None, :])
    for i in range(size):
        b = tl.load(source + i * 64 + at[:, None] * BLOCK + at[None, :])
        total += tl.dot(tl.load(source + i * 64 + few[:, None] * BLOCK + at[None, :]), tl.dot(a, b))
    tl.store(result + few[:, None] * BLOCK + at[None, :], total)


@triton.jit
def specialized_loop(source, result, size, BLOCK: tl.constexpr):
    """Warp specialization of pointer loads, on sm_90."""
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in tl.range(0, 8, warp_specialize=True):
        total = tl.dot(tl.load(source + tile + i * BLOCK), tl.load(source + tile + i * BLOCK * BLOCK), total)
    tl.store(result + tile, total)


@triton.jit
def garbled_constraints(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=f,f,~garbage{{", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(result + at, x)


@triton.jit
def uneven_pack(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 2)
    x = tl.load(source + at).to(tl.int8)
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int8, is_pure=True, pack=3)
    tl.store(result + at, x.to(tl.float32))


@triton.jit
def scalar_in_exchange(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_cas(result + at, tl.load(source + at), 1.0)


@triton.jit
def wide_histogram(source, result, size, BLOCK: tl.constexpr):
    counts = tl.histogram(tl.load(source + tl.arange(0, BLOCK)).to(tl.int64), 2)
    tl.store(result + tl.arange(0, 2), counts.to(tl.float32))


@triton.jit
def fp64_to_fp8(source, result, size, BLOCK: tl.constexpr):
    """A conversion that LLVM's lowering does not know: an abort to 3.2, ``PassManager::run failed`` from 3.3."""
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float64).to(tl.float8e5).to(tl.float32))


@triton.jit
def sum_of_fp8(source, result, size, BLOCK: tl.constexpr):
    x = tl.load(source + tl.arange(0, BLOCK)).to(tl.float8e5)
    tl.store(result, tl.sum(x, 0).to(tl.float32))


@triton.jit
def née(source, result, size, BLOCK: tl.constexpr):  # noqa: PLC2401 - what fails
    tl.store(result, tl.load(source))


@triton.jit
def block_condition(source, result, size, BLOCK: tl.constexpr):
    if tl.load(source + tl.arange(0, BLOCK)) > 0:
        tl.store(result, 1.0)


@triton.jit
def old_descriptor(source, result, size, BLOCK: tl.constexpr):
    """Needs the TMA of sm_90; nothing says so before a pass finds no way to lower it."""
    x = tl._experimental_descriptor_load(source, [0, 0], [16, 64], tl.float16)
    tl.store(result + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], x)


@triton.jit
def waits_for_grid(source, result, size, BLOCK: tl.constexpr):
    tl.extra.cuda.gdc_wait()
    tl.store(result, 1.0)


# --- further down ------------------------------------------------------------------------------------------------------------


@triton.jit
def no_such_instruction(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    x = tl.inline_asm_elementwise("no.such.instruction.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(result + at, x)


@triton.jit
def nvidia_instruction(source, result, size, BLOCK: tl.constexpr):
    """Inline assembly for NVIDIA, to be compiled for AMD."""
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at).to(tl.int32)
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(result + at, x.to(tl.float32))


@triton.jit
def square(source, result, size, BLOCK: tl.constexpr):
    """Shared memory grows with ``BLOCK`` squared."""
    at = tl.arange(0, BLOCK)
    a = tl.load(source + at[:, None] * BLOCK + at[None, :])
    tl.store(result + at[:, None] * BLOCK + at[None, :], tl.dot(a, tl.trans(a)))


@triton.jit
def unrolled_for_ever(source, result, size, BLOCK: tl.constexpr):
    total = 0.0
    for _ in tl.static_range(100_000_000):
        total += tl.load(source)
    tl.store(result, total)


@triton.jit
def huge_constant(source, result, size, BLOCK: tl.constexpr):
    """A constant of a gigabyte, shifted back and forth."""
    for i in tl.static_range(100_000):
        tl.store(result + i, (1 << (BLOCK << 26)) >> (BLOCK << 26))


@triton.jit
def copy(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size), mask=at < size)
