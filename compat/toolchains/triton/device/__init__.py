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

INTERPRETER = Interpreter(
    packages=("torch", "numpy"),
    variables={"TRITON_INTERPRET": "1", **_ONE_THREAD},
    probe_file=Path(__file__).parents[1] / "inside" / "probes" / "probes.py",
    probes=tuple(
        Probe(name=name, uses=lazy_pattern(uses), defect=defect)
        for name, uses, defect in (
            ("store", "", "does not store what a kernel computes"),
            ("loop", r"\.range\b", "cannot loop up to a value that is known at run time only"),
            ("block_pointer", r"\.make_block_ptr\b", "gets block pointers wrong"),
            ("descriptor", r"\bmake_tensor_descriptor\b", "gets tensor descriptors wrong"),
            (
                "descriptor_stride",
                r"\bmake_tensor_descriptor\b",
                "takes only strides of multiples of 16 elements for tensor descriptors, instead of"
                " 16 bytes",
            ),
            ("bf16_dot", r"\bdot:bf16\b", "gets products of bf16 blocks wrong"),
            (
                "bf16_arithmetic",
                r"\b(fadd|fsub|fmul|fdiv|fma|minimumf|maximumf|minnumf|maxnumf|fcmp\w+|exp2?|sqrt):bf16\b",
                "gets bf16 arithmetic wrong",
            ),
            ("bf16_sum", r":bf16\b.*\.(sum|reduce)\b", "gets bf16 sums wrong"),
            ("bf16_constant", r"[:>]bf16\b", "does not support bf16"),
            (
                "bf16_rounding",
                r"(fp_to_fp|fp_trunc|store_cast)>bf16\b",
                "does not round to the nearest bf16",
            ),
            ("fp8_rounding", r"\bfp_to_fp>fp8e\w+", "does not round to the nearest fp8"),
            ("fp16_atomic", r"\batomic_rmw:fp16\b", "cannot add to fp16 atomically"),
            (
                "nan_maximum",
                r"\b(max|min)numf:nan\b",
                "returns NaN as the maximum of NaN and a number",
            ),
        )
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
