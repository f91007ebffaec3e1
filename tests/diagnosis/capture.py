"""Capture the evidence that the tests of classification use, with real toolchains.

    ENVS=$(compat envs where) python -m tests.diagnosis.capture
    "$ENVS/triton-{release}-*/cp*/bin/python" '/tmp/bare-{release}/bin/python' [CLASS…]

The first argument is the path of the interpreter in an env with setuptools, which 3.0 to 3.2 need.
The second is the path of one in an env without setuptools. ``{release}`` stands for a release such
as ``3.9.0``, and a pattern for the first file that it matches.

Each :class:`Shot` is a kernel of ``tests/kernels`` or of the corpus. Several releases compile it
once among neighbours and, if that fails, once more alone. The evidence is written to
``fixtures/CLASS.json``, with this machine's paths made neutral. The file of a class is written as a
whole.
"""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

from compat.model import Cell, CompileSpec, Env, Evidence, RaisedException, Specialization
from compat.workers.attempt import DIAGNOSTIC, Limits
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.diagnosis import corpus
from tests.targets import TARGETS

KERNELS = Path(__file__).parents[1] / "kernels"
FIXTURES = Path(__file__).parent / "fixtures"
SOME = ("3.0.0", "3.2.0", "3.3.1", "3.5.1", "3.8.0", "3.9.0")
ALL = (
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.0",
    "3.3.1",
    "3.4.0",
    "3.5.0",
    "3.5.1",
    "3.6.0",
    "3.7.0",
    "3.7.1",
    "3.8.0",
    "3.9.0",
)
_STDERR_KEPT = 2500
_FRAMES_KEPT = 6
"""Lines of a traceback, two per frame."""
_FLOAT = "*fp32"


@frozen(kw_only=True)
class Shot:
    """One kernel that several releases compile the same way, and that fails in the same class."""

    expect: str
    """The failure class."""
    kernel: str
    status: str = "rejected"
    file: str = "failures.py"
    releases: tuple[str, ...] = SOME
    target: str = "sm_90"
    pointers: str = _FLOAT
    block: int = 128
    options: Mapping[str, Any] = {}
    same: str | None = None
    """The name that all captured failures of one defect share.

    Their fingerprints must be equal, and must differ from all others.
    """
    deadline: float = 20.0
    memory: int = 4 << 30
    setting: str | None = None
    """The name of the setting to compile a kernel of the corpus with, whose file is ``file``."""


CRASHED, UNSUPPORTED = "crashed", "unsupported"
LATE = ("3.3.1", "3.5.1", "3.8.0", "3.9.0")
BEFORE_DESCRIPTORS = ("3.0.0", "3.2.0", "3.3.1")

