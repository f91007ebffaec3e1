"""Call the operators of libraries: ``python -m bench.operators liger-kernel``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import torch

LIBRARIES = {
    "amd-aiter": "descriptors:AITER",
    "conch-triton-kernels": "conch:OPERATORS",
    "fla-core": "fla:OPERATORS",
    "fla-core, descriptors": "descriptors:FLA",
    "flag-gems": "descriptors:FLAG_GEMS",
    "gemlite": "gemlite:OPERATORS",
    "gemlite, descriptors": "descriptors:GEMLITE",
    "helion": "helion:OPERATORS",
    "liger-kernel": "liger:OPERATORS",
    "liger-kernel, descriptors": "descriptors:LIGER",
    "mlstm-kernels": "mlstm:OPERATORS",
    "torch": "models:OPERATORS",
    "transformers": "transformer_models:OPERATORS",
}
"""Library → a module of this package, and the name of the library's operators in that module."""


def main(library: str) -> None:
    """Call all operators of a library."""
    module, _, name = LIBRARIES[library].partition(":")
    operators, failed = getattr(import_module(f"bench.operators.{module}"), name), 0
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


for library in sys.argv[1:]:
    main(library)
