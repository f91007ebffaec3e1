"""Operators of several libraries whose kernels use tensor descriptors or Gluon.

Libraries choose such kernels by their own switches, which the operators turn on.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import torch

from bench.operators.gemlite import helper, multiplied
from bench.operators.inputs import (
    COLUMNS,
    FP16,
    ROWS,
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

FP8 = torch.float8_e4m3fn


def _with(variables: dict[str, str], call: Callable[[], Any]) -> Callable[[], Any]:
    def switched() -> Any:
        os.environ.update(variables)
        return call()

    return switched


# --- fla-core -------------------------------------------------------------------------------------


def _convolution(width: int) -> Any:
    return of(
        "fla.modules.causal_conv1d:causal_conv1d",
        t(B, T, H * D),
        weight=t(H * D, width),
        bias=t(H * D),
        activation="silu",
    )


def _cross_entropy(classes: int) -> Any:
    return of(
        "fla.modules.fused_cross_entropy:cross_entropy_loss",
        t(ROWS, classes),
        whole(ROWS, below=classes),
        label_smoothing=0.1,
    )


def _residuals(normalized: bool) -> Any:
    return of(
        "fla.ops.attnres:fused_attnres",
        t(COLUMNS),
        [t(B, T, COLUMNS) for _ in range(4)],
        t(COLUMNS),
        t(COLUMNS) if normalized else None,
    )


def _sinkhorn(rows: int) -> Any:
    return of("fla.ops.utils.sinkhorn:sinkhorn", t(rows, 4, 4))


def _inverse(size: int) -> Any:
    return of("fla.ops.utils.solve_tril:solve_tril", plain(B, T, H, size, dtype=torch.float32))


FLA: Operators = {
    name: _with({"FLA_GLUON": "1", "FLA_USE_TMA": "1"}, call)
    for name, call in {
        **{f"convolution, {width}": partial(_convolution, width) for width in (3, 4)},
        **{f"cross entropy, {size}": partial(_cross_entropy, size) for size in (4096, 100_000)},
        "residuals": partial(_residuals, False),
        "residuals, normalized": partial(_residuals, True),
        **{f"sinkhorn, {rows}": partial(_sinkhorn, rows) for rows in (16, ROWS)},
        **{f"inverse, {size}": partial(_inverse, size) for size in (16, 32, 64)},
    }.items()
}


# --- liger-kernel ---------------------------------------------------------------------------------


def _perceptron(tensor_factory: Callable[..., Any], multiplier: float = 1.0) -> Any:
    return of(
        "liger_kernel.ops.mlp:LigerMLPFunction",
        tensor_factory(B, T, COLUMNS),
        *(tensor_factory(4 * COLUMNS, COLUMNS) for _ in range(2)),
        tensor_factory(COLUMNS, 4 * COLUMNS),
        multiplier,
        multiplier,
    )


LIGER: Operators = {
    "perceptron": lambda: _perceptron(t),
    "perceptron, scaled": lambda: _perceptron(t, 0.5),
    "perceptron, without gradients": lambda: _perceptron(plain),
}


# --- flag-gems ------------------------------------------------------------------------------------

_HOPPER = "flag_gems.runtime.backend._nvidia.hopper.ops"


def _product(a: Any, b: Any) -> Any:
    return of(f"{_HOPPER}.mm:mm", a, b)


def _blocks() -> Any:
    return of(
        f"{_HOPPER}.w8a8_block_fp8_matmul:w8a8_block_fp8_matmul",
        plain(ROWS, COLUMNS).to(FP8),
        plain(COLUMNS, COLUMNS).to(FP8),
        torch.rand(ROWS, COLUMNS // 128, device="cuda"),
        torch.rand(COLUMNS // 128, COLUMNS // 128, device="cuda"),
        [128, 128],
    )


FLAG_GEMS: Operators = {
    name: _with({"GEMS_VENDOR": "nvidia"}, call)
    for name, call in {
        "mm": lambda: _product(plain(ROWS, COLUMNS), plain(COLUMNS, COLUMNS)),
        "mm, fp16, second transposed": lambda: _product(
            plain(ROWS, COLUMNS, dtype=FP16), plain(COLUMNS, COLUMNS, dtype=FP16).T
        ),
        "mm, first transposed": lambda: _product(plain(COLUMNS, ROWS).T, plain(COLUMNS, COLUMNS)),
        "mm, odd": lambda: _product(plain(ROWS, 511), plain(511, 513)),
        "blocks of fp8": _blocks,
        "groups": lambda: of(
            "flag_gems.ops.group_gemm:group_mm",
            plain(ROWS, COLUMNS),
            plain(4, COLUMNS, COLUMNS),
            torch.tensor([64, 128, 192, 256], dtype=torch.int32, device="cuda"),
        ),
    }.items()
}


# --- gemlite --------------------------------------------------------------------------------------


def _gemlite_product(name: str, kind: str) -> Any:
    of("gemlite:enable_tma", True)
    linear = torch.nn.Linear(COLUMNS, 256, bias=False, device="cuda", dtype=FP16)
    return multiplied(lambda: helper(name).from_linear(linear), kind)


GEMLITE: Operators = {
    f"{name}, {kind}": partial(_gemlite_product, name, kind)
    for name in ("A16W4_MXFP", "A8W4_MXFP_dynamic", "A4W4_MXFP_dynamic", "A4W4_NVFP_dynamic")
    for kind in ("GEMM", "GEMM_SPLITK")
}


# --- amd-aiter, for gfx950 ------------------------------------------------------------------------


def _without_rocm(package: str) -> None:
    """Import a package without its own code, which needs ROCm's compiler."""
    if package in sys.modules:
        return
    spec = importlib.util.find_spec(package)
    assert spec is not None
    module = sys.modules[package] = ModuleType(package)
    module.__path__ = list(spec.submodule_search_locations or ())


def _block_scale_product(rows: int, columns: int, inner: int) -> Any:
    for package in ("aiter", "aiter.ops"):
        _without_rocm(package)
    return of(
        "aiter.ops.triton.gluon.gemm_a8w8_blockscale:gemm_a8w8_blockscale",
        plain(rows, inner).to(FP8),
        plain(columns, inner).to(FP8),
        torch.rand(rows, inner // 128, device="cuda"),
        torch.rand(-(-columns // 128), inner // 128, device="cuda"),
    )


AITER: Operators = {
    f"{sizes}": partial(_block_scale_product, *sizes)
    for sizes in ((16, 512, 7168), (256, 2112, 7168), (256, 1024, 1024))
}
