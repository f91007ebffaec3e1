"""Operators and layers of fla-core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import torch
from packaging.version import Version
from torch.nn import functional

from bench.operators.inputs import (
    BF16,
    COLUMNS,
    VOCABULARY,
    B,
    D,
    H,
    Operators,
    T,
    of,
    plain,
    t,
    whole,
)


def like(last: int = D, dtype: Any = BF16) -> Any:
    """A tensor with ``last`` values for each position and head."""
    return t(B, T, H, last, dtype=dtype)


def log_gate(*shape: int) -> Any:
    """Logarithms of gates."""
    return functional.logsigmoid(
        torch.randn(*shape, dtype=torch.float32, device="cuda")
    ).requires_grad_()


def qkv() -> dict[str, Any]:
    """Queries, keys and values."""
    return {"q": like(), "k": like(), "v": like()}


def beta() -> Any:
    """Learning rates for each position and head."""
    return torch.rand(B, T, H, dtype=BF16, device="cuda").requires_grad_()


ARGUMENTS: Mapping[str, Callable[[], dict[str, Any]]] = {
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
        "beta": torch.rand(B, 2 * T, H, dtype=BF16, device="cuda"),
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
    "nsa:parallel_nsa": lambda: {
        "q": t(B, T, 16, D),
        "k": t(B, T, 1, D),
        "v": t(B, T, 1, D),
        "g_cmp": torch.rand(B, T, 16, device="cuda"),
        "g_slc": torch.rand(B, T, 16, device="cuda"),
        "block_counts": 2,
        "block_size": 32,
    },
    "stickbreaking_attn:parallel_stickbreaking_attn": qkv,
    "attnres:fused_attnres": lambda: {
        "query": t(COLUMNS),
        "residuals": [t(B, T, COLUMNS) for _ in range(4)],
        "rms_weight": t(COLUMNS),
    },
    "precond_kda:chunk_precond_kda": lambda: dict(
        **qkv(), g=log_gate(B, T, H, D), g_atk=log_gate(B, T, H), beta_atk=beta(), beta=beta()
    ),
    "parallax:parallel_parallax": lambda: dict(**qkv(), r=like()),
}


HAS_FOLDERS = Version(version("fla-core")) >= Version("0.6.0")
"""Whether most layers have a folder of their own, with a module ``ops``."""
OLD_PATHS = {
    "causal_conv1d.ops:causal_conv1d": "conv.causal_conv1d:causal_conv1d",
    "causal_conv1d.ops:causal_conv1d_update": "conv.triton.ops:causal_conv1d_update",
}
"""Path since 0.6.0 → path before 0.6.0, where the rule of :func:`module` does not lead to it."""


def call(name: str) -> Any:
    """Call an operator of ``fla.ops``, and return its first result."""
    module, _, function = name.partition(":")
    result = of(f"fla.ops.{module}:{function}", **ARGUMENTS[name]())
    return result[0] if isinstance(result, tuple) else result


def module(path: str, *arguments: Any, **named: Any) -> Any:
    """Call a layer of ``fla.modules`` by its path since 0.6.0."""
    if not HAS_FOLDERS:
        path = OLD_PATHS.get(path, path.removeprefix("norm.").replace(".ops:", ":"))
    return of(f"fla.modules.{path}", *arguments, **named)


def rows() -> Any:
    """Activations, the input of a model's layers."""
    return t(B, T, COLUMNS)


def activated(name: str, inputs: int) -> Any:
    """Call an activation function with ``inputs`` tensors."""
    return module(f"activations.ops:{name}", *(rows() for _ in range(inputs)))


def words() -> Any:
    """A vocabulary index for each token."""
    return whole(B * T, below=VOCABULARY)


MODULES: Operators = {
    **{
        f"activations:{name}": partial(activated, name, 1)
        for name in ("sigmoid", "elu_p1", "logsigmoid", "swish")
    },
    **{
        f"activations:{name}": partial(activated, name, 2)
        for name in ("swiglu", "sigmoidglu", "powglu")
    },
    "norm:layer_norm": lambda: module("norm.layernorm:layer_norm", rows(), t(COLUMNS), t(COLUMNS)),
    "norm:layer_norm, narrow": lambda: module(
        "norm.layernorm:layer_norm", like(), t(D), t(D), like(), prenorm=True
    ),
    "norm:rms_norm": lambda: module("norm.layernorm:rms_norm", rows(), t(COLUMNS), None),
    "norm:layer_norm_gated": lambda: module(
        "norm.fused_norm_gate:layer_norm_gated", t(B, T, 1024), t(B, T, 1024), t(1024), t(1024)
    ),
    "norm:rms_norm_gated": lambda: module(
        "norm.fused_norm_gate:rms_norm_gated", like(), like(), t(D), None
    ),
    "norm:l2norm": lambda: module("norm.l2norm:l2norm", like()),
    "norm:l2norm, wide": lambda: module("norm.l2norm:l2norm", t(B, T, 1024)),
    "causal_conv1d": lambda: module(
        "causal_conv1d.ops:causal_conv1d",
        rows(),
        t(COLUMNS, 4),
        t(COLUMNS),
        rows(),
        t(B, COLUMNS, 4),
        True,
        "swish",
    ),
    "causal_conv1d, step": lambda: module(
        "causal_conv1d.ops:causal_conv1d_update",
        plain(B, 1, COLUMNS),
        plain(B, COLUMNS, 4),
        None,
        plain(COLUMNS, 4),
        plain(COLUMNS),
        "silu",
    ),
    "cross_entropy": lambda: module(
        "fused_cross_entropy.ops:cross_entropy_loss", t(B * T, VOCABULARY), words()
    ),
    "fused_linear_cross_entropy": lambda: module(
        "fused_linear_cross_entropy.ops:fused_linear_cross_entropy_loss",
        t(B * T, COLUMNS),
        words(),
        t(VOCABULARY, COLUMNS),
    ),
    "fused_kl_div": lambda: module(
        "fused_kl_div.ops:fused_kl_div_loss",
        t(B * T, COLUMNS),
        plain(B * T, COLUMNS),
        t(VOCABULARY, COLUMNS),
        plain(VOCABULARY, COLUMNS),
    ),
    "rotary": lambda: module(
        "rotary.ops:rotary_embedding", like(), plain(T, D // 2), plain(T, D // 2)
    ),
    "token_shift": lambda: module("token_shift:token_shift", rows()),
    "token_shift, long": lambda: module("token_shift:token_shift", t(1, 8192, COLUMNS)),
}

OPERATORS: Operators = {**{name: partial(call, name) for name in ARGUMENTS}, **MODULES}
