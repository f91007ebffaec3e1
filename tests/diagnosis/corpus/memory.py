"""Atomics, descriptors, block pointers, inline assembly, libdevice."""

import triton
import triton.language as tl

try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None


@triton.jit
def atomic_adds(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(source + at, tl.load(source + at))


@triton.jit
def atomic_max(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_max(source + at, tl.load(source + at))


@triton.jit
def atomic_and(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_and(source + at, tl.load(source + at))


@triton.jit
def atomic_xchg(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_xchg(source + at, tl.load(source + at))


@triton.jit
def atomic_cas(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    tl.atomic_cas(source + at, x, x)


@triton.jit
def atomic_cas_of_dtypes(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_cas(source, size, size)


@triton.jit
def atomic_add_of_dtypes(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_add(result, size)


@triton.jit
def atomic_add_of_shapes(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_add(result, tl.load(source + tl.arange(0, BLOCK)))


@triton.jit
def atomic_add_of_sizes(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_add(result + tl.arange(0, 16), tl.load(source + tl.arange(0, 32)))


@triton.jit
def atomic_add_to_a_value(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_add(size, 1)


@triton.jit
def atomic_mask_of_floats(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_add(result, 1.0, mask=tl.load(source))


@triton.jit
def atomic_sub(source, result, size, BLOCK: tl.constexpr):
    tl.atomic_sub(result, 1.0)


# --- descriptors ------------------------------------------------------------------------------------------------------------


@triton.jit
def descriptor_load(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tl.store(result + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], tile.load([0, 0]))


@triton.jit
def descriptor_store(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tile.store([0, 0], tile.load([0, 0]) + 1)


@triton.jit
def descriptor_atomic(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tile.atomic_add([0, 0], tile.load([0, 0]))


@triton.jit
def descriptor_gather(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [1, 64])
    tl.store(result + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], tile.gather(tl.arange(0, 16), 0))


@triton.jit
def descriptor_scatter(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [1, 64])
    tile.scatter(tile.gather(tl.arange(0, 16), 0), tl.arange(0, 16), 0)


@triton.jit
def descriptor_gather_of_many_rows(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tl.store(result + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], tile.gather(tl.arange(0, 16), 0))


@triton.jit
def descriptor_of_six(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [2, 2, 2, 2, 2, 16], [64, 32, 16, 8, 4, 1], [1, 1, 1, 1, 1, 16])
    tile.store([0, 0, 0, 0, 0, 0], tile.load([0, 0, 0, 0, 0, 0]))


@triton.jit
def descriptor_of_ranks(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [1], [16, 64])
    tile.store([0, 0], tile.load([0, 0]))


@triton.jit
def descriptor_strided(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [1, 64], [16, 64])
    tile.store([0, 0], tile.load([0, 0]))


@triton.jit
def descriptor_too_narrow(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 2], [2, 1], [16, 2])
    tile.store([0, 0], tile.load([0, 0]))


@triton.jit
def descriptor_one_offset(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tile.store([0, 0], tile.load([0]))


@triton.jit
def descriptor_block_offsets(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tile.store([0, 0], tile.load([tl.arange(0, 16), 0]))


@triton.jit
def descriptor_block_at_run_time(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [size, 64])
    tile.store([0, 0], tile.load([0, 0]))


@triton.jit
def descriptor_of_a_value(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(size, [size, 64], [64, 1], [16, 64])
    tile.store([0, 0], tile.load([0, 0]))


@triton.jit
def descriptor_stores_another_shape(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])
    tile.store([0, 0], tl.zeros((32, 64), tl.float32))


@triton.jit
def descriptor_padding(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64], padding_option="nan")
    tile.store([0, 0], tile.load([0, 0]))


@triton.jit
def descriptor_in_a_loop(source, result, size, BLOCK: tl.constexpr):
    tile = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [64, 64])
    total = tl.zeros((64, 64), tl.float32)
    for i in range(size):
        total = tl.dot(tile.load([i * 64, 0]), tile.load([0, 0]).T, total)
    tile.store([0, 0], total.to(tile.dtype))


@triton.jit
def descriptor_argument(source, result, size, BLOCK: tl.constexpr):
    x = source.load([0, 0])
    tl.store(result + tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :], x.to(tl.float32))


@triton.jit
def block_pointer(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size, 64), (64, 1), (0, 0), (16, 64), (1, 0))
    tl.store(result + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], tl.load(at, boundary_check=(0, 1)))


@triton.jit
def block_pointer_with_mask(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(at, mask=tl.arange(0, BLOCK) < size))


@triton.jit
def block_pointer_check_out_of_range(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(at, boundary_check=(3,)))


@triton.jit
def block_pointer_of_ranks(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size, 64), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(at))


@triton.jit
def block_pointer_order(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (5,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(at))


@triton.jit
def block_pointer_plus_number(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(at + 1))


@triton.jit
def block_pointer_nan_padding_of_ints(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(source.to(tl.pointer_type(tl.int32)), (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(at, boundary_check=(0,), padding_option="nan"))


@triton.jit
def block_pointer_stores_dtype(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(result, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(at, tl.arange(0, BLOCK))


@triton.jit
def block_pointer_stores_shape(source, result, size, BLOCK: tl.constexpr):
    at = tl.make_block_ptr(result, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(at, tl.zeros((64,), tl.float32))


# --- inline assembly and device libraries -----------------------------------------------------------------------------------


@triton.jit
def asm_unknown(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("nonsense.f32 $0, $1;", "=f,f", [tl.load(source + at)], tl.float32, True, 1)
    tl.store(result + at, x)


@triton.jit
def asm_fine(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=f,f", [tl.load(source + at)], tl.float32, True, 1)
    tl.store(result + at, x)


@triton.jit
def asm_of_amd(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("v_add_f32 $0, $1, $1", "=v,v", [tl.load(source + at)], tl.float32, True, 1)
    tl.store(result + at, x)


@triton.jit
def asm_wrong_constraint(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=q,q", [tl.load(source + at)], tl.float32, True, 1)
    tl.store(result + at, x)


@triton.jit
def asm_too_few_constraints(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=f", [tl.load(source + at)], tl.float32, True, 1)
    tl.store(result + at, x)


@triton.jit
def asm_register_out_of_range(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("add.f32 $0, $1, $7;", "=f,f", [tl.load(source + at)], tl.float32, True, 1)
    tl.store(result + at, x)


@triton.jit
def asm_new_instruction(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [tl.load(source + at)], tl.float32, True, 1)
    tl.store(result + at, x)


@triton.jit
def asm_hopper_instruction(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.inline_asm_elementwise(
        "{ .reg .b16 t; cvt.rn.satfinite.e4m3x2.f32 t, $1, $1; cvt.u32.u16 $0, t; }",
        "=r,f",
        [tl.load(source + at)],
        tl.int32,
        True,
        1,
    )
    tl.store(result + at, x)


@triton.jit
def asm_two_results(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.inline_asm_elementwise(
        "mov.b32 $0, $2; mov.b32 $1, $2;", "=f,=f,f", [tl.load(source + at)], (tl.float32, tl.float32), True, 1
    )
    tl.store(result + at, a + b)


@triton.jit
def asm_without_arguments(source, result, size, BLOCK: tl.constexpr):
    x = tl.inline_asm_elementwise("mov.b32 $0, 3;", "=r", [], tl.int32, True, 1)
    tl.store(result, x)


@triton.jit
def asm_text_at_run_time(source, result, size, BLOCK: tl.constexpr):
    x = tl.inline_asm_elementwise(size, "=r,r", [size], tl.int32, True, 1)
    tl.store(result, x)


@triton.jit
def asm_dtype_as_string(source, result, size, BLOCK: tl.constexpr):
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [size], "int32", True, 1)
    tl.store(result, x)


@triton.jit
def libdevice_tanh(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, libdevice.tanh(tl.load(source + at)).to(tl.float32))


@triton.jit
def libdevice_pow(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    tl.store(result + at, libdevice.pow(x, x).to(tl.float32))


@triton.jit
def libdevice_pow_of_mixed(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, libdevice.pow(tl.load(source + at), at).to(tl.float32))


@triton.jit
def libdevice_missing(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, libdevice.no_such_function(tl.load(source)))


@triton.jit
def libdevice_ffs(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, libdevice.ffs(tl.load(source)).to(tl.float32))


@triton.jit
def libdevice_isnan(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, libdevice.isnan(tl.load(source)).to(tl.float32))


@triton.jit
def libdevice_rsqrt(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, libdevice.rsqrt(tl.load(source)).to(tl.float32))


@triton.jit
def libdevice_round(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, libdevice.round(tl.load(source)).to(tl.float32))


@triton.jit
def libdevice_fast_exp(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, libdevice.fast_expf(tl.load(source)).to(tl.float32))


@triton.jit
def libdevice_lgamma(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, libdevice.lgamma(tl.load(source)).to(tl.float32))


@triton.jit
def cuda_libdevice(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.extra.cuda.libdevice.tanh(tl.load(source)).to(tl.float32))


@triton.jit
def hip_libdevice(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.extra.hip.libdevice.tanh(tl.load(source)).to(tl.float32))


@triton.jit
def cuda_special(source, result, size, BLOCK: tl.constexpr):
    x = tl.extra.cuda.convert_custom_float8_sm80(tl.load(source + tl.arange(0, BLOCK)), tl.float16)
    tl.store(result + tl.arange(0, BLOCK), x)


@triton.jit
def dependent_launch(source, result, size, BLOCK: tl.constexpr):
    tl.extra.cuda.gdc_wait()
    tl.store(result, tl.load(source))
    tl.extra.cuda.gdc_launch_dependents()


# --- caches -----------------------------------------------------------------------------------------------------------------


@triton.jit
def evicts_last(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, eviction_policy="evict_last"))


@triton.jit
def evicts_first(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, eviction_policy="evict_first"), eviction_policy="evict_first")


@triton.jit
def cached_globally(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, cache_modifier=".cg"), cache_modifier=".wt")


@triton.jit
def prefetched(source, result, size, BLOCK: tl.constexpr):
    tl.prefetch(source + tl.arange(0, BLOCK))
    tl.store(result, 1.0)
