"""Matrix products, conversions and arithmetic, by dtype."""

import triton
import triton.language as tl


@triton.jit
def dot(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(source + at[:, None] * BLOCK + at[None, :])
    b = tl.load(source + size + at[:, None] * BLOCK + at[None, :])
    tl.store(result + at[:, None] * BLOCK + at[None, :], tl.dot(a, b).to(tl.float32))


@triton.jit
def dot_in_a_loop(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in range(size):
        total = tl.dot(tl.load(source + i * BLOCK + tile), tl.load(source + size + i * BLOCK + tile), total)
    tl.store(result + tile, total)


@triton.jit
def dot_of_a_dot(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    a, b, c = tl.load(source + tile), tl.load(source + size + tile), tl.load(source + 2 * size + tile)
    tl.store(result + tile, tl.dot(tl.dot(a, b).to(a.dtype), c).to(tl.float32))


@triton.jit
def dot_transposed(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    a = tl.load(source + tile)
    tl.store(result + tile, tl.dot(a, tl.trans(a)).to(tl.float32))


@triton.jit
def dot_with_half_result(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    a = tl.load(source + tile)
    tl.store(result + tile, tl.dot(a, a, out_dtype=tl.float16).to(tl.float32))


@triton.jit
def dot_with_int_result(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    a = tl.load(source + tile)
    tl.store(result + tile, tl.dot(a, a, out_dtype=tl.int32).to(tl.float32))


@triton.jit
def dot_with_wrong_accumulator(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    a = tl.load(source + tile)
    tl.store(result + tile, tl.dot(a, a, tl.zeros((BLOCK, BLOCK), tl.float64)).to(tl.float32))


@triton.jit
def dot_with_accumulator_of_shape(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    a = tl.load(source + tile)
    tl.store(result + tile, tl.dot(a, a, tl.zeros((BLOCK, 16), tl.float32)))


@triton.jit
def dot_of_vectors(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(source + at)
    tl.store(result, tl.dot(a, a))


@triton.jit
def dot_of_scalars(source, result, size, BLOCK: tl.constexpr):
    a = tl.load(source)
    tl.store(result, tl.dot(a, a))


@triton.jit
def dot_of_ranks(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(source + at[:, None] * BLOCK + at[None, :])
    tl.store(result + at, tl.dot(a, tl.load(source + at)))


@triton.jit
def dot_of_three(source, result, size, BLOCK: tl.constexpr):
    a = tl.zeros((4, 32, 32), tl.float16)
    tl.store(result, tl.sum(tl.dot(a, a)))


@triton.jit
def dot_of_inner_sizes(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.zeros((32, 64), tl.float16), tl.zeros((32, 32), tl.float16)
    tl.store(result, tl.sum(tl.dot(a, b)))


@triton.jit
def dot_of_two_dtypes(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.zeros((32, 32), tl.float16), tl.zeros((32, 32), tl.float32)
    tl.store(result, tl.sum(tl.dot(a, b)))


@triton.jit
def dot_of_two_fp8(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.zeros((32, 32), tl.float8e5), tl.zeros((32, 32), tl.float8e4nv)
    tl.store(result, tl.sum(tl.dot(a, b)))


@triton.jit
def dot_too_small(source, result, size, BLOCK: tl.constexpr):
    a = tl.zeros((8, 8), tl.float16)
    tl.store(result, tl.sum(tl.dot(a, a)))


@triton.jit
def dot_with_one_row(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.zeros((1, 32), tl.float16), tl.zeros((32, 32), tl.float16)
    tl.store(result, tl.sum(tl.dot(a, b)))


@triton.jit
def dot_with_k_of_eight(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.zeros((32, 8), tl.float16), tl.zeros((8, 32), tl.float16)
    tl.store(result, tl.sum(tl.dot(a, b)))


@triton.jit
def dot_of_int8_with_k_of_sixteen(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.zeros((32, 16), tl.int8), tl.zeros((16, 32), tl.int8)
    tl.store(result, tl.sum(tl.dot(a, b)))


@triton.jit
def dot_max_imprecise(source, result, size, BLOCK: tl.constexpr):
    a = tl.zeros((32, 32), tl.float8e5)
    tl.store(result, tl.sum(tl.dot(a, a, max_num_imprecise_acc=999)))


@triton.jit
def dot_of_a_number(source, result, size, BLOCK: tl.constexpr):
    a = tl.zeros((32, 32), tl.float16)
    tl.store(result, tl.sum(tl.dot(a, 2)))


@triton.jit
def scaled_dot_unknown_format(source, result, size, BLOCK: tl.constexpr):
    a, s = tl.zeros((64, 64), tl.uint8), tl.zeros((64, 2), tl.uint8)
    tl.store(result, tl.sum(tl.dot_scaled(a, s, "e9m9", a, s, "e5m2")))


@triton.jit
def scaled_dot_e2m1(source, result, size, BLOCK: tl.constexpr):
    a, b, s = tl.zeros((64, 32), tl.uint8), tl.zeros((32, 64), tl.uint8), tl.zeros((64, 2), tl.uint8)
    tl.store(result, tl.sum(tl.dot_scaled(a, s, "e2m1", b, s, "e2m1")))


@triton.jit
def scaled_dot_wrong_scale(source, result, size, BLOCK: tl.constexpr):
    a, s = tl.zeros((64, 64), tl.float8e5), tl.zeros((64, 7), tl.uint8)
    tl.store(result, tl.sum(tl.dot_scaled(a, s, "e5m2", a, s, "e5m2")))


# --- one dtype each ---------------------------------------------------------------------------------------------------------


@triton.jit
def copies(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float32))


@triton.jit
def adds(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    tl.store(result + at, (x + x).to(tl.float32))


@triton.jit
def sums(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.sum(tl.load(source + tl.arange(0, BLOCK)), 0).to(tl.float32))


@triton.jit
def maximum_of_block(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.max(tl.load(source + tl.arange(0, BLOCK)), 0).to(tl.float32))


@triton.jit
def cumulates(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.cumsum(tl.load(source + at), 0).to(tl.float32))


@triton.jit
def sorts(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.sort(tl.load(source + at)).to(tl.float32))


@triton.jit
def exponential(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.exp(tl.load(source + at)).to(tl.float32))


@triton.jit
def sigmoid(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.sigmoid(tl.load(source + at)).to(tl.float32))


@triton.jit
def divides(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    tl.store(result + at, (x / x).to(tl.float32))


@triton.jit
def clamps(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    tl.store(result + at, tl.clamp(x, x, x).to(tl.float32))


@triton.jit
def to_fp8e4nv(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float8e4nv).to(tl.float32))


@triton.jit
def to_fp8e5(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float8e5).to(tl.float32))


@triton.jit
def to_fp8e4b15(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float8e4b15).to(tl.float32))


@triton.jit
def to_fp8e4b8(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float8e4b8).to(tl.float32))


@triton.jit
def to_fp8e5b16(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float8e5b16).to(tl.float32))


@triton.jit
def to_bf16(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.bfloat16).to(tl.float32))


@triton.jit
def gathers(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.gather(tl.load(source + at), at, 0).to(tl.float32))


@triton.jit
def histogram(source, result, size, BLOCK: tl.constexpr):
    counts = tl.histogram(tl.load(source + tl.arange(0, BLOCK)), 16)
    tl.store(result + tl.arange(0, 16), counts.to(tl.float32))


@triton.jit
def transposes(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tile = at[:, None] * BLOCK + at[None, :]
    tl.store(result + tile, tl.trans(tl.load(source + tile)).to(tl.float32))


@triton.jit
def splits(source, result, size, BLOCK: tl.constexpr):
    a, b = tl.split(tl.reshape(tl.load(source + tl.arange(0, 64)), (32, 2)))
    tl.store(result + tl.arange(0, 32), (a + b).to(tl.float32))
