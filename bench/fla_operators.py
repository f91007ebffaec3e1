"""Operators of fla-core, each once, forward and backward where it has that, with small inputs.

``compat capture --python PYTHON -- bench/fla_operators.py``, in an environment with PyTorch and a
release of fla-core. Why an operator does not run is printed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

B, T, H, D = 2, 128, 2, 64


def t(*shape: int, dtype: Any = torch.bfloat16) -> Any:
    """A tensor that gradients are wanted of."""
    return torch.randn(*shape, dtype=dtype, device="cuda").requires_grad_()


def like(last: int = D, dtype: Any = torch.bfloat16) -> Any:
    """One with a value for each position and head."""
    return t(B, T, H, last, dtype=dtype)


def log_gate(*shape: int) -> Any:
    """Logarithms of gates."""
    return F.logsigmoid(torch.randn(*shape, dtype=torch.float32, device="cuda")).requires_grad_()


def qkv() -> dict[str, Any]:
    """Queries, keys and values."""
    return {"q": like(), "k": like(), "v": like()}


def beta() -> Any:
    """Rates of learning."""
    return torch.rand(B, T, H, dtype=torch.bfloat16, device="cuda").requires_grad_()


OPERATORS: dict[str, Callable[[], dict[str, Any]]] = {
    "gla:chunk_gla": lambda: dict(**qkv(), g=log_gate(B, T, H, D)),
    "gla:fused_recurrent_gla": lambda: dict(**qkv(), gk=log_gate(B, T, H, D)),
    "gla:fused_chunk_gla": lambda: dict(**qkv(), g=log_gate(B, T, H, D)),
    "simple_gla:chunk_simple_gla": lambda: dict(**qkv(), g=log_gate(B, T, H)),
    "simple_gla:fused_chunk_simple_gla": lambda: dict(**qkv(), g=log_gate(B, T, H)),
    "simple_gla:parallel_simple_gla": lambda: dict(**qkv(), g=log_gate(B, T, H)),
    "simple_gla:fused_recurrent_simple_gla": lambda: dict(**qkv(), g=log_gate(B, T, H)),
    "linear_attn:chunk_linear_attn": lambda: dict(**qkv(), normalize=False),
    "linear_attn:fused_chunk_linear_attn": lambda: dict(**qkv(), normalize=False),
    "linear_attn:fused_recurrent_linear_attn": lambda: dict(**qkv(), normalize=False),
    "retention:chunk_retention": qkv,
    "retention:fused_chunk_retention": qkv,
    "retention:parallel_retention": qkv,
    "retention:fused_recurrent_retention": qkv,
    "delta_rule:chunk_delta_rule": lambda: dict(**qkv(), beta=beta()),
    "delta_rule:fused_recurrent_delta_rule": lambda: dict(**qkv(), beta=beta()),
    "gated_delta_rule:chunk_gated_delta_rule": lambda: dict(
        **qkv(), g=log_gate(B, T, H), beta=beta()
    ),
    "gated_delta_rule:fused_recurrent_gated_delta_rule": lambda: dict(
        **qkv(), g=log_gate(B, T, H), beta=beta()
    ),
    "gated_delta_product:chunk_gated_delta_product": lambda: {
        "q": like(),
        "k": t(B, 2 * T, H, D),
        "v": t(B, 2 * T, H, D),
        "g": log_gate(B, T, H),
        "beta": torch.rand(B, 2 * T, H, dtype=torch.bfloat16, device="cuda"),
        "num_householder": 2,
    },
    "comba:chunk_comba": lambda: dict(**qkv(), p=like(), g=log_gate(B, T, H), beta=beta()),
    "generalized_delta_rule:chunk_dplr_delta_rule": lambda: dict(
        **qkv(), a=like(), b=like(), gk=log_gate(B, T, H, D)
    ),
    "generalized_delta_rule:chunk_iplr_delta_rule": lambda: dict(**qkv(), a=like(), b=like()),
    "generalized_delta_rule:fused_recurrent_dplr_delta_rule": lambda: dict(
        **qkv(), a=like(), b=like(), gk=log_gate(B, T, H, D)
    ),
    "generalized_delta_rule:fused_recurrent_iplr_delta_rule": lambda: dict(
        **qkv(), a=like(), b=like()
    ),
    "kda:chunk_kda": lambda: dict(**qkv(), g=log_gate(B, T, H, D), beta=beta()),
    "kda:fused_recurrent_kda": lambda: dict(**qkv(), g=log_gate(B, T, H, D), beta=beta()),
    "gsa:chunk_gsa": lambda: dict(**qkv(), s=like(last=16), g=log_gate(B, T, H, 16)),
    "gsa:fused_recurrent_gsa": lambda: dict(**qkv(), s=like(last=16), g=log_gate(B, T, H, 16)),
    "hgrn:chunk_hgrn": lambda: {"x": t(B, T, D), "g": log_gate(B, T, D)},
    "hgrn:fused_recurrent_hgrn": lambda: {"x": t(B, T, D), "g": log_gate(B, T, D)},
    "rwkv6:chunk_rwkv6": lambda: {
        "r": like(),
        "k": like(),
        "v": like(),
        "w": log_gate(B, T, H, D),
        "u": t(H, D),
    },
    "rwkv6:fused_recurrent_rwkv6": lambda: {
        "r": like(),
        "k": like(),
        "v": like(),
        "w": log_gate(B, T, H, D),
        "u": t(H, D),
    },
    "rwkv7:chunk_rwkv7": lambda: {
        "r": like(),
        "w": log_gate(B, T, H, D),
        "k": like(),
        "v": like(),
        "a": like(),
        "b": like(),
    },
    "lightning_attn:chunk_lightning_attn": lambda: dict(**qkv(), layer_idx=0, num_layers=2),
    "attn:parallel_attn": qkv,
    "forgetting_attn:parallel_forgetting_attn": lambda: dict(**qkv(), g=log_gate(B, T, H)),
    "path_attn:parallel_path_attn": lambda: dict(
        **qkv(), w=like(dtype=torch.float32), beta=beta().float(), g=log_gate(B, T, H)
    ),
    "based:parallel_based": lambda: {"q": like(last=16), "k": like(last=16), "v": like()},
    "based:fused_chunk_based": lambda: {"q": like(last=16), "k": like(last=16), "v": like()},
    "rebased:parallel_rebased": lambda: {"q": like(last=16), "k": like(last=16), "v": like()},
    "abc:chunk_abc": lambda: dict(**qkv(), s=like(last=16)),
    "ttt:chunk_ttt_linear": lambda: dict(
        **qkv(), w=t(H, D), b=t(H, D), eta=t(B, T, H, 1), scale=1.0, eps=1e-6, chunk_size=16
    ),
    "log_linear_attn:chunk_log_linear_attn": lambda: {
        "q": t(B, T, 1, D),
        "k": t(B, T, 1, D),
        "v": like(),
        "g": log_gate(B, T, H),
        "level_scales": t(B, T, H, 8, dtype=torch.float32),
    },
    "mesa_net:chunk_mesa_net": lambda: dict(
        **qkv(), g=log_gate(B, T, H), beta=beta(), lamb=t(H, D, dtype=torch.float32)
    ),
    "deltaformer:deltaformer_attn": lambda: dict(**qkv(), beta=beta()),
}


def call(name: str) -> None:
    """Call an operator, and go back."""
    module, _, function = name.partition(":")
    operator = getattr(importlib.import_module(f"fla.ops.{module}"), function)
    arguments = OPERATORS[name]()
    found = operator(**arguments)
    found = found[0] if isinstance(found, tuple) else found
    if found.requires_grad:
        found.sum().backward()


def main() -> None:
    """Call them all."""
    failed = 0
    for name in OPERATORS:
        try:
            call(name)
        except Exception as error:
            failed += 1
            print(
                f"{name}: {type(error).__name__}:"
                f" {str(error).splitlines()[0][:150] if str(error) else ''}"
            )
    print(f"{len(OPERATORS) - failed} of {len(OPERATORS)} operators")


main()
