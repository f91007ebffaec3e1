"""Models of PyTorch's own tests with ``torch.compile``, each with its loss, for training.

Their modules need ``expecttest``, ``hypothesis`` and ``setuptools``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

_TESTS = "torch.testing._internal"


def _transformer(dropout: float) -> Callable[[], Any]:
    def call() -> Any:
        tests = importlib.import_module(f"{_TESTS}.distributed._tensor.common_dtensor")
        sizes = tests.ModelArgs(vocab_size=128, max_seq_len=64, dim=64, dropout_p=dropout)
        model = tests.Transformer(sizes).cuda()
        return torch.compile(model)(torch.randint(0, 128, (4, 64), device="cuda"))

    return call


def _convolutions(name: str) -> Callable[[], Any]:
    def call() -> Any:
        tests = importlib.import_module(f"{_TESTS}.common_quantization")
        model = getattr(tests, name)().cuda()
        return torch.compile(model)(torch.randn(8, 3, 32, 32, device="cuda"))

    return call


OPERATORS = {
    "Transformer": _transformer(0.1),
    # Dropout draws random numbers, which have no reference.
    "Transformer without dropout": _transformer(0.0),
    "ResNetBase": _convolutions("ResNetBase"),
    "ModelMultipleOps": _convolutions("ModelMultipleOps"),
}
