"""Kernels as users write them, called in a graph as ``torch.compile`` calls them."""

from __future__ import annotations

import inspect
from typing import Any

import torch
import triton
import triton.language as tl
from torch._higher_order_ops import triton_kernel_wrap


@triton.jit
def compat_user_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def compat_user_tuned(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


def add(x: Any, y: Any) -> Any:
    out = torch.empty_like(x)
    _call(
        compat_user_add,
        [(8, 1, 1)],
        {"x_ptr": x, "y_ptr": y, "out_ptr": out},
        {"n": x.numel(), "BLOCK": 128},
    )
    return out


def add_autotuned(x: Any, y: Any) -> Any:
    out = torch.empty_like(x)
    _call(
        compat_user_tuned,
        [(8, 1, 1), (4, 1, 1)],
        {"x_ptr": x, "y_ptr": y, "out_ptr": out},
        {"n": x.numel()},
    )
    return out


def _call(kernel: Any, grid: Any, tensors: Any, constants: Any) -> None:
    """Call the operation to which ``torch.compile`` traces a launch."""
    table = triton_kernel_wrap.kernel_side_table
    wants = inspect.signature(triton_kernel_wrap.triton_kernel_wrapper_mutation_dense).parameters
    arguments = {"kernel_idx": table.add_kernel(kernel), "grid": grid, "kwargs": tensors}
    if "constant_args_idx" in wants:
        arguments["constant_args_idx"] = table.add_constant_args(constants)
    else:
        arguments["kwargs"] = {**tensors, **constants}
    if "tma_descriptor_metadata" in wants:
        arguments["tma_descriptor_metadata"] = {}
    triton_kernel_wrap.triton_kernel_wrapper_mutation(**arguments)
