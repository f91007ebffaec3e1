"""Operators of a library, each once, forward and backward where it has that, with small inputs.

``compat capture --python PYTHON -- bench/library_operators.py LIBRARY``, in an environment with PyTorch and
the library (``bench/fla_operators.py`` has those of fla-core). Why an operator does not run is printed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F

B, T, H, D = 2, 128, 4, 64
ROWS, COLUMNS, VOCABULARY = 256, 512, 4096
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
Operators = Mapping[str, Callable[[], Any]]


def t(*shape: int, dtype: Any = BF16) -> Any:
    """A tensor that gradients are wanted of."""
    return torch.randn(*shape, dtype=dtype, device="cuda").requires_grad_()


def plain(*shape: int, dtype: Any = BF16) -> Any:
    """A tensor that no gradients are wanted of."""
    return torch.randn(*shape, device="cuda").to(dtype)


def whole(*shape: int, below: int, dtype: Any = torch.int64) -> Any:
    """Whole numbers below a bound."""
    return torch.randint(below, shape, device="cuda").to(dtype)


def of(path: str, *arguments: Any, **named: Any) -> Any:
    """Call a function, or apply a function of autograd, by its module and its name."""
    module, _, name = path.partition(":")
    operator = getattr(importlib.import_module(module), name)
    return getattr(operator, "apply", operator)(*arguments, **named)


# --- liger-kernel ------------------------------------------------------------------------------------


def liger(name: str, *arguments: Any, **named: Any) -> Any:
    """An operator of liger-kernel."""
    return of(f"liger_kernel.ops:Liger{name}Function", *arguments, **named)


def logits(dtype: Any = BF16) -> Any:
    """Scores of words, for each token."""
    return t(ROWS, VOCABULARY, dtype=dtype)


def labels() -> Any:
    """A word for each token."""
    return whole(ROWS, below=VOCABULARY)


def rows(dtype: Any = BF16) -> Any:
    """What layers of a model work on."""
    return t(ROWS, COLUMNS, dtype=dtype)


def head() -> tuple[Any, Any]:
    """Hidden states, and the weights that make scores of words of them."""
    return rows(), t(VOCABULARY, COLUMNS)


def rotary(dtype: Any = BF16) -> tuple[Any, ...]:
    """Queries, keys, cosines and sines."""
    return t(B, H, T, D), t(B, H, T, D), plain(1, T, D, dtype=dtype), plain(1, T, D, dtype=dtype)


def grpo(**named: Any) -> Any:
    """The loss of group relative policies."""
    scores = t(B, T + 1, VOCABULARY)
    tokens, ones = whole(B, T, below=VOCABULARY), torch.ones(B, T, dtype=torch.int32, device="cuda")
    old, reference = plain(B, T, dtype=FP32), plain(B, T, dtype=FP32)
    return of(
        "liger_kernel.ops.grpo_loss:GrpoLossFunction", scores, old, reference, tokens,
        plain(B, dtype=FP32), ones, 0.9, 0.04, 0.2, 0.4, False, **named,
    )  # fmt: skip


def experts() -> Any:
    """A mixture of experts."""
    chosen = torch.stack([torch.arange(T, device="cuda") % 8, (torch.arange(T, device="cuda") + 1) % 8], 1)
    weights = torch.rand(T, 2, device="cuda", dtype=BF16).requires_grad_()
    return liger("FusedMoE", t(T, 256), t(8, 512, 256), t(8, 256, 256), chosen.to(torch.int32), weights)


def connections() -> Any:
    """Coefficients of hyper-connections, and what they connect."""
    x, phi, bias = t(B, T, 4, 128), t(512, 24), t(24, dtype=FP32)
    alphas = [torch.ones((), device="cuda", requires_grad=True) for _ in range(3)]
    before, after, mixed = liger("MHCCoeffs", x, phi, bias, *alphas, False, 3, 1e-6, 0.0, 1e-6, 2.0)
    inner = liger("MHCPre", x, before)
    return liger("MHCPostRes", x, inner, after, mixed)


LIGER: Operators = {
    "attn_res": lambda: liger("AttnRes", t(4, B, T, COLUMNS), t(COLUMNS), t(COLUMNS), 1e-6),
    "cross_entropy": lambda: liger("CrossEntropy", logits(), labels(), None),
    "cross_entropy, weighted": lambda: liger(
        "CrossEntropy", logits(FP32), labels(), torch.rand(VOCABULARY, device="cuda"), -100, 1e-4, 0.1, "none", 30.0
    ),
    "dyt": lambda: liger("DyT", rows(), t(1, dtype=FP32), t(COLUMNS), t(COLUMNS)),
    "embedding": lambda: liger("Embedding", t(VOCABULARY, D), whole(B, T, below=VOCABULARY)),
    "fused_add_rms_norm": lambda: liger("FusedAddRMSNorm", rows(), rows(), t(COLUMNS), 1e-6),
    "fused_ce_tvd": lambda: liger("FusedCETVD", logits(), logits(), labels()),
    "fused_linear_cross_entropy": lambda: liger("FusedLinearCrossEntropy", *head(), labels()),
    "fused_linear_jsd": lambda: liger("FusedLinearJSD", *head(), *head(), labels()),
    "fused_linear_kl_div": lambda: liger("FusedLinearKLDiv", *head(), F.softmax(plain(ROWS, VOCABULARY), -1), None),
    "fused_linear_scaled": lambda: liger("FusedLinearScaledCrossEntropy", *head(), labels()),
    "fused_moe": experts,
    "fused_neighborhood": lambda: liger(
        "FusedNeighborhoodAttention", *(t(B, H, T, D, dtype=FP16) for _ in range(3))
    ),
    "geglu": lambda: liger("GELUMul", rows(), rows()),
    "group_norm": lambda: liger("GroupNorm", t(B, 64, T), t(64), t(64), 64, 8, 1e-6),
    "grpo": grpo,
    "grpo, sequence": lambda: grpo(loss_type="bnpo", importance_sampling_level="sequence"),
    "jsd": lambda: liger("JSD", F.log_softmax(logits(FP32), -1), F.log_softmax(plain(ROWS, VOCABULARY, dtype=FP32), -1)),
    "jsd, labels": lambda: liger(
        "JSD", F.log_softmax(logits(), -1), F.log_softmax(plain(ROWS, VOCABULARY), -1), labels()
    ),
    "kl_div": lambda: liger("KLDivLoss", F.log_softmax(logits(), -1), F.softmax(plain(ROWS, VOCABULARY), -1)),
    "layer_norm": lambda: liger("LayerNorm", rows(), t(COLUMNS), t(COLUMNS), 1e-6),
    "llama4_rope": lambda: liger(
        "Llama4Rope", t(B, T, H, D), t(B, T, H, D), torch.randn(T, D // 2, dtype=torch.complex64, device="cuda")
    ),
    "mhc": connections,
    "mlp": lambda: liger("MLP", rows(), t(1024, COLUMNS), t(1024, COLUMNS), t(COLUMNS, 1024)),
    "modulated_rms_norm": lambda: liger(
        "ModulatedRMSNorm", t(B, T, COLUMNS), t(COLUMNS), t(B, COLUMNS), t(B, COLUMNS), 1e-6
    ),
    "multi_token_attention": lambda: liger("MultiTokenAttention", t(B, H, T, T), t(H, 1, 3, 3), None, 1, 1, 1, H),
    "poly_norm": lambda: liger("PolyNorm", rows(), t(3), t(1)),
    "qwen2vl_mrope": lambda: liger(
        "Qwen2VLMRope", t(B, H, T, D), t(B, H, T, D), plain(3, B, T, D), plain(3, B, T, D), [8, 12, 12]
    ),
    "relu_squared": lambda: liger("ReLUSquared", rows()),
    "rms_norm": lambda: liger("RMSNorm", t(8192, COLUMNS), t(COLUMNS), 1e-6),
    "rms_norm, by row": lambda: liger("RMSNorm", rows(FP32), t(COLUMNS, dtype=FP32), 1e-6, 1.0, "gemma", False, True),
    "rope": lambda: liger("Rope", *rotary()),
    "softmax": lambda: liger("Softmax", rows()),
    "softmax, long": lambda: liger("Softmax", t(8, 131072)),
    "sparsemax": lambda: liger("Sparsemax", rows(), -1),
    "swiglu": lambda: liger("SiLUMul", rows(), rows()),
    "swiglu, one tensor": lambda: liger("FusedGateUpSiLUMul", t(ROWS, 2 * COLUMNS)),
    "tvd": lambda: liger("TVDLoss", F.softmax(logits(), -1), F.softmax(plain(ROWS, VOCABULARY), -1)),
    "vocab_parallel": lambda: of(
        "liger_kernel.ops.vocab_parallel_cross_entropy:LigerVocabParallelCEFunction",
        t(T, B, VOCABULARY), whole(T, B, below=VOCABULARY), None, -100, 0.0, "standard", "global",
    ),
    "mm_int8int2": lambda: of(
        "liger_kernel.ops.experimental.mm_int8int2:matmul",
        whole(ROWS, COLUMNS, below=100, dtype=torch.int8), whole(COLUMNS // 4, 256, below=200, dtype=torch.uint8),
    ),
}  # fmt: skip


# --- conch-triton-kernels ----------------------------------------------------------------------------


def conch(path: str, *arguments: Any, **named: Any) -> Any:
    """An operator of conch-triton-kernels."""
    return of(f"conch.ops.{path}", *arguments, **named)


PAGES, PAGE = 32, 32


def pages() -> tuple[Any, Any, Any]:
    """Paged keys and values, and which pages each sequence has."""
    shape = (PAGES, PAGE, H, D)
    return plain(*shape, dtype=FP16), plain(*shape, dtype=FP16), whole(B, 8, below=PAGES, dtype=torch.int32)


def paged() -> Any:
    """Attention of one token for each sequence."""
    keys, values, table = pages()
    lengths = torch.tensor([200, 100], dtype=torch.int32, device="cuda")
    return conch("attention.paged_attention:paged_attention", plain(B, 2 * H, D, dtype=FP16), keys, values, table, lengths)


def varlen() -> Any:
    """Attention of sequences of several lengths."""
    keys, values, table = pages()
    starts = torch.tensor([0, 64, 96], dtype=torch.int32, device="cuda")
    lengths = torch.tensor([64, 32], dtype=torch.int32, device="cuda")
    query = plain(96, 2 * H, D, dtype=FP16)
    return conch(
        "attention.varlen_attention:varlen_attention", query, keys, values, starts, 64, lengths, 64, table, causal=True
    )


def decoding() -> Any:
    """The same for one token each of long sequences, whose keys several programs share."""
    shape, long = (PAGES, PAGE, H, D), torch.tensor([4096, 4096], dtype=torch.int32, device="cuda")
    keys, values = plain(*shape, dtype=FP16), plain(*shape, dtype=FP16)
    table = whole(B, 128, below=PAGES, dtype=torch.int32)
    starts = torch.tensor([0, 1, 2], dtype=torch.int32, device="cuda")
    return conch(
        "attention.varlen_attention:varlen_attention",
        plain(B, 2 * H, D, dtype=FP16), keys, values, starts, 1, long, 4096, table,
    )  # fmt: skip


def voxels() -> Any:
    """Points in a grid."""
    module = importlib.import_module("conch.ops.vision.voxelization")
    grid = module.VoxelizationParameter((0.0, 0.0, 0.0), (8.0, 8.0, 4.0), (1.0, 1.0, 1.0), 8)
    module.generate_voxels(torch.rand(512, 4, device="cuda"), grid)
    return module.generate_voxels_stable(torch.rand(512, 4, device="cuda"), grid)


def bird(path: str, values: Any) -> Any:
    """Features of images on a plane."""
    where = whole(256, 4, below=2, dtype=torch.int32)
    starts = torch.arange(0, 256, 4, dtype=torch.int32, device="cuda")
    return conch(path, values, where, starts, torch.full_like(starts, 4), *((1, 1, 8, 8) if "backward" not in path else ()))


def quantized(kind: str, blocks: int) -> Any:
    """To few bits for each block, and back."""
    module = importlib.import_module("conch.ops.quantization.bitsandbytes.functional")
    packed, state = module.quantize_blockwise(plain(ROWS, COLUMNS, dtype=FP16), blocksize=blocks, quant_type=kind)
    return module.dequantize_blockwise(packed, state, blocksize=blocks, quant_type=kind)


def mixed(bits: int, zeros: bool) -> Any:
    """A product with weights of few bits."""
    packed = whole(COLUMNS * bits // 32, 256, below=2**31 - 1, dtype=torch.int32)
    scales = plain(COLUMNS // 128, 256, dtype=FP16)
    points = whole(COLUMNS // 128, 256, below=8, dtype=FP16) if zeros else None
    return conch(
        "quantization.gemm:mixed_precision_gemm", plain(64, COLUMNS, dtype=FP16), packed, scales, points, bits, 2 ** (bits - 1), 128
    )


CONCH: Operators = {
    "silu_and_mul": lambda: conch("activation.silu_and_mul:silu_and_mul", plain(ROWS, COLUMNS, dtype=FP16)),
    "gelu_tanh_and_mul": lambda: conch("activation.gelu_tanh_and_mul:gelu_tanh_and_mul", plain(ROWS, COLUMNS, dtype=FP32)),
    "rms_norm": lambda: conch("normalization.rms_norm:rms_norm", plain(ROWS, COLUMNS), plain(COLUMNS), 1e-6),
    "fused_add_rms_norm": lambda: conch(
        "normalization.rms_norm:fused_add_rms_norm", plain(ROWS, COLUMNS), plain(ROWS, COLUMNS), plain(COLUMNS), 1e-6
    ),
    "gemma_rms_norm": lambda: conch("normalization.gemma_rms_norm:gemma_rms_norm", plain(ROWS, COLUMNS), plain(COLUMNS), 1e-6),
    "gemma_rms_norm, residual": lambda: conch(
        "normalization.gemma_rms_norm:gemma_rms_norm", plain(ROWS, COLUMNS), plain(COLUMNS), 1e-6, plain(ROWS, COLUMNS)
    ),
    "fp8": lambda: conch("quantization.fp8:scaled_fp8_quant", plain(ROWS, COLUMNS), torch.ones(1, device="cuda")),
    "int8": lambda: conch("quantization.int8:scaled_int8_quant", plain(ROWS, COLUMNS), torch.ones(1, device="cuda")),
    **{
        f"quantized, {kind}, {blocks}": lambda kind=kind, blocks=blocks: quantized(kind, blocks)
        for kind, blocks in product(("fp4", "nf4"), (64, 128))
    },
    **{
        f"mixed, {bits}, {zeros}": lambda bits=bits, zeros=zeros: mixed(bits, zeros)
        for bits, zeros in product((4, 8), (False, True))
    },
    "scaled_gemm": lambda: conch(
        "quantization.gemm:scaled_gemm", whole(64, COLUMNS, below=100, dtype=torch.int8),
        whole(COLUMNS, 256, below=100, dtype=torch.int8), torch.rand(64, 1, device="cuda"), torch.rand(256, 1, device="cuda"), FP16,
    ),
    "rotary": lambda: conch(
        "embedding.rotary_embedding:rotary_embedding", whole(ROWS, below=T), plain(ROWS, H * D, dtype=FP16),
        plain(ROWS, H * D, dtype=FP16), D, plain(T, D, dtype=FP16),
    ),
    "paged": paged,
    "varlen": varlen,
    "decoding": decoding,
    "copy_blocks": lambda: conch(
        "vllm.copy_blocks:copy_blocks", [plain(PAGES, PAGE * H * D)], [plain(PAGES, PAGE * H * D)], whole(4, 2, below=PAGES)
    ),
    "reshape_and_cache": lambda: conch(
        "vllm.reshape_and_cache:reshape_and_cache", plain(ROWS, H, D), plain(ROWS, H, D), plain(PAGES, PAGE, H, D),
        plain(PAGES, PAGE, H, D), whole(ROWS, below=PAGES * PAGE),
    ),
    "nms": lambda: conch("vision.nms:nms", torch.rand(512, 4, device="cuda"), torch.rand(512, device="cuda"), 0.5),
    "bev_pool": lambda: bird("vision.bev_pool:bev_pool", plain(256, 64, dtype=FP32)),
    "bev_pool_backward": lambda: bird("vision.bev_pool:bev_pool_backward", plain(1, 1, 8, 8, 64, dtype=FP32)),
    "voxels": voxels,
}  # fmt: skip


# --- gemlite -----------------------------------------------------------------------------------------

KINDS = ("GEMM", "GEMM_SPLITK", "GEMV", "GEMV_SPLITK", "GEMV_REVSPLITK")


def helper(name: str, **named: Any) -> Any:
    """What makes layers with weights of few bits."""
    return getattr(importlib.import_module("gemlite.helper"), name)(device="cuda:0", dtype=FP16, **named)


def layers() -> Mapping[str, Callable[[], Any]]:
    """Layers, by how their inputs and weights are stored."""
    from_floats = {name: lambda name=name: helper(name).from_weights(plain(256, COLUMNS, dtype=FP16)) for name in (
        "A16W8_INT8", "A16W8_FP8", "A8W8_int8_dynamic", "A8W8_fp8_dynamic",
    )}  # fmt: skip

    def grouped(name: str, bits: int) -> Any:
        scales = plain(256, COLUMNS // 64, dtype=FP16)
        words = whole(256, COLUMNS, below=2**bits, dtype=torch.uint8)
        return helper(name).from_weights(words, scales.view(-1, 1), torch.full_like(scales.view(-1, 1), 2 ** (bits - 1)))

    def linear(name: str) -> Any:
        return helper(name).from_linear(torch.nn.Linear(COLUMNS, 256, bias=False, device="cuda", dtype=FP16))

    return {
        **from_floats,
        **{f"A16W{bits}_HQQ_INT": lambda bits=bits: grouped(f"A16W{bits}_HQQ_INT", bits) for bits in (8, 4, 2, 1)},
        "A8W4_HQQ_INT_dynamic": lambda: grouped("A8W4_HQQ_INT_dynamic", 4),
        "A8W8 by block": lambda: helper("A8W8_fp8_dynamic", block_quant=True).from_weights(plain(256, COLUMNS, dtype=FP16)),
        **{
            name: lambda name=name: linear(name)
            for name in (
                "A16W8_MXFP", "A16W4_MXFP", "A16W4_NVFP", "A8W8_MXFP_dynamic", "A8W4_MXFP_dynamic", "A4W4_MXFP_dynamic",
                "A4W4_NVFP_dynamic",
            )
        },
    }  # fmt: skip


def multiplied(layer: Callable[[], Any], kind: str) -> Any:
    """The product with a layer by one of the kernels."""
    return layer().forward_manual(plain(1 if "GEMV" in kind else 64, COLUMNS, dtype=FP16), kind)


def scaled(name: str) -> Any:
    """Activations in few bits."""
    kinds = {"per_token": (torch.int8,), "per_block": (torch.float8_e4m3fn,), "mxfp8": (torch.float8_e4m3fn,)}
    words = next((words for kind, words in kinds.items() if kind in name), ())
    return of(f"gemlite.quant_utils:{name}", plain(64, COLUMNS, dtype=FP16), *words)


GEMLITE: Operators = {
    **{
        f"{name}, {kind}": lambda layer=layer, kind=kind: multiplied(layer, kind)
        for (name, layer), kind in product(layers().items(), KINDS)
    },
    **{
        name: lambda name=name: scaled(f"scale_activations_{name}")
        for name in (
            *(f"per_token_triton_v{number}" for number in (1, 2, 3, 4)),
            *(f"mxfp8_triton_v{number}" for number in (1, 2, 3, 4)),
            *(f"{kind}_triton{end}" for kind in ("mxfp4", "nvfp4") for end in ("", "_v2", "_v3", "_v5")),
            *(f"per_block_triton_v{number}" for number in (1, 2)),
        )
    },
}


# --- mlstm-kernels -----------------------------------------------------------------------------------


def gates(length: int = 256) -> tuple[Any, Any]:
    """Input and forget gates."""
    return t(B, H, length, dtype=FP32), t(B, H, length, dtype=FP32)


def heads(length: int = 256) -> tuple[Any, Any, Any]:
    """Queries, keys and values."""
    return t(B, H, length, D), t(B, H, length, D), t(B, H, length, D)


def sequences(name: str, **named: Any) -> Any:
    """A kernel for whole sequences."""
    return importlib.import_module("mlstm_kernels.torch").get_mlstm_kernel(name)(*heads(), *gates(), **named)


def state() -> tuple[Any, Any, Any]:
    """What a step starts from."""
    return plain(B, H, D, D, dtype=FP32), plain(B, H, D, dtype=FP32), plain(B, H, 1, dtype=FP32)


def step(path: str) -> Any:
    """One step, for a token of each sequence."""
    q, k, v = (plain(B, H, D) for _ in range(3))
    c, n, m = state()
    gate = plain(B, H, 1, dtype=FP32), plain(B, H, 1, dtype=FP32)
    return of(f"mlstm_kernels.torch.recurrent.{path}", q, k, v, *gate, c, n, m)


def tuned(name: str) -> Any:
    """The flash attention that the library compares itself with."""
    q, k, v = (t(B, H, 256, D, dtype=FP16) for _ in range(3))
    return of(f"mlstm_kernels.baselines.flash_attention.{name}:attention", q, k, v, True, 0.5)


MLSTM: Operators = {
    "limit_chunk": lambda: sequences("chunkwise--triton_limit_chunk", chunk_size=64),
    "xl_chunk": lambda: sequences("chunkwise--triton_xl_chunk", chunk_size=128, autocast_kernel_dtype=BF16),
    "xl_chunk_siging": lambda: sequences("chunkwise--triton_xl_chunk_siging", chunk_size=128, autocast_kernel_dtype=BF16),
    "limit_headdim": lambda: sequences("parallel--triton_limit_headdim"),
    "step": lambda: step("triton_step:mlstm_recurrent_step__triton"),
    "step, alternate": lambda: step("triton_step_alternate:mlstm_recurrent_step__triton_alternate"),
    "triton_tutorial": lambda: tuned("triton_tutorial"),
    "flash_attention": lambda: of(
        "mlstm_kernels.baselines.flash_attention.flash_attention_triton:attention",
        *(t(B, H, 256, D, dtype=FP16) for _ in range(3)), True, 0.5,
    ),
}  # fmt: skip

LIBRARIES: Mapping[str, Operators] = {
    "liger-kernel": LIGER,
    "conch-triton-kernels": CONCH,
    "gemlite": GEMLITE,
    "mlstm-kernels": MLSTM,
}


def _differentiate(outcome: Any) -> None:
    outcomes = outcome if isinstance(outcome, tuple | list) else [outcome]
    losses = [each.float().sum() for each in outcomes if isinstance(each, torch.Tensor) and each.requires_grad]
    if losses:
        torch.stack(losses).sum().backward()


def main(library: str) -> None:
    """Call all operators of a library."""
    operators, failed = LIBRARIES[library], 0
    for name, operator in operators.items():
        try:
            _differentiate(operator())
        except Exception as error:
            failed += 1
            lines = str(error).splitlines() or [""]
            print(f"{name}: {type(error).__name__}: {lines[0][:150]}")
    print(f"{len(operators) - failed} of {len(operators)} operators")


main(sys.argv[1])
