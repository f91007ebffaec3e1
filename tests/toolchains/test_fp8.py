"""8-bit floats as types of arguments: a release compiles those that it has for the target, and
rejects the others explicitly.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat.diagnosis import classify
from compat.model import BuiltEnv
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.cells import cell
from tests.toolchains.compiling import compile_all, failure_text

KINDS = ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15")
NVIDIA, AMD = {"fp8e4nv", "fp8e5", "fp8e4b15"}, {"fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16"}


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.0.0", "3.2.0", "3.5.1", "3.9.0"])
def test_pointers_to_8_bit_floats_compile_or_are_unsupported(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    for target, kinds in (("sm_90", NVIDIA), ("gfx942", AMD)):
        if target == "gfx942" and release < "3.5":  # their wheels cannot build for AMD
            continue
        signatures = [{"source": f"*{kind}", "result": "*fp16", "size": "i32"} for kind in KINDS]
        cells = [
            cell(env, "told", "converted_to_half", target, signature=signature)
            for signature in signatures
        ]
        for kind, kind_cell, evidence in zip(KINDS, cells, compile_all(env, cells), strict=True):
            outcome = classify.classify([evidence], target=kind_cell.target, knowledge=KNOWLEDGE)
            # 3.0 and 3.1 convert fp8e4b8 on NVIDIA, too.
            if kind in kinds or (release == "3.0.0" and kind == "fp8e4b8"):
                assert evidence.has_binary, (target, kind, failure_text(evidence))
            else:
                assert outcome.failure is not None, (target, kind)
                # LLVM aborts because a rounding mode is missing.
                aborts = (release, kind) == ("3.0.0", "fp8e5b16")
                assert outcome.failure.failure_class == (
                    "compiler-assert" if aborts else "dtype-unsupported"
                ), (target, kind)
