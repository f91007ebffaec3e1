"""PyTorch's results for kernels that ``torch.compile`` generates.

The kernels are those of ``bench.operators.models``. :mod:`bench.compiled` puts this file beside
their kernel files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

_BATCH, _LENGTH, _WORDS, _WIDTH = 4, 64, 128, 64
_CLOSE = {"tolerance": 2e-6, "relative": 1e-5, "reason": "PyTorch adds float32 in another order"}


def _numbers(seed: int, device: str, *shape: int) -> torch.Tensor:
    generator = torch.Generator(device=device).manual_seed(seed)
    return torch.randn(*shape, generator=generator, device=device)


def layer_norm(
    parameters: dict[str, int], _dtype: str, seed: int, device: str, _large: bool
) -> Iterator[dict[str, Any]]:
    """The sum of two embeddings, normalized."""
    rows = _BATCH * _LENGTH
    word_embeddings, places = (
        _numbers(seed, device, _WORDS, _WIDTH),
        _numbers(seed + 1, device, _LENGTH, _WIDTH),
    )
    weight, bias = _numbers(seed + 2, device, _WIDTH), _numbers(seed + 3, device, _WIDTH)
    tokens = torch.arange(rows, device=device).mul_(37).remainder_(_WORDS).view(_BATCH, _LENGTH)
    embedded = F.embedding(tokens, word_embeddings)
    normalized, mean, deviation = torch.native_layer_norm(
        embedded + places, (_WIDTH,), weight, bias, 1e-5
    )
    yield {
        "name": "normalized",
        "arguments": {
            "in_out_ptr0": torch.empty_like(deviation),
            "in_ptr0": tokens,
            "in_ptr1": word_embeddings,
            "in_ptr2": places,
            "in_ptr3": weight,
            "in_ptr4": bias,
            "out_ptr0": torch.empty_like(embedded),
            "out_ptr1": torch.empty_like(mean),
            "out_ptr2": torch.empty_like(normalized),
            "xnumel": rows,
            "r0_numel": _WIDTH,
        },
        "grid": (-(-rows // parameters["XBLOCK"]),),
        "outputs": {
            "in_out_ptr0": {"reference": deviation, **_CLOSE},
            "out_ptr0": {"reference": embedded},
            "out_ptr1": {"reference": mean, **_CLOSE},
            "out_ptr2": {"reference": normalized, **_CLOSE},
        },
        "baseline": lambda: F.layer_norm(
            F.embedding(tokens, word_embeddings) + places, (_WIDTH,), weight, bias
        ),
    }


def gelu(
    parameters: dict[str, int], _dtype: str, seed: int, device: str, _large: bool
) -> Iterator[dict[str, Any]]:
    """The activation GELU."""
    x = _numbers(seed, device, _BATCH * _LENGTH, 4 * _WIDTH)
    yield {
        "name": "activation",
        "arguments": {"in_ptr0": x, "out_ptr0": torch.empty_like(x), "xnumel": x.numel()},
        "grid": (-(-x.numel() // parameters["XBLOCK"]),),
        "outputs": {"out_ptr0": {"reference": F.gelu(x), **_CLOSE}},
        "baseline": lambda: F.gelu(x),
    }


def gelu_backward(
    parameters: dict[str, int], _dtype: str, seed: int, device: str, _large: bool
) -> Iterator[dict[str, Any]]:
    """The gradient of GELU, written over the incoming gradient."""
    x = _numbers(seed, device, _BATCH * _LENGTH, 4 * _WIDTH)
    gradient = _numbers(seed + 1, device, *x.shape)
    yield {
        "name": "gradient",
        "arguments": {"in_out_ptr0": gradient.clone(), "in_ptr0": x, "xnumel": x.numel()},
        "grid": (-(-x.numel() // parameters["XBLOCK"]),),
        "outputs": {
            "in_out_ptr0": {
                "reference": torch.ops.aten.gelu_backward(gradient, x),
                "initial": gradient,
                **_CLOSE,
            }
        },
        "baseline": lambda: torch.ops.aten.gelu_backward(gradient, x),
    }
