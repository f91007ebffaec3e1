"""What a user of the library calls."""

import torch
import triton

from . import kernels


def apply(x, kind):
    y = torch.empty_like(x)
    kernels.tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), KIND=kind)
    return y


def double(x):
    y = torch.empty(x.shape, device="cuda", dtype=x.dtype)
    kernels.tuned_by_itself[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y


def scaled(x, bias=None, scale=0.3):
    y = torch.empty_like(x)
    kernels.chosen[(triton.cdiv(x.numel(), 64),)](x, y, bias, x.numel(), scale, BLOCK=64)
    return y


def padded(x):
    y = torch.empty_like(x)
    kernels.padded[(1,)](x, y, x.numel(), BLOCK=48)
    return y


def broken(x):
    kernels.broken[(1,)](x, x.numel(), BLOCK=64)


def negated(x, width):
    y = torch.empty_like(x)
    kernels.build(width)[(1,)](x, y, BLOCK=width)
    return y


def around(x, function):
    y = torch.empty_like(x)
    kernels.build_around(function)[(1,)](x, y, BLOCK=64)
    return y


@torch.library.custom_op("waves::square", mutates_args=(), device_types="cuda")
def square(x: torch.Tensor) -> torch.Tensor:
    assert x.is_cuda
    assert x.device.type == "cuda"
    return scaled(x, torch.ones(x.numel(), device="cuda"))


@square.register_kernel("cpu")
def _(x):
    raise AssertionError("a tensor on the GPU is computed on the CPU")


def _keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, grad):
    (x,) = ctx.saved_tensors
    assert x.is_cuda
    return double(grad.contiguous())


square.register_autograd(_backward, setup_context=_keep)


_operators = torch.library.Library("waves", "FRAGMENT")
_operators.define("padded(Tensor x) -> Tensor")
_of_gpu = torch.library.Library("waves", "IMPL", "CUDA")
_of_gpu.impl("padded", padded)
