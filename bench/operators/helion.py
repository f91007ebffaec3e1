"""A kernel of helion, which generates Triton's code with tensor descriptors."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch

from bench.operators.inputs import COLUMNS, FP16, ROWS, Operators, plain

helion: Any = importlib.import_module("helion")
hl: Any = importlib.import_module("helion.language")


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A product of matrices."""
    rows, inner = a.size()
    columns = b.size(1)
    out = torch.empty([rows, columns], dtype=a.dtype, device=a.device)
    for at, to in hl.tile([rows, columns]):
        total = hl.zeros([at, to], dtype=torch.float32)
        for along in hl.tile(inner):
            total = torch.addmm(total, a[at, along], b[along, to])
        out[at, to] = total
    return out


def _call_product(host: bool) -> Any:
    config = helion.Config(
        block_sizes=[64, 64, 64], indexing="tensor_descriptor", host_tensor_descriptors=host
    )
    kernel = helion.kernel(product, config=config, static_shapes=True)
    return kernel(plain(ROWS, COLUMNS, dtype=FP16), plain(COLUMNS, ROWS, dtype=FP16))


OPERATORS: Operators = {
    "descriptors made by the kernel": partial(_call_product, False),
    "descriptors made by the host": partial(_call_product, True),
}
