"""Operators of mlstm-kernels."""

from __future__ import annotations

import importlib
from typing import Any

from bench.operators.inputs import (
    BF16,
    FP32,
    B,
    D,
    H,
    Operators,
    of,
    plain,
    t,
)


def gates(length: int = 256) -> tuple[Any, Any]:
    """Input and forget gates."""
    return t(B, H, length, dtype=FP32), t(B, H, length, dtype=FP32)


def heads(length: int = 256) -> tuple[Any, Any, Any]:
    """Queries, keys and values."""
    return t(B, H, length, D), t(B, H, length, D), t(B, H, length, D)


def sequences(name: str, **named: Any) -> Any:
    """A kernel for whole sequences."""
    return importlib.import_module("mlstm_kernels.torch").get_mlstm_kernel(name)(
        *heads(), *gates(), **named
    )


def state() -> tuple[Any, Any, Any]:
    """The state before a step."""
    return plain(B, H, D, D, dtype=FP32), plain(B, H, D, dtype=FP32), plain(B, H, 1, dtype=FP32)


def step(path: str) -> Any:
    """One step, for a token of each sequence."""
    q, k, v = (plain(B, H, D) for _ in range(3))
    c, n, m = state()
    gate = plain(B, H, 1, dtype=FP32), plain(B, H, 1, dtype=FP32)
    return of(f"mlstm_kernels.torch.recurrent.{path}", q, k, v, *gate, c, n, m)


OPERATORS: Operators = {
    "limit_chunk": lambda: sequences("chunkwise--triton_limit_chunk", chunk_size=64),
    "xl_chunk": lambda: sequences(
        "chunkwise--triton_xl_chunk", chunk_size=128, autocast_kernel_dtype=BF16
    ),
    "xl_chunk_siging": lambda: sequences(
        "chunkwise--triton_xl_chunk_siging", chunk_size=128, autocast_kernel_dtype=BF16
    ),
    "limit_headdim": lambda: sequences("parallel--triton_limit_headdim"),
    "step": lambda: step("triton_step:mlstm_recurrent_step__triton"),
    "step, alternate": lambda: step("triton_step_alternate:mlstm_recurrent_step__triton_alternate"),
}
