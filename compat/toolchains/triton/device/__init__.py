"""Triton's GPUs and what replaces them: a stand-in for a GPU, the interpreter, a fake libcuda."""

from __future__ import annotations

from pathlib import Path

from compat.bundle.frozen import FrozenForm
from compat.diagnosis.numbers import Interpreter, Probe
from compat.model import DEFAULT_TOOLCHAIN, constexprs
from compat.text import lazy_pattern
from compat.toolchains.base import Capturing, Device
from compat.toolchains.inside import recorder as recorders
from compat.toolchains.pytorch.device.gpu import is_there
from compat.toolchains.triton.device.pairing import PAIRING
from compat.toolchains.triton.facts import GPUS, MODELS, TARGETS, USUAL, WITHOUT_LINES
from compat.toolchains.triton.inside import recorder
from compat.toolchains.triton.inside.recorder.originals import digest_of
from compat.toolchains.triton.language.types import CONSTANT

CAPTURING = Capturing(
    start=Path(recorders.__file__).parent / "start",
    package=recorders.PACKAGE % DEFAULT_TOOLCHAIN,
    variable=recorders.VARIABLE,
    begin=recorder.begin,
    digest=digest_of,
    hidden_packages=("torch",),
    usual="sm_90",
    has_device=is_there,
    frozen_form=FrozenForm(
        imports=(
            "import triton",
            "import triton.language as tl",
            "from triton.experimental import gluon",
            f"from triton.experimental.gluon import language as {constexprs.GLUON}",
        ),
        decorators={
            "jit": "@triton.jit",
            "gluon": "@gluon.jit",
            "constexpr_function": "@triton.constexpr_function",
        },
        constant=CONSTANT,
    ),
    caches=("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"),
    settings={
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        # Inductor's own launcher runs code without Triton.
        "TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER": "0",
    },
    without_lines=WITHOUT_LINES,
)

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""A process with several threads cannot be forked safely, and cells run in parallel anyway."""
_TO_BF16 = r"(fp_to_fp|fp_trunc|store_cast)>bf16\b"

INTERPRETER = Interpreter(
    packages=("torch", "numpy"),
    variables={"TRITON_INTERPRET": "1", **_ONE_THREAD},
    probe_file=Path(__file__).parents[1] / "inside" / "probes" / "probes.py",
    probes=(
        Probe(name="store", uses=lazy_pattern(""), defect="does not store what a kernel computes"),
        Probe(
            name="loop",
            uses=lazy_pattern(r"\.range\b"),
            defect="cannot loop up to a value that is known at run time only",
        ),
        Probe(
            name="block_pointer",
            uses=lazy_pattern(r"\.make_block_ptr\b"),
            defect="gets block pointers wrong",
        ),
        Probe(
            name="descriptor",
            uses=lazy_pattern(r"\bmake_tensor_descriptor\b"),
            defect="gets tensor descriptors wrong",
        ),
        Probe(
            name="descriptor_stride",
            uses=lazy_pattern(r"\bmake_tensor_descriptor\b"),
            defect=(
                "takes only strides of multiples of 16 elements for tensor descriptors, instead of"
                " 16 bytes"
            ),
        ),
        Probe(
            name="bf16_dot",
            uses=lazy_pattern(r"\bdot:bf16\b"),
            defect="gets products of bf16 blocks wrong",
        ),
        Probe(
            name="bf16_arithmetic",
            uses=lazy_pattern(
                r"\b(fadd|fsub|fmul|fdiv|fma|minimumf|maximumf|minnumf|maxnumf|fcmp\w+|exp2?|sqrt):bf16\b"
            ),
            defect="gets bf16 arithmetic wrong",
        ),
        Probe(
            name="bf16_sum",
            uses=lazy_pattern(r":bf16\b.*\.(sum|reduce)\b"),
            defect="gets bf16 sums wrong",
        ),
        Probe(
            name="bf16_constant", uses=lazy_pattern(r"[:>]bf16\b"), defect="does not support bf16"
        ),
        Probe(
            name="bf16_rounding",
            uses=lazy_pattern(_TO_BF16),
            defect="does not round to the nearest bf16",
        ),
        Probe(
            name="fp8_rounding",
            uses=lazy_pattern(r"\bfp_to_fp>fp8e\w+"),
            defect="does not round to the nearest fp8",
        ),
        Probe(
            name="fp16_atomic",
            uses=lazy_pattern(r"\batomic_rmw:fp16\b"),
            defect="cannot add to fp16 atomically",
        ),
        Probe(
            name="nan_maximum",
            uses=lazy_pattern(r"\b(max|min)numf:nan\b"),
            defect="returns NaN as the maximum of NaN and a number",
        ),
    ),
    missing_feature_patterns=(
        lazy_pattern(r"not supported in interpreter mode"),
        lazy_pattern(r"'InterpreterBuilder' object has no attribute"),
        # The interpreter does not replace this function with its own.
        lazy_pattern(r"Did you forget to add @triton\.jit \?"),
    ),
)

DEVICE = Device(
    targets=TARGETS,
    gpus=GPUS,
    usual_targets=USUAL,
    models=MODELS,
    capturing=CAPTURING,
    interpreter=INTERPRETER,
    pairing=PAIRING,
)
