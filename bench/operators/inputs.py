"""Input tensors for operators, and a function that calls an operator."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

B, T, H, D = 2, 128, 4, 64
ROWS, COLUMNS, VOCABULARY = 256, 512, 4096
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
Operators = Mapping[str, Callable[[], Any]]


def t(*shape: int, dtype: Any = BF16) -> Any:
    """A tensor that requires gradients."""
    return torch.randn(*shape, dtype=dtype, device="cuda").requires_grad_()


def plain(*shape: int, dtype: Any = BF16) -> Any:
    """A tensor that requires no gradients."""
    return torch.randn(*shape, device="cuda").to(dtype)


def whole(*shape: int, below: int, dtype: Any = torch.int64) -> Any:
    """Whole numbers below a bound."""
    return torch.randint(below, shape, device="cuda").to(dtype)


def of(path: str, *arguments: Any, **named: Any) -> Any:
    """Call a function, or apply a function of autograd, by its module and its name."""
    module, _, name = path.partition(":")
    operator = getattr(importlib.import_module(module), name)
    return getattr(operator, "apply", operator)(*arguments, **named)