AMD = ("3.5.1", "3.6.0", "3.9.0")
GLUON = ("3.4.0", "3.5.1", "3.9.0")
REJECTED = "rejected"
OF_GLUON = (
    ("layout", "of_other_warps", "layout-threads", GLUON, "sm_90", REJECTED),
    ("layout", "of_more_warps", "layout-warps", GLUON, "sm_90", REJECTED),
    ("layout", "reduced_of_other_warps", "layout-threads", GLUON, "sm_90", REJECTED),
    ("layout", "of_another_rank", "layout-rank", GLUON, "sm_90", REJECTED),
    ("layout", "of_two_layouts", "layout-operands", GLUON, "sm_90", REJECTED),
    ("layout", "of_unequal_lists", "layout-lists", GLUON, "sm_90", REJECTED),
    ("layout", "expanded", "layout-no-slice", GLUON, "sm_90", REJECTED),
    ("layout", "sliced", "layout-slice", GLUON, "sm_90", REJECTED),
    ("layout", "no_layout", "layout-none", GLUON, "sm_90", REJECTED),
    ("layout", "of_triton", "layout-none", GLUON, "sm_90", REJECTED),
    ("layout", "of_no_shared_layout", "layout-shared", GLUON, "sm_90", REJECTED),
    ("layout", "multiplied_by_dot", "layout-wgmma", GLUON[1:], "sm_90", CRASHED),
    ("target-feature", "multiplied", "wgmma", GLUON[1:], "sm_80", CRASHED),
    ("target-feature", "in_tensor_memory", "tcgen05", ("3.9.0",), "sm_90", REJECTED),
)
"""Class, kernel, defect, releases, target and status."""
FROM_CORPUS = (
    (
        "undefined-name",
        "control",
        "undefined_in_a_long_kernel",
        "usual",
        "undefined-b_ps",
        ALL,
        "sm_90",
        REJECTED,
    ),
    (
        "undefined-name",
        "control",
        "undefined_in_a_slice",
        "usual",
        "undefined-b_ps",
        ALL,
        "sm_90",
        REJECTED,
    ),
    (
        "undefined-name",
        "control",
        "undefined_in_a_keyword",
        "usual",
        "undefined-b_ps",
        ALL,
        "sm_90",
        REJECTED,
    ),
    (
        "undefined-name",
        "control",
        "undefined_in_an_augmented_assignment",
        "usual",
        "undefined-b_ps",
        ALL,
        "sm_90",
        REJECTED,
    ),
    (
        "undefined-name",
        "control",
        "helper_of_helper_fails",
        "usual",
        "undefined-in-helper",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "target-unknown",
        "dots",
        "copies",
        "old_gpu",
        "too-old-for-the-target",
        ("3.5.0", "3.5.1", "3.6.0", "3.7.1"),
        "gfx906",
        UNSUPPORTED,
    ),
    (
        "target-unknown",
        "dots",
        "dot",
        "fp16",
        "too-old-for-the-target",
        ("3.0.0", "3.1.0", "3.2.0"),
        "sm_120",
        UNSUPPORTED,
    ),
    ("compiler-assert", "dots", "dot", "fp16", "dots-of-sm_120", ("3.3.0",), "sm_120", CRASHED),
    (
        "loop-carried-type",
        "control",
        "for_carrying_none",
        "usual",
        "no-block",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "loop-carried-type",
        "control",
        "for_reassigning_constexpr",
        "usual",
        "no-block",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "unsupported-syntax",
        "operands",
        "matrix_multiplication_sign",
        "usual",
        "matmul",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "unsupported-syntax",
        "control",
        "for_over_a_tuple",
        "usual",
        "no-range",
        SOME,
        "sm_90",
        REJECTED,
    ),
    ("unsupported-syntax", "operands", "python_round", "usual", "round", SOME, "sm_90", REJECTED),
    ("invalid-option", "control", "static_range", "warps_three", "warps", SOME, "sm_90", REJECTED),
    (
        "invalid-option",
        "control",
        "static_range",
        "ctas_on_old",
        "ctas",
        ("3.5.1", "3.8.0", "3.9.0"),
        "sm_80",
        REJECTED,
    ),
    ("invalid-option", "control", "static_range", "ctas_on_old", "ctas", AMD, "gfx942", REJECTED),
    (
        "invalid-option",
        "control",
        "static_range",
        "stages_none",
        "prefetch-control",
        ("3.5.0", "3.5.1"),
        "gfx942",
        REJECTED,
    ),
    ("recursion", "control", "calls_recursion", "usual", "recursion", SOME, "sm_90", REJECTED),
    (
        "dtype-unsupported",
        "memory",
        "libdevice_tanh",
        "bf16",
        "libdevice-bf16",
        ALL,
        "sm_90",
        REJECTED,
    ),
    (
        "dtype-unsupported",
        "memory",
        "libdevice_tanh",
        "i32",
        "libdevice-i32",
        SOME,
        "sm_90",
        REJECTED,
    ),
    ("dtype-unsupported", "dots", "to_fp8e4nv", "fp32", "fp8e4nv", SOME, "sm_80", REJECTED),
    ("dtype-unsupported", "dots", "to_fp8e4nv", "fp32", "fp8e4nv", SOME, "sm_75", REJECTED),
    (
        "dtype-unsupported",
        "dots",
        "to_fp8e4b8",
        "fp16",
        "fp8e4nv",
        ("3.0.0", "3.1.0"),
        "sm_80",
        CRASHED,
    ),
    ("dtype-unsupported", "dots", "exponential", "fp16", "exp-fp16", SOME, "sm_90", REJECTED),
    ("dtype-unsupported", "dots", "dot", "i32", "dot-i32", SOME, "sm_90", REJECTED),
    ("dot-operands", "dots", "dot_of_scalars", "usual", "dot-ranks", SOME, "sm_90", REJECTED),
    ("dot-operands", "dots", "dot_of_vectors", "usual", "dot-ranks", SOME, "sm_90", REJECTED),
    ("dot-operands", "dots", "dot_too_small", "usual", "dot-small", SOME, "sm_90", REJECTED),
    (
        "dot-operands",
        "dots",
        "dot_with_accumulator_of_shape",
        "fp16",
        "dot-accumulator",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "pointer-or-value",
        "operands",
        "pointer_plus_pointer",
        "usual",
        "pointers-added",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "pointer-or-value",
        "operands",
        "pointer_times_number",
        "usual",
        "pointer-times-number",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "scalar-pointer",
        "operands",
        "store_of_a_block_to_a_scalar",
        "usual",
        "block-to-scalar",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "scalar-pointer",
        "operands",
        "mask_block_scalar_pointer",
        "usual",
        "mask-of-scalar",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "descriptor-rules",
        "memory",
        "descriptor_too_narrow",
        "usual",
        "narrow",
        ("3.4.0", "3.5.1", "3.8.0", "3.9.0"),
        "sm_90",
        REJECTED,
    ),
    (
        "descriptor-rules",
        "memory",
        "descriptor_one_offset",
        "usual",
        "offsets",
        ("3.4.0", "3.5.1", "3.8.0", "3.9.0"),
        "sm_90",
        REJECTED,
    ),
    (
        "block-size",
        "names",
        "arange_not_a_power_of_two",
        "usual",
        "arange-power",
        SOME,
        "sm_90",
        REJECTED,
    ),
    ("block-size", "names", "block_too_large", "usual", "too-large", SOME, "sm_90", REJECTED),
    (
        "shape-mismatch",
        "shapes",
        "split_of_four",
        "usual",
        "split-of-four",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "shape-mismatch",
        "shapes",
        "split_of_a_scalar",
        "usual",
        "split-of-scalar",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "block-indexing",
        "operands",
        "block_indexed",
        "usual",
        "block-indexed",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "signature-type",
        "control",
        "static_range",
        "type_unknown",
        "type-unknown",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "api-missing",
        "memory",
        "descriptor_argument",
        "host",
        "tensordesc",
        ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.3.1"),
        "sm_90",
        REJECTED,
    ),
    (
        "invalid-argument",
        "names",
        "cache_modifier_unknown",
        "usual",
        "cache-modifier",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "invalid-argument",
        "names",
        "input_precision_unknown",
        "usual",
        "input-precision",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "invalid-argument",
        "operands",
        "other_without_mask",
        "usual",
        "other-without-mask",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "number-range",
        "operands",
        "int_overflow",
        "usual",
        "nonrepresentable",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "loop-bounds",
        "control",
        "for_with_a_float_bound",
        "usual",
        "float-bound",
        SOME,
        "sm_90",
        REJECTED,
    ),
    ("python-value", "operands", "store_of_none", "usual", "none", SOME, "sm_90", REJECTED),
    (
        "python-value",
        "operands",
        "none_plus_one",
        "usual",
        "none-plus-one",
        SOME,
        "sm_90",
        REJECTED,
    ),
    ("python-value", "dots", "dot_of_a_number", "usual", "dot-of-number", SOME, "sm_90", REJECTED),
    ("type-error", "operands", "mixed_signs_divided", "usual", "signs", SOME, "sm_90", REJECTED),
    ("type-error", "operands", "invert_of_floats", "usual", "invert", SOME, "sm_90", REJECTED),
    (
        "constexpr-required",
        "names",
        "program_id_at_run_time",
        "usual",
        "axis-at-run-time",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "constexpr-required",
        "control",
        "pipelined_at_run_time",
        "usual",
        "stages-at-run-time",
        SOME,
        "sm_90",
        REJECTED,
    ),
    (
        "internal-error",
        "odd",
        "constant_max_of_nan",
        "usual",
        "max-of-nan",
        ("3.6.0", "3.7.1"),
        "sm_90",
        CRASHED,
    ),
    ("internal-error", "dots", "dot", "fp8e5b16", "map-at", ("3.0.0", "3.1.0"), "sm_80", CRASHED),
    (
        "internal-error",
        "odd",
        "maps_nothing",
        "usual",
        "maps-nothing",
        ("3.5.1", "3.7.1"),
        "sm_90",
        CRASHED,
    ),
    (
        "compiler-crash",
        "odd",
        "code_after_two_returns",
        "usual",
        "two-returns",
        ("3.0.0", "3.1.0"),
        "sm_90",
        CRASHED,
    ),
    (
        "unsupported-syntax",
        "control",
        "kernel_returns_a_value",
        "usual",
        "returns-a-value",
        ("3.0.0", "3.2.0", "3.3.1"),
        "sm_90",
        REJECTED,
    ),
    (
        "inline-asm",
        "memory",
        "asm_too_few_constraints",
        "usual",
        "asm-constraints",
        SOME,
        "sm_90",
        CRASHED,
    ),
    (
        "inline-asm",
        "memory",
        "asm_fine",
        "usual",
        "amd-asm",
        ("3.5.1", "3.6.0"),
        "gfx1100",
        CRASHED,
    ),
    (
        "target-feature",
        "memory",
        "descriptor_gather",
        "fp16",
        "gather4",
        ("3.4.0", "3.5.1", "3.8.0", "3.9.0"),
        "sm_90",
        REJECTED,
    ),
    (
        "verifier",
        "shapes",
        "reduced_to_another_dtype",
        "usual",
        "reduce-dtype",
        SOME,
        "sm_90",
        CRASHED,
    ),
    (
        "device-library",
        "memory",
        "hip_libdevice",
        "fp32",
        "ocml-tanh",
        ("3.3.1", "3.5.1", "3.9.0"),
        "sm_90",
        REJECTED,
    ),
)

