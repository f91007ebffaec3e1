"""Operators of liger-kernel."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from bench.operators.inputs import (
    BF16,
    COLUMNS,
    FP16,
    FP32,
    ROWS,
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


def liger(name: str, *arguments: Any, **named: Any) -> Any:
    """Call an operator of liger-kernel."""
    return of(f"liger_kernel.ops:Liger{name}Function", *arguments, **named)


def logits(dtype: Any = BF16) -> Any:
    """Scores over the vocabulary, for each token."""
    return t(ROWS, VOCABULARY, dtype=dtype)


def labels() -> Any:
    """A vocabulary index for each token."""
    return whole(ROWS, below=VOCABULARY)


def rows(dtype: Any = BF16) -> Any:
    """Activations, the input of a model's layers."""
    return t(ROWS, COLUMNS, dtype=dtype)


def head(dtype: Any = BF16) -> tuple[Any, Any]:
    """Hidden states, and the weights that turn them into scores over the vocabulary."""
    return rows(dtype), t(VOCABULARY, COLUMNS, dtype=dtype)


def rotary(dtype: Any = BF16) -> tuple[Any, ...]:
    """Queries, keys, cosines and sines."""
    return t(B, H, T, D), t(B, H, T, D), plain(1, T, D, dtype=dtype), plain(1, T, D, dtype=dtype)


def grpo(**named: Any) -> Any:
    """The loss of group relative policy optimization (GRPO)."""
    scores = t(B, T + 1, VOCABULARY)
    tokens, ones = whole(B, T, below=VOCABULARY), torch.ones(B, T, dtype=torch.int32, device="cuda")
    old, reference = plain(B, T, dtype=FP32), plain(B, T, dtype=FP32)
    return of(
        "liger_kernel.ops.grpo_loss:GrpoLossFunction", scores, old, reference, tokens,
        plain(B, dtype=FP32), ones, 0.9, 0.04, 0.2, 0.4, False, **named,
    )  # fmt: skip


def experts() -> Any:
    """A mixture of experts."""
    chosen = torch.stack(
        [torch.arange(T, device="cuda") % 8, (torch.arange(T, device="cuda") + 1) % 8], 1
    )
    weights = torch.rand(T, 2, device="cuda", dtype=BF16).requires_grad_()
    return liger(
        "FusedMoE", t(T, 256), t(8, 512, 256), t(8, 256, 256), chosen.to(torch.int32), weights
    )


def connections() -> Any:
    """Hyper-connections: their coefficients, the input of the inner layer, and the output."""
    x, phi, bias = t(B, T, 4, 128), t(512, 24), t(24, dtype=FP32)
    alphas = [torch.ones((), device="cuda", requires_grad=True) for _ in range(3)]
    before, after, mixed = liger("MHCCoeffs", x, phi, bias, *alphas, False, 3, 1e-6, 0.0, 1e-6, 2.0)
    inner = liger("MHCPre", x, before)
    return liger("MHCPostRes", x, inner, after, mixed)


