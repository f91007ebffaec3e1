"""Operators of conch-triton-kernels."""

from __future__ import annotations

import importlib
from functools import partial
from itertools import product
from typing import Any

import torch

from bench.operators.inputs import (
    COLUMNS,
    FP16,
    FP32,
    ROWS,
    B,
    D,
    H,
    Operators,
    T,
    of,
    plain,
    whole,
)


def conch(path: str, *arguments: Any, **named: Any) -> Any:
    """Call an operator of conch-triton-kernels."""
    return of(f"conch.ops.{path}", *arguments, **named)


PAGES, PAGE = 32, 32


def pages() -> tuple[Any, Any, Any]:
    """Paged keys and values, and the table of each sequence's pages."""
    shape = (PAGES, PAGE, H, D)
    return (
        plain(*shape, dtype=FP16),
        plain(*shape, dtype=FP16),
        whole(B, 8, below=PAGES, dtype=torch.int32),
    )


def paged() -> Any:
    """Attention of one token for each sequence."""
    keys, values, table = pages()
    lengths = torch.tensor([200, 100], dtype=torch.int32, device="cuda")
    return conch(
        "attention.paged_attention:paged_attention",
        plain(B, 2 * H, D, dtype=FP16),
        keys,
        values,
        table,
        lengths,
    )


def varlen() -> Any:
    """Attention of sequences of several lengths."""
    keys, values, table = pages()
    starts = torch.tensor([0, 64, 96], dtype=torch.int32, device="cuda")
    lengths = torch.tensor([64, 32], dtype=torch.int32, device="cuda")
    query = plain(96, 2 * H, D, dtype=FP16)
    return conch(
        "attention.varlen_attention:varlen_attention",
        query,
        keys,
        values,
        starts,
        64,
        lengths,
        64,
        table,
        causal=True,
    )


def decoding() -> Any:
    """Attention of one token for each long sequence; several programs share a sequence's keys."""
    shape, long = (PAGES, PAGE, H, D), torch.tensor([4096, 4096], dtype=torch.int32, device="cuda")
    keys, values = plain(*shape, dtype=FP16), plain(*shape, dtype=FP16)
    table = whole(B, 128, below=PAGES, dtype=torch.int32)
    starts = torch.tensor([0, 1, 2], dtype=torch.int32, device="cuda")
    return conch(
        "attention.varlen_attention:varlen_attention",
        plain(B, 2 * H, D, dtype=FP16), keys, values, starts, 1, long, 4096, table,
    )  # fmt: skip


def voxels() -> Any:
    """Voxels of points in a grid."""
    module = importlib.import_module("conch.ops.vision.voxelization")
    grid = module.VoxelizationParameter((0.0, 0.0, 0.0), (8.0, 8.0, 4.0), (1.0, 1.0, 1.0), 8)
    return module.generate_voxels(torch.rand(512, 4, device="cuda"), grid)


def bird(path: str, values: Any) -> Any:
    """Bird's-eye-view pooling of image features."""
    where = whole(256, 4, below=2, dtype=torch.int32)
    starts = torch.arange(0, 256, 4, dtype=torch.int32, device="cuda")
    return conch(
        path,
        values,
        where,
        starts,
        torch.full_like(starts, 4),
        *((1, 1, 8, 8) if "backward" not in path else ()),
    )


def quantized(kind: str, blocks: int) -> Any:
    """Quantize values block by block, and dequantize them."""
    module = importlib.import_module("conch.ops.quantization.bitsandbytes.functional")
    packed, state = module.quantize_blockwise(
        plain(ROWS * COLUMNS, dtype=FP16), blocksize=blocks, quant_type=kind
    )
    return module.dequantize_blockwise(packed, state, blocksize=blocks, quant_type=kind)


