"""Gluon kernels in the toolchain of Triton: which of them compile, and in which stages."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.config.kernel_files import load_kernels
from compat.diagnosis import classify
from compat.diagnosis.numbers import check_of
from compat.model import BuiltEnv, Cell, Env, Status, arguments, constexprs
from compat.toolchains.triton.device import INTERPRETER
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.language.script import form_of
from compat.toolchains.triton.language.types import DTYPES, TYPES
from compat.workers.attempt import INTERPRETING
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell
from tests.commands import run
from tests.targets import TARGETS
from tests.together import for_each
from tests.toolchains.compiling import LIMITS, compile_all, failure_text, run_scripts, sources_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COPY: dict[str, Any] = {
    "signature": {"source": "*fp16", "result": "*fp16", "size": "i32"},
    "divisible_by_16": ("source", "result", "size"),
}
BLOCKED = {"layout": "gl.BlockedLayout([4], [32], [4], [0])"}
SLICE = {"layout": "gl.SliceLayout(0, gl.BlockedLayout([1, 4], [1, 32], [1, 4], [1, 0]))"}
DESCRIPTOR = (
    "tensordesc<fp16[64,64],NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)>"
)


def cells(env: BuiltEnv | Env, target: str = "sm_90") -> list[Cell]:
    stored: tuple[dict[str, Any], ...] = (
        {"signature": {"result": DESCRIPTOR}},
        {"launch": {"result": DESCRIPTOR}},
    )
    return [
        cell(env, "gluon_told", "copied", target, constexprs={"BLOCK": 512}, **COPY),
        cell(
            env,
            "gluon_told",
            "copied_as_told",
            target,
            constexprs={"BLOCK": 512, "LAYOUT": BLOCKED},
            **COPY,
        ),
        cell(
            env, "gluon_told", "summed", target, constexprs={"BLOCK": 512, "LAYOUT": SLICE}, **COPY
        ),
        *(
            cell(
                env, "gluon_told", "stored", target, **{"signature": {}, "constexprs": {}, **facts}
            )
            for facts in stored
        ),
    ]


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.4.0", "3.9.0"])
def test_layouts_and_descriptors_compile_in_the_releases_stages(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    evidence = compile_all(env, cells(env))
    assert all(record.has_binary for record in evidence), [
        failure_text(record) for record in evidence
    ]
    stages = [list(record.done[0].outputs) for record in evidence]
    first = ["source", *(["glir"] if release == "3.9.0" else [])]
    assert stages == [[*first, "ttgir", "llir", "ptx", "cubin"]] * len(stages)
    code = [record.done[0].outputs["ptx"].digest for record in evidence]
    assert code[3] == code[4]  # a descriptor of a signature, and one that a launch passes
    assert len(set(code)) == 4


@pytest.mark.wheels
def test_layout_for_amd_needs_triton_3_5(built: Callable[[str], BuiltEnv]) -> None:
    """3.4.0 has no part for AMD, but its error message is about something else."""
    layout = {"layout": "gl.BlockedLayout([2], [64], [4], [0])"}
    facts = {**COPY, "constexprs": {"BLOCK": 512, "LAYOUT": layout}}
    for release, ok in (("3.4.0", False), ("3.9.0", True)):
        env = built(f"triton-{release}")
        amd_cell = cell(env, "gluon_told", "copied_as_told", "gfx942", **facts)
        (evidence,) = compile_all(env, [amd_cell])
        assert evidence.has_binary is ok, failure_text(evidence)
        if not ok:
            assert needed_release(amd_cell, evidence) == "Triton 3.5"


@pytest.mark.wheels
def test_advice_for_a_release_without_gluon_names_triton_3_4(
    built: Callable[[str], BuiltEnv],
) -> None:
    env = built("triton-3.3.1")
    batch = cells(env)
    for gluon_cell, evidence in zip(batch, compile_all(env, batch), strict=True):
        assert needed_release(gluon_cell, evidence) == "Triton 3.4"


def needed_release(cell: Cell, evidence: Any) -> str:
    """The release that the advice says the kernel needs."""
    outcome = classify.classify([evidence], target=cell.target, knowledge=KNOWLEDGE)
    assert outcome.failure is not None
    assert (outcome.status, outcome.failure.failure_class) == (Status.REJECTED, "api-missing")
    assert "needs Gluon" in outcome.failure.advice
    return next(part for part in ("Triton 3.4", "Triton 3.5") if part in outcome.failure.advice)


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.4.0", "3.9.0"])
def test_repro_scripts_give_the_compiler_what_the_worker_gives(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    for worker, pinned, portable in sources_of(cells(env)[:4], env, release, tmp_path):
        assert pinned == worker
        assert portable == worker


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.4.0", "3.9.0"])
def test_scripts_run(release: str, built: Callable[[str], BuiltEnv], tmp_path: Path) -> None:
    env = built(f"triton-{release}")
    run_scripts([cell.spec for cell in cells(env)], env, form_of(release), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "gl.BlockedLayout([1], [32], [4], [0])",
        "gl.SliceLayout(dim=1, parent=gl.BlockedLayout([1, 1], [32, 1], [4, 1], [1, 0]))",
        "gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [4, 1], element_type=gl.float32)",
        "gl.SharedLinearLayout([[0, 1], [0, -1]], alignment=16)",
    ],
)
def test_layout_expression_is_a_constexpr(text: str) -> None:
    value = {"layout": text}
    assert constexprs.read(value) == value
    assert constexprs.source(value) == text
    assert constexprs.modules([value]) == {"from triton.experimental.gluon import language as gl"}


@for_each(
    "text",
    [
        "BlockedLayout([1], [32], [4], [0])",
        "gl.BlockedLayout(*open('x'))",
        "gl.BlockedLayout(**{})",
        "gl.BlockedLayout(open('x'))",
        "gl.BlockedLayout.__init__()",
        "gl.BlockedLayout(1 + 1)",
        "(lambda: 1)()",
        "gl.float16",
        "gl.A([1)",
        "gl.A(1)) + (2)",
        "gl.A(b=c)",
        "gl.A(gl.B.__class__)",
        "gl.A(gl)",
        "[" * 5000,
    ],
)
def test_other_code_is_not_a_layout(text: str) -> None:
    with pytest.raises(constexprs.UnknownForm):
        constexprs.read({"layout": text})
    with pytest.raises(constexprs.UnknownForm):
        arguments.read(f"tensordesc<fp16[64, 64],{text.removeprefix('gl.')}({{>", DTYPES)


def test_descriptor_type_includes_its_layout() -> None:
    assert arguments.read(DESCRIPTOR, DTYPES) == DESCRIPTOR
    assert arguments.descriptor(DESCRIPTOR) == ("fp16", (64, 64), DESCRIPTOR[23:-1])
    assert TYPES.pattern.fullmatch(DESCRIPTOR)
    assert not TYPES.pattern.fullmatch("tensordesc<fp16[64, 64],NVMMASharedLayout>")


@pytest.mark.wheels
def test_interpreter_does_not_support_gluon(built: Callable[[str], BuiltEnv]) -> None:
    env = built("triton-3.5.1-torch-2.9.1")
    spec = load_kernels(["kernels/gluon/copy.toml"], ROOT)[0]
    cell = Cell(env=env.env, target=TARGETS["sm_90"], spec=spec)
    assert env.python
    with OwnWorker(env.python, interprets=True) as server:
        ((_, evidence),) = attempt(
            server, [cell], LIMITS, stop=threading.Event(), mode=INTERPRETING
        )
    check = check_of(evidence, INTERPRETER)
    assert (check.status, "Gluon" in check.reason) == (Status.UNSUPPORTED, True), failure_text(
        evidence
    )


@pytest.mark.wheels
def test_bisect_by_part_compiles_ttgir_of_another_release(tmp_path: Path) -> None:
    """Gluon kernels have no TTIR that another release could compile."""
    command = [
        "bisect",
        "--axis",
        "part",
        "--variant",
        "of_two",
        "--case",
        "cdna3",
        "--target",
        "gfx942",
    ]
    ran = run(
        *command,
        "--spec",
        str(ROOT / "kernels/gluon/gemm_mfma.toml"),
        "--good",
        "3.5.1",
        "--bad",
        "3.6.0",
        cwd=tmp_path,
        env=os.environ,
    )
    assert "in the front end, which rejects the source (api-changed)" in ran.stdout
    assert "TTGIR made by 3.5.1, compiled by 3.6.0" in ran.stdout
    assert "TTIR" not in ran.stdout