OPERATORS: Operators = {
    "attn_res": lambda: liger("AttnRes", t(4, B, T, COLUMNS), t(COLUMNS), t(COLUMNS), 1e-6),
    "cross_entropy": lambda: liger("CrossEntropy", logits(), labels(), None),
    "cross_entropy, weighted": lambda: liger(
        "CrossEntropy",
        logits(FP32),
        labels(),
        torch.rand(VOCABULARY, device="cuda"),
        -100,
        1e-4,
        0.1,
        "none",
        30.0,
    ),
    "dyt": lambda: liger("DyT", rows(), t(1, dtype=FP32), t(COLUMNS), t(COLUMNS)),
    "embedding": lambda: liger("Embedding", t(VOCABULARY, D), whole(B, T, below=VOCABULARY)),
    "fused_add_rms_norm": lambda: liger("FusedAddRMSNorm", rows(), rows(), t(COLUMNS), 1e-6),
    "fused_ce_tvd": lambda: liger("FusedCETVD", logits(), logits(), labels()),
    "fused_linear_cross_entropy": lambda: liger("FusedLinearCrossEntropy", *head(), labels()),
    "fused_linear_jsd": lambda: liger("FusedLinearJSD", *head(FP32), *head(FP32), labels()),
    "fused_linear_kl_div": lambda: liger(
        "FusedLinearKLDiv", *head(), functional.softmax(plain(ROWS, VOCABULARY), -1), None
    ),
    "fused_moe": experts,
    "fused_neighborhood": lambda: liger(
        "FusedNeighborhoodAttention", *(t(B, H, T, D, dtype=FP16) for _ in range(3))
    ),
    "geglu": lambda: liger("GELUMul", rows(), rows()),
    "group_norm": lambda: liger("GroupNorm", t(B, 64, T), t(64), t(64), 64, 8, 1e-6),
    "grpo": grpo,
    "grpo, words": lambda: of(
        "liger_kernel.ops.grpo_loss:fused_selective_log_softmax",
        plain(B, T + 1, VOCABULARY),
        whole(B, T, below=VOCABULARY),
    ),
    "grpo, sequence": lambda: grpo(
        loss_type="bnpo", max_completion_length=T, reduce=True, importance_sampling_level="sequence"
    ),
    "jsd": lambda: liger(
        "JSD",
        functional.log_softmax(logits(FP32), -1),
        functional.log_softmax(plain(ROWS, VOCABULARY, dtype=FP32), -1),
    ),
    "jsd, labels": lambda: liger(
        "JSD",
        functional.log_softmax(logits(), -1),
        functional.log_softmax(plain(ROWS, VOCABULARY), -1),
        labels(),
    ),
    "kl_div": lambda: liger(
        "KLDivLoss",
        functional.log_softmax(logits(), -1),
        functional.softmax(plain(ROWS, VOCABULARY), -1),
    ),
    "layer_norm": lambda: liger("LayerNorm", rows(), t(COLUMNS), t(COLUMNS), 1e-6),
    "llama4_rope": lambda: liger(
        "Llama4Rope",
        t(B, T, H, D),
        t(B, T, H, D),
        torch.randn(T, D // 2, dtype=torch.complex64, device="cuda"),
    ),
    "mhc": connections,
    "mlp": lambda: liger(
        "MLP", t(B, T, COLUMNS), t(1024, COLUMNS), t(1024, COLUMNS), t(COLUMNS, 1024)
    ),
    "modulated_rms_norm": lambda: liger(
        "ModulatedRMSNorm", t(B, T, COLUMNS), t(COLUMNS), t(B, COLUMNS), t(B, COLUMNS), 1e-6
    ),
    "multi_token_attention": lambda: liger(
        "MultiTokenAttention", t(B, H, T, T), t(H, 1, 3, 3), None, 1, 1, 1, H
    ),
    "poly_norm": lambda: liger(
        "PolyNorm", rows(), t(3), torch.zeros((), device="cuda", requires_grad=True)
    ),
    "qwen2vl_mrope": lambda: liger(
        "Qwen2VLMRope",
        t(B, H, T, D),
        t(B, H, T, D),
        plain(3, B, T, D),
        plain(3, B, T, D),
        [8, 12, 12],
    ),
    "relu_squared": lambda: liger("ReLUSquared", rows()),
    "rms_norm": lambda: liger("RMSNorm", rows(), t(COLUMNS), 1e-6),
    "rms_norm, narrow": lambda: liger("RMSNorm", t(32768, 128), t(128), 1e-6),
    "rms_norm, by row": lambda: liger(
        "RMSNorm", rows(FP32), t(COLUMNS, dtype=FP32), 1e-6, 1.0, "gemma", False, True
    ),
    "rope": lambda: liger("Rope", *rotary()),
    "softmax": lambda: liger("Softmax", rows()),
    "sparsemax": lambda: liger("Sparsemax", rows(), -1),
    "swiglu": lambda: liger("SiLUMul", rows(), rows()),
    "swiglu, one tensor": lambda: liger("FusedGateUpSiLUMul", t(ROWS, 2 * COLUMNS)),
    "tvd": lambda: liger(
        "TVDLoss", functional.softmax(logits(), -1), functional.softmax(plain(ROWS, VOCABULARY), -1)
    ),
    "vocab_parallel": lambda: of(
        "liger_kernel.ops.vocab_parallel_cross_entropy:LigerVocabParallelCEFunction",
        t(T, B, VOCABULARY),
        whole(T, B, below=VOCABULARY),
        None,
        -100,
        0.0,
        "standard",
        "global",
    ),
    "mm_int8int2": lambda: of(
        "liger_kernel.ops.experimental.mm_int8int2:matmul",
        whole(ROWS, COLUMNS, below=100, dtype=torch.int8),
        whole(COLUMNS // 4, 256, below=200, dtype=torch.uint8),
    ),
}