def mixed(bits: int, zeros: bool) -> Any:
    """A matrix product with quantized weights of ``bits`` bits."""
    packed = whole(COLUMNS * bits // 32, 256, below=2**31 - 1, dtype=torch.int32)
    scales = plain(COLUMNS // 128, 256, dtype=FP16)
    points = whole(COLUMNS // 128, 256, below=8, dtype=FP16) if zeros else None
    return conch(
        "quantization.gemm:mixed_precision_gemm",
        plain(64, COLUMNS, dtype=FP16),
        packed,
        scales,
        points,
        bits,
        2 ** (bits - 1),
        128,
    )


OPERATORS: Operators = {
    "silu_and_mul": lambda: conch(
        "activation.silu_and_mul:silu_and_mul", plain(ROWS, COLUMNS, dtype=FP16)
    ),
    "gelu_tanh_and_mul": lambda: conch(
        "activation.gelu_tanh_and_mul:gelu_tanh_and_mul", plain(ROWS, COLUMNS, dtype=FP32)
    ),
    "rms_norm": lambda: conch(
        "normalization.rms_norm:rms_norm", plain(ROWS, COLUMNS), plain(COLUMNS), 1e-6
    ),
    "fused_add_rms_norm": lambda: conch(
        "normalization.rms_norm:fused_add_rms_norm",
        plain(ROWS, COLUMNS),
        plain(ROWS, COLUMNS),
        plain(COLUMNS),
        1e-6,
    ),
    "gemma_rms_norm": lambda: conch(
        "normalization.gemma_rms_norm:gemma_rms_norm", plain(ROWS, COLUMNS), plain(COLUMNS), 1e-6
    ),
    "gemma_rms_norm, residual": lambda: conch(
        "normalization.gemma_rms_norm:gemma_rms_norm",
        plain(ROWS, COLUMNS),
        plain(COLUMNS),
        1e-6,
        plain(ROWS, COLUMNS),
    ),
    "fp8": lambda: conch(
        "quantization.fp8:scaled_fp8_quant", plain(ROWS, COLUMNS), torch.ones(1, device="cuda")
    ),
    "int8": lambda: conch(
        "quantization.int8:scaled_int8_quant", plain(ROWS, COLUMNS), torch.ones(1, device="cuda")
    ),
    **{
        f"quantized, {kind}, {blocks}": partial(quantized, kind, blocks)
        for kind, blocks in product(("fp4", "nf4"), (64, 128))
    },
    **{
        f"mixed, {bits}, {zeros}": partial(mixed, bits, zeros)
        for bits, zeros in product((4, 8), (False, True))
    },
    "scaled_gemm": lambda: conch(
        "quantization.gemm:scaled_gemm",
        whole(64, COLUMNS, below=100, dtype=torch.int8),
        whole(COLUMNS, 256, below=100, dtype=torch.int8),
        torch.rand(64, 1, device="cuda"),
        torch.rand(256, 1, device="cuda"),
        FP16,
    ),
    "rotary": lambda: conch(
        "embedding.rotary_embedding:rotary_embedding",
        whole(ROWS, below=T),
        plain(ROWS, H * D, dtype=FP16),
        plain(ROWS, H * D, dtype=FP16),
        D,
        plain(T, D, dtype=FP16),
    ),
    "paged": paged,
    "varlen": varlen,
    "decoding": decoding,
    "copy_blocks": lambda: conch(
        "vllm.copy_blocks:copy_blocks",
        [plain(PAGES, PAGE * H * D)],
        [plain(PAGES, PAGE * H * D)],
        whole(4, 2, below=PAGES),
    ),
    "reshape_and_cache": lambda: conch(
        "vllm.reshape_and_cache:reshape_and_cache",
        plain(ROWS, H, D),
        plain(ROWS, H, D),
        plain(PAGES, PAGE, H, D),
        plain(PAGES, PAGE, H, D),
        whole(ROWS, below=PAGES * PAGE),
    ),
    "nms": lambda: conch(
        "vision.nms:nms", torch.rand(512, 4, device="cuda"), torch.rand(512, device="cuda"), 0.5
    ),
    "bev_pool": lambda: bird("vision.bev_pool:bev_pool", plain(256, 64, dtype=FP32)),
    "bev_pool_backward": lambda: bird(
        "vision.bev_pool:bev_pool_backward", plain(1, 1, 8, 8, 64, dtype=FP32)
    ),
    "voxels": voxels,
}
