"""This repository's kernels for Blackwell (tcgen05): their kernel files and their outcomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat import toolchains
from compat.config.kernel_files import load_kernels
from compat.diagnosis.classify import classify
from compat.engine.run import expectation_of
from compat.model import BuiltEnv, Cell, Evidence, Result
from compat.project import select
from tests.toolchains import cute_faces
from tests.toolchains.compiling import compile_all

CUTE = toolchains.look_up("cute")
REPOSITORY = Path(__file__).resolve().parents[2]
CASES = {
    "cute_gemm_chain": "n4",
    "cute_gemm_tcgen05": "default",
    "cute_fmha_tcgen05": "d64",
    "cute_tcgen05_elsewhere": "default",
}
"""Kernel → the case that is compiled here."""


@pytest.mark.parametrize(
    ("kernel", "targets"),
    [("gemm_chain", ["sm_100a"]), ("tcgen05_elsewhere", ["sm_90a"]), ("copy", ["sm_90a"])],
)
def test_kernel_is_compiled_for_the_targets_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str, targets: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(REPOSITORY / f"kernels/cute/{kernel}.toml")
    chosen = select(envs=["cute-4.8.1"], kernel_files=[file])
    assert [
        cell.target.name for cell in chosen.cells if cell.spec.case in ("default", "n4")
    ] == targets


def test_kernel_has_no_cell_for_a_chosen_target_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(REPOSITORY / "kernels/cute/gemm_chain.toml")
    assert not select(envs=["cute-4.8.1"], targets=["sm_90a"], kernel_files=[file]).cells


def test_growth_kernels_are_separate_from_the_usual_kernels() -> None:
    usual = {spec.kernel for spec in load_kernels(["kernels/cute/*.toml"], REPOSITORY)}
    long = {spec.kernel for spec in load_kernels(["kernels/cute/growth/*.toml"], REPOSITORY)}
    assert long == {"cute_gemm_chain_growth", "cute_fmha_tcgen05_growth"}
    assert not long & usual


# --- on real wheels -------------------------------------------------------------------------------


def compiled(env: BuiltEnv) -> list[tuple[Cell, Evidence]]:
    specs = [
        spec
        for spec in load_kernels(["kernels/cute/*.toml"], REPOSITORY)
        if CASES.get(spec.kernel) == spec.case
    ]
    cells = [
        Cell(
            env=env.env,
            target=cute_faces.target("sm_80" if spec.targets[0] == "sm_80" else "sm_100a"),
            spec=spec,
        )
        for spec in specs
    ]
    return list(zip(cells, compile_all(env, cells), strict=True))


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["4.2.1", "4.5.3", "4.6.1", "4.8.1"])
def test_outcomes_are_those_that_the_kernel_files_expect(
    built: Callable[[str], BuiltEnv], release: str
) -> None:
    env = built(f"cute-{release}")
    attempts = compiled(env)
    assert {cell.spec.kernel for cell, _ in attempts} == set(CASES)
    for cell, evidence in attempts:
        outcome = classify([evidence], target=cell.target, knowledge=CUTE.failures)
        result = Result(
            cell=cell, built=env, outcome=outcome, expectation=expectation_of(cell, env)
        )
        assert result.expected, result
    code = {
        cell.spec.kernel: evidence.metrics["code"]
        for cell, evidence in attempts
        if evidence.complete and "code" in evidence.metrics
    }
    if "cute_fmha_tcgen05" in code:
        assert (
            code["cute_gemm_chain"]["tcgen05_mma"],
            code["cute_gemm_tcgen05"]["tcgen05_mma"],
        ) == (16, 4)
        # One part of 64 of the head dim, and 8 steps of P · V. The loads are Q, K and V.
        assert (
            code["cute_fmha_tcgen05"]["tcgen05_mma"],
            code["cute_fmha_tcgen05"]["tma_loads"],
        ) == (4 + 8, 3)