SHOTS = (
    Shot(expect="shape-mismatch", kernel="mismatched", same="broadcast"),
    Shot(
        expect="shape-mismatch",
        kernel="mismatched",
        same="broadcast",
        block=32,
        releases=("3.1.0", "3.9.0"),
    ),
    Shot(expect="dot-operands", kernel="dot_of_shapes", same="dot-shapes", block=16),
    Shot(expect="dot-operands", kernel="dot_of_dtypes", same="dot-dtypes", block=16),
    Shot(expect="pointer-or-value", kernel="load_of_a_number", same="load-of-number"),
    Shot(expect="invalid-argument", kernel="max_of_zero", same="max-of-zero"),
    Shot(expect="branch-types", kernel="branches_disagree", same="branches"),
    Shot(
        expect="mlir-bitwidth-assert",
        kernel="block_typed_bound",
        same="block-bound",
        status=CRASHED,
        releases=ALL,
    ),
    *(
        Shot(
            expect="function-name",
            kernel="née",
            same="function-name",
            status=CRASHED if (target, releases) == ("sm_90", ALL[:3]) else REJECTED,
            releases=releases,
            target=target,
        )
        for target in ("sm_90", "gfx942")
        for releases in (ALL[:3], ("3.3.0", "3.9.0"))
    ),
    Shot(
        expect="compiler-assert",
        kernel="scan",
        same="scan-over-ctas",
        status=CRASHED,
        options={"num_ctas": 2},
        block=256,
        releases=("3.1.0", "3.2.0", "3.3.1", "3.4.0"),
    ),
    Shot(
        expect="compiler-assert",
        kernel="dot_into_dot",
        same="stmatrix-3.2",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        options={"num_warps": 8},
        releases=("3.2.0",),
    ),
    Shot(
        expect="compiler-assert",
        kernel="dot_into_dot",
        same="stmatrix-3.3",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        options={"num_warps": 8},
        releases=("3.3.0", "3.3.1"),
    ),
    Shot(
        expect="compiler-assert",
        kernel="specialized_loop",
        same="warp-assert",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        releases=("3.4.0", "3.5.1", "3.6.0"),
    ),
    Shot(
        expect="compiler-assert",
        kernel="specialized_loop",
        same="warp-fatal",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        releases=("3.7.1", "3.8.0", "3.9.0"),
    ),
    Shot(expect="inline-asm", kernel="garbled_constraints", same="constraints", status=CRASHED),
    Shot(
        expect="inline-asm",
        kernel="no_such_instruction",
        same="amd-asm",
        status=CRASHED,
        target="gfx942",
        releases=("3.5.1",),
    ),
    Shot(expect="compiler-assert", kernel="fp64_to_fp8", same="rounding", status=CRASHED),
    Shot(
        expect="compiler-assert",
        kernel="block_condition",
        same="block-condition",
        status=CRASHED,
        releases=("3.2.0", "3.3.1"),
    ),
    Shot(
        expect="compiler-assert",
        kernel="sum_of_fp8",
        same="fp8-packing",
        status=CRASHED,
        releases=("3.8.0", "3.9.0"),
    ),
    Shot(
        expect="verifier",
        kernel="sum_of_fp8",
        same="fp8-adding",
        status=CRASHED,
        releases=("3.6.0", "3.7.1"),
    ),
    Shot(
        expect="pass-failure",
        kernel="old_descriptor",
        same="no-tma",
        status=CRASHED,
        target="sm_80",
        releases=("3.2.0", "3.3.0", "3.3.1"),
    ),
    Shot(
        expect="pass-failure",
        kernel="waits_for_grid",
        same="no-grid",
        status=CRASHED,
        target="gfx942",
        releases=("3.9.0",),
    ),
    Shot(
        expect="ptxas",
        kernel="nvidia_instruction",
        same="amd-mov",
        target="gfx1100",
        releases=("3.5.1", "3.6.0", "3.9.0"),
    ),
    Shot(expect="verifier", kernel="uneven_pack", same="pack", status=CRASHED),
    Shot(
        expect="verifier",
        kernel="scalar_in_exchange",
        same="cas-shape",
        status=CRASHED,
        releases=("3.0.0", "3.2.0", "3.3.1"),
    ),
    Shot(
        expect="verifier",
        kernel="scalar_in_exchange",
        same="cas-type",
        status=CRASHED,
        releases=("3.5.1", "3.8.0", "3.9.0"),
    ),
    Shot(
        expect="verifier",
        kernel="wide_histogram",
        same="histogram",
        status=CRASHED,
        releases=("3.0.0", "3.2.0", "3.3.1", "3.5.1"),
    ),
    Shot(expect="ir-parse", file="broken_ir.py", kernel="broken", same="konstant"),
    Shot(expect="ptxas", kernel="no_such_instruction", same="instruction"),
    Shot(
        expect="ptxas",
        kernel="square",
        same="registers",
        pointers="*fp16",
        block=256,
        releases=("3.2.0",),
        deadline=60,
    ),
    Shot(
        expect="shared-memory",
        kernel="square",
        same="too-much",
        pointers="*fp16",
        block=256,
        target="gfx942",
        releases=("3.5.1", "3.9.0"),
    ),
    Shot(expect="api-missing", kernel="missing_function", same="no-such-function"),
    Shot(
        expect="api-missing", kernel="descriptor", same="no-descriptor", releases=BEFORE_DESCRIPTORS
    ),
    Shot(expect="api-missing", file="asks_for_too_much.py", kernel="asking", same="no-import"),
    Shot(expect="api-removed", kernel="block_pointer", same="block-pointers", releases=("3.9.0",)),
    Shot(expect="api-changed", kernel="wrong_keyword", same="load-keyword"),
    Shot(
        expect="api-changed",
        kernel="loop_hint",
        same="range-keyword",
        releases=("3.0.0", "3.1.0", "3.2.0"),
    ),
    Shot(expect="constexpr-required", kernel="runtime_range", same="runtime-range"),
    Shot(expect="constexpr-required", kernel="runtime_shape", same="runtime-shape"),
    Shot(expect="constexpr-required", kernel="runtime_unrolling", same="runtime-unrolling"),
    Shot(expect="loop-carried-type", kernel="dtype_changes", same="loop-dtype"),
    Shot(expect="loop-carried-type", kernel="shape_changes", same="loop-shape"),
    Shot(
        expect="target-unknown",
        kernel="copy",
        same="too-old-for-the-target",
        status=UNSUPPORTED,
        target="sm_100",
        releases=("3.0.0", "3.1.0", "3.2.0"),
    ),
    Shot(
        expect="target-unknown",
        kernel="copy",
        same="too-old-for-the-target",
        status=UNSUPPORTED,
        target="sm_120",
        releases=("3.0.0", "3.1.0", "3.2.0"),
    ),
    Shot(
        expect="toolchain-missing",
        kernel="copy",
        same="lld",
        status=UNSUPPORTED,
        target="gfx942",
        releases=("3.0.0", "3.2.0", "3.3.1", "3.4.0"),
    ),
    Shot(
        expect="timeout",
        kernel="unrolled_for_ever",
        same="unrolling",
        status="timed_out",
        deadline=2,
        releases=("3.0.0", "3.9.0"),
    ),
    Shot(
        expect="out-of-memory",
        kernel="huge_constant",
        same="outgrown",
        status="out_of_memory",
        memory=800 << 20,
        releases=("3.0.0", "3.9.0"),
    ),
    Shot(expect="undefined-name", kernel="undefined_name", same="undefined"),
    Shot(expect="undefined-name", kernel="defined_in_one_branch", same="in-one-branch"),
    Shot(expect="unusable-global", kernel="global_number", same="global-number"),
    Shot(expect="unusable-global", kernel="calls_undecorated", same="undecorated", releases=ALL),
    Shot(expect="static-assert", kernel="asserts_statically", same="static-assert"),
    Shot(expect="unsupported-syntax", kernel="leaves_a_loop", same="break"),
    Shot(expect="unsupported-syntax", kernel="catches", same="try"),
    Shot(expect="unsupported-syntax", kernel="lists_by_comprehension", same="comprehension"),
    Shot(
        expect="unsupported-syntax",
        kernel="function_in_function",
        same="nested-function",
        releases=ALL,
    ),
    Shot(expect="unsupported-syntax", kernel="assigns_into_a_block", same="setitem"),
    Shot(
        expect="unsupported-syntax",
        kernel="returns_in_a_loop",
        same="return",
        releases=("3.2.0", *LATE),
    ),
    Shot(expect="unsupported-syntax", kernel="while_and_else", same="while-else"),
    Shot(
        expect="block-condition",
        kernel="block_condition",
        same="block-condition-later",
        releases=("3.5.1", "3.8.0", "3.9.0"),
    ),
    Shot(expect="python-value", kernel="converts_to_int", same="python-type"),
    Shot(
        expect="compiler-crash",
        kernel="dot_into_dot_in_loop",
        same="segfault",
        status=CRASHED,
        block=64,
        options={"num_warps": 8},
        releases=("3.0.0", "3.1.0"),
    ),
    Shot(
        expect="unclassified",
        file="hostile.py",
        kernel="leaves_loudly",
        same="exit",
        releases=("3.0.0", "3.9.0"),
    ),
    # Kernels of Gluon.
    *(
        Shot(
            expect=kind,
            file="gluon_faces.py",
            kernel=kernel,
            same=same,
            releases=releases,
            target=target,
            status=status,
        )
        for kind, kernel, same, releases, target, status in OF_GLUON
    ),
    # From the corpus: a file, a kernel, a setting.
    *(
        Shot(
            expect=kind,
            file=file,
            kernel=kernel,
            setting=setting,
            same=same,
            releases=releases,
            target=target,
            status=status,
        )
        for kind, file, kernel, setting, same, releases, target, status in FROM_CORPUS
    ),
)


