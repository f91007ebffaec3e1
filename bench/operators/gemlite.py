"""Layers of gemlite, its quantization of activations and its packing of weights."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import torch

from bench.operators.inputs import (
    COLUMNS,
    FP16,
    Operators,
    of,
    plain,
    whole,
)

KINDS = ("GEMM", "GEMM_SPLITK", "GEMV", "GEMV_SPLITK", "GEMV_REVSPLITK")


def helper(name: str, **named: Any) -> Any:
    """A helper of gemlite that makes layers with quantized weights."""
    return getattr(importlib.import_module("gemlite.helper"), name)(
        device="cuda:0", dtype=FP16, **named
    )


def layers() -> Mapping[str, Callable[[], Any]]:
    """Layers by the formats of their inputs and weights."""

    def quantized(name: str) -> Any:
        return helper(name).from_weights(plain(256, COLUMNS, dtype=FP16))

    def grouped(name: str, bits: int) -> Any:
        scales = plain(256, COLUMNS // 64, dtype=FP16)
        weights = whole(256, COLUMNS, below=2**bits, dtype=torch.uint8)
        return helper(name).from_weights(
            weights, scales.view(-1, 1), torch.full_like(scales.view(-1, 1), 2 ** (bits - 1))
        )

    def linear(name: str) -> Any:
        return helper(name).from_linear(
            torch.nn.Linear(COLUMNS, 256, bias=False, device="cuda", dtype=FP16)
        )

    return {
        **{
            name: partial(quantized, name)
            for name in ("A16W8_INT8", "A16W8_FP8", "A8W8_int8_dynamic", "A8W8_fp8_dynamic")
        },
        **{
            f"A16W{bits}_HQQ_INT": partial(grouped, f"A16W{bits}_HQQ_INT", bits)
            for bits in (8, 4, 2, 1)
        },
        "A8W4_HQQ_INT_dynamic": lambda: grouped("A8W4_HQQ_INT_dynamic", 4),
        "A8W8 by block": lambda: helper("A8W8_fp8_dynamic", block_quant=True).from_weights(
            plain(256, COLUMNS, dtype=FP16)
        ),
        **{
            name: partial(linear, name)
            for name in (
                "A16W8_MXFP",
                "A16W4_MXFP",
                "A16W4_NVFP",
                "A8W8_MXFP_dynamic",
                "A8W4_MXFP_dynamic",
                "A4W4_MXFP_dynamic",
                "A4W4_NVFP_dynamic",
            )
        },
    }


def multiplied(layer: Callable[[], Any], kind: str) -> Any:
    """The product of activations with a layer, by the kernel ``kind``."""
    return layer().forward_manual(plain(1 if "GEMV" in kind else 64, COLUMNS, dtype=FP16), kind)


def scaled(name: str) -> Any:
    """Quantize activations."""
    kinds = {
        "per_token": (torch.int8,),
        "per_block": (torch.float8_e4m3fn,),
        "mxfp8": (torch.float8_e4m3fn,),
    }
    dtypes = next((kind_dtypes for kind, kind_dtypes in kinds.items() if kind in name), ())
    return of(f"gemlite.quant_utils:{name}", plain(64, COLUMNS, dtype=FP16), *dtypes)


def packed(side: str) -> Any:
    """Pack weights of four bits into words, and unpack them."""
    weights = whole(256, COLUMNS, below=16, dtype=torch.uint8)
    there, _ = of(f"gemlite.bitpack:pack_weights_over_{side}_triton", weights, 4, 32, False)
    size = there.shape[0] * 8 if side == "rows" else there.shape[1] * 8
    return of(f"gemlite.bitpack:unpack_over_{side}_triton", there, 4, size, torch.uint8)


OPERATORS: Operators = {
    **{
        f"{name}, {kind}": partial(multiplied, layer, kind)
        for (name, layer), kind in product(layers().items(), KINDS)
    },
    **{
        name: partial(scaled, f"scale_activations_{name}")
        for name in (
            *(f"per_token_triton_v{number}" for number in (1, 2, 3, 4)),
            *(f"mxfp8_triton_v{number}" for number in (1, 2, 3, 4)),
            *(
                f"{kind}_triton{end}"
                for kind in ("mxfp4", "nvfp4")
                for end in ("", "_v2", "_v3", "_v5")
            ),
            *(f"per_block_triton_v{number}" for number in (1, 2)),
        )
    },
    **{f"packed over {side}": partial(packed, side) for side in ("rows", "cols")},
}
