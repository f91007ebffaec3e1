"""The kernels for Hopper in ``kernels/cute``: their cases and expectations, and their compiled
code.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat import toolchains
from compat.config.kernel_files import load_kernels
from compat.diagnosis.classify import classify
from compat.engine.run import expectation_of
from compat.model import BuiltEnv, Cell, Result
from compat.toolchains.cute.inside.adapter import recording
from tests.toolchains import cute_faces
from tests.toolchains.compiling import compile_all

REPOSITORY = Path(__file__).resolve().parents[2]
KERNELS = ["kernels/cute/gemm_wgmma.toml", "kernels/cute/fmha_wgmma.toml"]
SHORT = ("as_written/128x128", "p_registers/d64", "p_shared/d64")
"""Variants and cases that compile in less than a second."""


def cells(env: BuiltEnv, target: str) -> list[Cell]:
    specs = {f"{spec.variant}/{spec.case}": spec for spec in load_kernels(KERNELS, REPOSITORY)}
    return [Cell(env=env.env, target=cute_faces.target(target), spec=specs[name]) for name in SHORT]


def compiled(env: BuiltEnv, target: str = "sm_90a") -> list[Result]:
    knowledge = toolchains.look_up("cute").failures
    batch = cells(env, target)
    return [
        Result(
            cell=cell,
            built=env,
            outcome=classify([evidence], target=cell.target, knowledge=knowledge),
            expectation=expectation_of(cell, env),
        )
        for cell, evidence in zip(batch, compile_all(env, batch), strict=True)
    ]


def test_kernel_files_have_several_head_sizes_and_both_variants_of_p() -> None:
    names = {f"{spec.variant}/{spec.case}" for spec in load_kernels(KERNELS, REPOSITORY)}
    assert names >= {
        *SHORT,
        "p_registers/d256",
        "p_registers/d512",
        "p_shared/d512",
        "p_registers/d64_unrolled",
    }


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "registers"), [("4.2.1", 99), ("4.5.3", 90), ("4.6.1", 90), ("4.8.1", 90)]
)
def test_kernels_compile_for_hopper(
    built: Callable[[str], BuiltEnv], release: str, registers: int
) -> None:
    results = compiled(built(f"cute-{release}"))
    assert all(result.expected for result in results), results
    metrics = [result.outcome.metrics for result in results]
    assert metrics[0]["registers"] == registers
    assert [values["stack_bytes"] for values in metrics] == [0, 0, 0]
    assert [values["shared"] for values in metrics] == [131136, 41000, 49192]


@pytest.mark.wheels
@pytest.mark.parametrize("target", ["sm_80", "sm_100a"])
def test_other_architectures_reject_the_kernels(
    built: Callable[[str], BuiltEnv], target: str
) -> None:
    results = compiled(built("cute-4.8.1"), target)
    assert all(result.expected for result in results), results
    assert {result.expectation.failure_class for result in results if result.expectation} == {
        "arch-required"
    }


def test_tensor_map_stride_that_looks_like_an_address_is_not_patched() -> None:
    """The stride is 0x2bc0 units of 16 bytes.

    It is in the upper half of what would be an address of ``k``.
    """
    tensors, moved = {"k": {"address": 0x2BA7_0000_0000}}, {"k": {"address": 0x3D59_0000_0000}}
    strides = bytes.fromhex("00000000" + "10000000" + "c02b0000" + "00000000")
    first, second = (
        facts["k"]["address"].to_bytes(8, "little") + strides for facts in (tensors, moved)
    )
    parameter = recording._parameter(first, second, tensors, moved)
    assert parameter == {"data": (bytes(8) + strides).hex(), "patches": [[0, "k", 0]]}