def cell_of(shot: Shot, release: str) -> Cell:
    """The cell of a shot on one release."""
    if shot.setting is not None:
        settings = {
            setting.name: setting for setting in corpus.SETTINGS.get(shot.kernel, (corpus.USUAL,))
        }
        spec = corpus.specialization(shot.file, shot.kernel, settings[shot.setting])
        return Cell(env=Env(name=f"t{release}"), target=corpus.targets()[shot.target], spec=spec)
    return Cell(
        env=Env(name=f"t{release}"),
        target=TARGETS[shot.target],
        spec=Specialization(
            kernel=shot.kernel,
            variant="plain",
            case=shot.pointers.lstrip("*"),
            source=str(KERNELS / shot.file),
            function=shot.kernel,
            compile=CompileSpec(
                signature={"source": shot.pointers, "result": _FLOAT, "size": "i32"},
                constexprs={"BLOCK": shot.block} if shot.file == "failures.py" else {},
                divisible_by_16=("source", "result"),
                options=shot.options,
            ),
        ),
    )


def place(template: str, release: str) -> str:
    """The path of the interpreter in a release's env."""
    path = template.format(release=release)
    return os.path.abspath(min(glob.glob(path), default=path))


def capture(shots: Sequence[Shot], python: str) -> Iterator[tuple[Shot, str, tuple[Evidence, ...]]]:
    """Attempt every shot on each of its releases, with one worker per release."""
    for release in ALL:
        due = [shot for shot in shots if release in shot.releases]
        if not due:
            continue
        with OwnWorker(place(python, release)) as server:
            assert server.hello.ready, server.hello
            for shot in due:
                yield shot, release, _attempts(server, shot, release)


