"""Kernels under the decorators that libraries use."""

import inspect

import torch
import triton
import triton.language as tl

from .constants import gather, next_power
from .helpers import activation

_CONFIGS = [triton.Config({"BLOCK": block}, num_warps=warps) for block in (64, 128) for warps in (2, 4)]
_TIMED_BY = {"do_bench": lambda call, quantiles: [1.0, 1.0, 1.0]}
if "do_bench" not in inspect.signature(triton.autotune).parameters:
    _TIMED_BY = {}


@triton.autotune(configs=_CONFIGS, key=["n"])
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n).to(tl.float32)
    tl.store(y_ptr + at, activation(x, KIND), mask=at < n)


@triton.autotune(configs=_CONFIGS[:2], key=["n"], **_TIMED_BY)
@triton.jit
def tuned_by_itself(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def chosen(x_ptr, y_ptr, bias_ptr, n: int, scale, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at) if EVEN else tl.load(x_ptr + at, mask=at < n)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + at * n, mask=at < n)
    if BLOCK > 64:
        x = gather(x, at, 0)
    tl.store(y_ptr + at, x * scale, mask=at < n)


@triton.jit(do_not_specialize=["n"], debug=True, repr=lambda specialization: "padded_copy")
def padded(x_ptr: torch.Tensor, y_ptr: torch.Tensor, n, BLOCK: tl.constexpr):
    tl.device_assert(n > 0)
    SIZE: tl.constexpr = next_power(BLOCK)
    at = tl.arange(0, SIZE)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def broken(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.max(0, tl.load(x_ptr + at, mask=at < n)), mask=at < n)


def build(width):
    """A kernel that is made by a function, unlike what other calls of that make."""
    wide = width > 32

    if wide:

        @triton.jit
        def built(x_ptr, y_ptr, BLOCK: tl.constexpr):
            at = tl.arange(0, BLOCK)
            tl.store(y_ptr + at, -tl.load(x_ptr + at))

    else:

        @triton.jit
        def built(x_ptr, y_ptr, BLOCK: tl.constexpr):
            at = tl.arange(0, BLOCK)
            tl.store(y_ptr + at, 1.0 - tl.load(x_ptr + at))

    return built


def build_around(function):
    """A kernel that calls what its builder was given, by a closure, which newer releases compile."""

    @triton.jit
    def around(x_ptr, y_ptr, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(y_ptr + at, function(tl.load(x_ptr + at)))

    return around
