"""Call the operators of a library: ``python -m bench.operators liger-kernel``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import torch

LIBRARIES = {
    "conch-triton-kernels": "conch",
    "fla-core": "fla",
    "gemlite": "gemlite",
    "liger-kernel": "liger",
    "mlstm-kernels": "mlstm",
}
"""A library → the module here that has its operators."""


def main(library: str) -> None:
    """Call all operators of a library."""
    operators, failed = import_module(f"bench.operators.{LIBRARIES[library]}").OPERATORS, 0
    for name, operator in operators.items():
        try:
            _differentiate(operator())
        except Exception as error:
            failed += 1
            lines = str(error).splitlines() or [""]
            print(f"{name}: {type(error).__name__}: {lines[0][:150]}")
    print(f"{len(operators) - failed} of {len(operators)} operators")


def _differentiate(result: Any) -> None:
    outputs = result if isinstance(result, tuple | list) else [result]
    tensors = [output for output in outputs if isinstance(output, torch.Tensor)]
    losses = [tensor.float().sum() for tensor in tensors if tensor.requires_grad]
    if losses:
        torch.stack(losses).sum().backward()


main(sys.argv[1])