def _attempts(server: OwnWorker, shot: Shot, release: str) -> tuple[Evidence, ...]:
    neighbour = cell_of(Shot(expect="", kernel="copy", target="sm_80"), release)
    cell = cell_of(shot, release)
    limits = Limits(deadline=shot.deadline, memory=shot.memory)
    stop = threading.Event()
    crowd = {
        done.id: evidence
        for done, evidence in attempt(server, [neighbour, cell], limits, stop=stop)
    }
    first = crowd[cell.id]
    if first.has_binary:
        return (first,)
    ((_, second),) = attempt(server, [cell], limits, stop=stop, mode=DIAGNOSTIC)
    return first, second


def broken_import(python: str, release: str) -> dict[str, Any]:
    """Capture the failure of a toolchain that cannot be imported."""
    ((_, evidence),) = attempt(
        OwnWorker(place(python, release)),
        [cell_of(Shot(expect="", kernel="copy"), release)],
        Limits(deadline=20, memory=4 << 30),
        stop=threading.Event(),
    )
    return {
        "release": release,
        "target": "sm_90",
        "kernel": "copy",
        "same": "setuptools",
        "expect": {"status": "env_broken", "class": "import"},
        "attempts": [trimmed(evidence, release)],
    }


def broken_installs(python: str) -> Iterator[str]:
    """An installer's messages for missing releases, and for one without a wheel for the Python."""
    for requirement in (
        ["triton==3.99.0"],
        ["triton==3.98.0"],
        ["--python-version", "3.14", "triton==3.0.0"],
    ):
        command = [
            "uv",
            "pip",
            "install",
            "--dry-run",
            "--only-binary",
            ":all:",
            "--python",
            python,
            *requirement,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode, done.stdout
        yield "\n".join(
            line for line in done.stderr.splitlines() if not line.startswith("Using Python")
        )


def neutral(text: str, release: str) -> str:
    """``text`` with neutral paths instead of this machine's."""
    for pattern, replacement in (
        (r"/\S*?/lib/python3\.\d+/site-packages", "/env/lib/python3.11/site-packages"),
        (r"/\S*?/lib/python3\.\d+/(?!site-packages)", "/usr/lib/python3.11/"),
        (rf"{re.escape(str(KERNELS.parents[1]))}/compat/worker", "/worker"),
        (re.escape(str(KERNELS)), "/home/user/kernels"),
        (re.escape(str(corpus.HERE)), "/home/user/kernels"),
        (r"/tmp/compat-batch-\w+", "/tmp/batch"),
    ):
        text = re.sub(pattern, replacement, text)
    return text


def trimmed(evidence: Evidence, release: str) -> dict[str, Any]:
    """An attempt as a fixture keeps it.

    It is the evidence as it was read, with neutral paths and short output. Timings and default
    values are left out.
    """

    def text(content: str) -> str:
        content = neutral(content, release)
        return (
            content
            if len(content) <= _STDERR_KEPT
            else f"{content[: _STDERR_KEPT // 2]}\n[…]\n{content[-_STDERR_KEPT // 2 :]}"
        )

    fixture_evidence = evolve(
        evidence,
        raised=tuple(
            RaisedException(
                type=link.type,
                message=text(link.message),
                traceback="".join(
                    neutral(link.traceback, release).splitlines(True)[-_FRAMES_KEPT:]
                ),
            )
            for link in evidence.raised
        ),
        printed="",
        in_flight=None,
        in_passes=False,
        at=None,
        quoted={},
        artifacts={},
        stderr=text(evidence.stderr),
        seconds=0.0,
        entered=0.0,
        stages={},
        warnings=(),
        protocol=(),
    )
    plain, default = asdict(evolve(fixture_evidence, done=())), asdict(Evidence(answered=False))
    plain["built"], default["built"] = evidence.has_binary, False
    plain["diagnosis"] = {name: value for name, value in plain["diagnosis"].items() if value}
    plain["raised"] = [
        {name: value for name, value in link.items() if value is not None}
        for link in plain["raised"]
    ]
    return {
        name: value
        for name, value in plain.items()
        if name == "answered" or value not in (default[name], {}, [], ())
    }


def main(arguments: Sequence[str]) -> None:
    """Capture the named classes (default: all), and write their fixtures."""
    python, bare, *kinds = arguments
    if unknown := set(kinds) - {shot.expect for shot in SHOTS} - {"import", "install"}:
        sys.exit(f"no shot is of {', '.join(sorted(unknown))}")
    shots = [shot for shot in SHOTS if not kinds or shot.expect in kinds]
    fixtures: dict[str, list[dict[str, Any]]] = {}
    for shot, release, attempts in capture(shots, python):
        captured_failure = {
            "release": release,
            "target": shot.target,
            "kernel": shot.kernel,
            "same": shot.same,
            "expect": {"status": shot.status, "class": shot.expect},
            "attempts": [trimmed(evidence, release) for evidence in attempts],
        }
        fixtures.setdefault(shot.expect, []).append(captured_failure)
        print(shot.expect, shot.kernel, release)
    if not kinds or "import" in kinds:
        fixtures["import"] = [
            broken_import(bare, release) for release in ("3.0.0", "3.1.0", "3.2.0")
        ]
    if not kinds or "install" in kinds:
        fixtures["install"] = [
            {"words": output} for output in broken_installs(place(python, "3.9.0"))
        ]
    for kind, captured_failures in fixtures.items():
        (FIXTURES / f"{kind}.json").write_text(
            json.dumps(captured_failures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
