"""Kernels that compile or not by what their compile is told: of the target, of arguments, of constexprs."""

import triton
import triton.language as tl


@triton.jit
def for_hopper(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(tl.target_info.is_cuda())
    tl.static_assert(not tl.target_info.is_hip())
    tl.static_assert(tl.target_info.cuda_capability_geq(9, 0))


@triton.jit
def for_older(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(tl.target_info.is_cuda())
    tl.static_assert(not tl.target_info.cuda_capability_geq(8, 0))


@triton.jit
def for_cdna3(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(tl.target_info.is_hip())
    tl.static_assert(tl.target_info.is_hip_cdna3())
    tl.static_assert(not tl.target_info.is_cuda())


@triton.jit
def smallest(source, result, size, BLOCK: tl.constexpr):
    read = tl.make_tensor_descriptor(source, [size, size], [size, 1], [BLOCK, BLOCK])
    written = tl.make_tensor_descriptor(result, [size, size], [size, 1], [BLOCK, BLOCK])
    written.atomic_min([0, 0], read.load([0, 0]))


@triton.jit
def chosen_pointers(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(tl.where(at > size, source + at, result + at)))


@triton.jit
def pipelined(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inner = tl.arange(0, 64)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for step in range(size):
        left = tl.load(source + at[:, None] * 4096 + inner[None, :] + step * 64)
        right = tl.load(source + inner[:, None] * 4096 + at[None, :] + step * 4096 * 64)
        total += tl.dot(left, right)
    tl.store(result + at[:, None] * 4096 + at[None, :], total)


@triton.jit
def strided(source, result, stride: int, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at * stride, tl.load(source + at * size))


@triton.jit(do_not_specialize=["size"], debug=True)
def unspecialized(source, result, stride: int, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at * stride, tl.load(source + at * size))


@triton.jit
def converted(
    source, result, size, BLOCK: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr
):
    at = tl.arange(0, BLOCK)
    x = tl.load(source + at)
    tl.store(result + at, x.to(A).to(tl.float32) + x.to(B).to(tl.float32) + x.to(C).to(tl.float32))


@triton.jit
def zeros(source, result, size, BLOCK: tl.constexpr, KIND: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), tl.zeros((BLOCK,), KIND).to(tl.float32))


@triton.jit
def zeros_of_kinds(
    source,
    result,
    size,
    BLOCK: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    D: tl.constexpr,
    E: tl.constexpr,
):
    x = tl.zeros((BLOCK,), A).to(tl.float32) + tl.zeros((BLOCK,), B).to(tl.float32)
    y = tl.zeros((BLOCK,), C).to(tl.float32) + tl.zeros((BLOCK,), D).to(tl.float32)
    tl.store(result + tl.arange(0, BLOCK), x + y + tl.zeros((BLOCK,), E).to(tl.float32))


@triton.jit
def by_torch(source, result, size, BLOCK: tl.constexpr, KIND: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), 1.0)


@triton.jit
def of_shape(source, result, size, SHAPE: tl.constexpr):
    at = tl.arange(0, SHAPE[0])[:, None] * SHAPE[1] + tl.arange(0, SHAPE[1])[None, :]
    tl.store(result + at, tl.load(source + at))


@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def combined(source, result, size, BLOCK: tl.constexpr, COMBINE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, COMBINE(tl.load(source + at), tl.load(result + at)))


@triton.jit
def copied(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def joined(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(source + at), tl.load(result + at), can_reorder=True)
    tl.store(result + tl.arange(0, 2 * BLOCK), both)


@triton.jit
def written_to_its_source(source, result, size, BLOCK: tl.constexpr):
    tl.store(source + tl.arange(0, BLOCK), 1.0)


@triton.jit
def of_tuples(sources, shape, result, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < shape[0]
    total = tl.load(sources[0] + at * shape[1], mask=inside) + tl.load(sources[1] + at, mask=inside)
    tl.store(result + at, total, mask=inside)


@triton.jit
def of_nested(args, result):
    at = tl.arange(0, args[1])
    total = tl.load(args[0] + at * args[2], mask=at < args[3][0])
    if args[4] is not None:
        total += tl.load(args[4] + at)
    tl.store(result + at, total * args[3][1])


@triton.jit
def of_named(args, result):
    at = tl.arange(0, args.block)
    total = tl.load(args.source + at * args.more.step, mask=at < args.more.size)
    if args.bias is not None:
        total += tl.load(args.bias + at)
    tl.store(result + at, total)


@triton.jit
def converted_to_half(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float16))


@triton.jit
def defaulted(source, one=1, wide=32, big=2**40, typed: int = 1, num_warps: tl.constexpr = 2):
    tl.store(source + one + wide + big + typed, num_warps)
