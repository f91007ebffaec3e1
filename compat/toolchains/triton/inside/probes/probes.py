"""Correct kernels that the interpreter of some release computes wrongly, with problems to show it.

They run inside an env that has Triton and PyTorch, with nothing else, on Python 3.8 to 3.14.
:mod:`compat.toolchains.triton.device` lists the feature of a kernel that each of them tests.
"""

import torch
import triton
import triton.language as tl

SIZE = tl.constexpr(16)


@triton.jit
def store(result):
    at = tl.arange(0, SIZE)
    tl.store(result + at, at)


@triton.jit
def loop(result, stop):
    at = tl.arange(0, SIZE)
    total = tl.zeros((SIZE,), dtype=tl.float32)
    for i in range(stop):
        total += i
    tl.store(result + at, total)


@triton.jit
def block_pointer(source, result, rows, columns):
    here = tl.make_block_ptr(source, (rows, columns), (columns, 1), (0, 0), (SIZE, SIZE), (1, 0))
    there = tl.make_block_ptr(result, (rows, columns), (columns, 1), (0, 0), (SIZE, SIZE), (1, 0))
    here = tl.advance(here, (0, SIZE))
    there = tl.advance(there, (0, SIZE))
    tl.store(there, tl.load(here, boundary_check=(0, 1)), boundary_check=(0, 1))


@triton.jit
def descriptor(source, result, rows, columns):
    here = tl.make_tensor_descriptor(source, [rows, columns], [columns, 1], [SIZE, SIZE])
    there = tl.make_tensor_descriptor(result, [rows, columns], [columns, 1], [SIZE, SIZE])
    there.store([0, 16], here.load([0, 16]))


@triton.jit
def bf16_dot(left, right, result):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(result + at, tl.dot(tl.load(left + at), tl.load(right + at)))


@triton.jit
def bf16_arithmetic(left, right, result):
    at = tl.arange(0, SIZE)
    tl.store(result + at, tl.load(left + at) * tl.load(right + at) + tl.load(left + at))


@triton.jit
def bf16_sum(source, result):
    at = tl.arange(0, SIZE)
    tl.store(
        result + at, tl.sum(tl.load(source + at), axis=0) + tl.zeros((SIZE,), dtype=tl.float32)
    )


@triton.jit
def bf16_constant(source, result):
    at = tl.arange(0, SIZE)
    tl.store(result + at, tl.where(at < 5, tl.load(source + at), 1.0).to(tl.bfloat16))


@triton.jit
def rounding(source, result):
    at = tl.arange(0, SIZE)
    tl.store(result + at, tl.load(source + at).to(result.dtype.element_ty))


descriptor_stride = descriptor
bf16_rounding = fp8_rounding = rounding


@triton.jit
def fp16_atomic(source, result):
    at = tl.arange(0, SIZE)
    tl.atomic_add(result + at % 4, tl.load(source + at))


@triton.jit
def nan_maximum(source, result):
    at = tl.arange(0, SIZE)
    tl.store(result + at, tl.maximum(tl.load(source + at), 2.0))


# --- problems -------------------------------------------------------------------------------------


def _problem(arguments, result, reference, **settings):
    """Return one problem. Most problems have integers that every type represents exactly."""
    output = dict({"reference": reference.double()}, **settings)
    return {
        "name": "probe",
        "arguments": dict(arguments, result=result),
        "grid": (1,),
        "outputs": {"result": output},
    }


def _numbers(*shape):
    return torch.randint(-4, 5, shape)


def store_problem(parameters, dtype, seed, device, large):
    yield _problem({}, torch.empty(16, dtype=torch.int32), torch.arange(16))


def loop_problem(parameters, dtype, seed, device, large):
    yield _problem({"stop": 5}, torch.empty(16), torch.full((16,), 10.0))


def block_pointer_problem(parameters, dtype, seed, device, large):
    yield _right_half_problem()


def descriptor_problem(parameters, dtype, seed, device, large):
    yield _right_half_problem(32)


def descriptor_stride_problem(parameters, dtype, seed, device, large):
    yield _right_half_problem(28)


def _right_half_problem(columns=28):
    """Return a problem that loads a block in the right half of a matrix.

    The block extends beyond the last row, and perhaps beyond the last column.
    """
    source = _numbers(13, columns).float()
    reference = torch.cat([torch.zeros(13, 16), source[:, 16:]], dim=1)
    return _problem(
        {"source": source, "rows": 13, "columns": columns},
        torch.empty(13, columns),
        reference,
        initial=0,
    )


def bf16_dot_problem(parameters, dtype, seed, device, large):
    left, right = _numbers(16, 16), _numbers(16, 16)
    arguments = {"left": left.bfloat16(), "right": right.bfloat16()}
    yield _problem(arguments, torch.empty(16, 16), left.double() @ right.double())


def bf16_arithmetic_problem(parameters, dtype, seed, device, large):
    left, right = _numbers(16), _numbers(16)
    arguments = {"left": left.bfloat16(), "right": right.bfloat16()}
    yield _problem(arguments, torch.empty(16, dtype=torch.bfloat16), left * right + left)


def bf16_sum_problem(parameters, dtype, seed, device, large):
    source = _numbers(16)
    yield _problem({"source": source.bfloat16()}, torch.empty(16), source.sum().expand(16))


def bf16_constant_problem(parameters, dtype, seed, device, large):
    source = _numbers(16)
    reference = torch.where(torch.arange(16) < 5, source, 1)
    yield _problem({"source": source.bfloat16()}, torch.empty(16, dtype=torch.bfloat16), reference)


def bf16_rounding_problem(parameters, dtype, seed, device, large):
    source = torch.randn(16)
    yield _problem({"source": source}, torch.empty(16, dtype=torch.bfloat16), source.bfloat16())


def fp8_rounding_problem(parameters, dtype, seed, device, large):
    source = torch.randn(16)
    yield _problem(
        {"source": source}, torch.empty(16, dtype=torch.float8_e5m2), source.to(torch.float8_e5m2)
    )


def fp16_atomic_problem(parameters, dtype, seed, device, large):
    source = _numbers(16)
    result = torch.empty(4, dtype=torch.float16)
    yield _problem({"source": source.half()}, result, source.view(4, 4).sum(0), initial=0)


def nan_maximum_problem(parameters, dtype, seed, device, large):
    source = torch.full((16,), float("nan"))
    source[3] = 7.0
    yield _problem({"source": source}, torch.empty(16), torch.where(torch.arange(16) == 3, 7, 2))
