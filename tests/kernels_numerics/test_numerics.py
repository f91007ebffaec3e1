"""All variants of a kernel compute the same, and these tests would detect one that did not.

The kernels run on their problems in Triton's interpreter, inside an env that has PyTorch (see
``check.py``). This module decides which of them have to pass.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from compat.config.kernel_files import load_kernels
from compat.model import Specialization
from tests.forking import write_python

# The interpreter needs 30 s on an idle core.
pytestmark = [pytest.mark.wheels, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
CHECK = Path(__file__).with_name("check.py")
KERNELS = ROOT / "kernels"
RELEASE = "3.5.1"
"""The Triton release of the env that ``pair_python`` belongs to.

It is the newest default pair that has both block pointers and descriptors.
"""

Name = tuple[str, str, str]
"""Kernel, variant, case."""

MUTANTS: dict[Name, tuple[str, str]] = {
    ("sel_dense", "broadcast_2d", "ragged"): (" & (d0 + offs_D < D)[None, :]", ""),
    ("sel_dense", "pointer_grid", "d64"): ("tl.exp(scores - m_grid)", "tl.exp(scores)"),
    ("sel_dense", "loop_1d", "d64"): ("for d in range(D):", "for d in range(D - 1):"),
    ("sel_dense", "block_ptr", "d64"): (
        'tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))',
        "scores * scale",
    ),
    ("sel_dense", "descriptor", "d128"): ("k_desc.load([l0, d0])", "k_desc.load([l0, 0])"),
    ("sel_varlen", "broadcast_2d", "mixed"): (" & (offs_V < DV)[None, :])", ")"),
    ("sel_varlen", "pointer_grid", "few"): (
        "mask=(l0 + v_rows < end) & (v_cols < DV)",
        "mask=v_cols < DV",
    ),
    ("sel_varlen", "loop_1d", "few"): (
        "for l in range(start, end):",
        "for l in range(start, end - 1):",
    ),
    ("sel_varlen", "block_ptr", "many"): (
        "v = tl.where((l0 + offs_L < end)[:, None], v, 0.0).to(v.dtype)",
        "v = v",
    ),
    ("sel_varlen", "descriptor", "many"): ("k_desc.load([l0, 0])", "k_desc.load([start, 0])"),
    ("attn_standard", "pointer_grid", "d64"): ("acc * shrink[:, None]", "acc"),
    ("attn_standard", "loop_1d", "d32_fp32_causal"): ("offs_m >= n", "offs_m > n"),
    ("attn_standard", "block_ptr", "d128_causal"): (
        "v_block = tl.advance(v_block, (BLOCK_N, 0))",
        "v_block = v_block",
    ),
    ("attn_standard", "descriptor", "d64"): ("if MASKED:", "if CAUSAL:"),
    ("attn_rope", "pointer_grid", "d64"): (
        "rotate(k, k_sine, k_cosine",
        "rotate(k, -k_sine, k_cosine",
    ),
    ("attn_rope", "loop_1d", "d32_fp32_causal"): (
        "angles(tl.full([1], 1,",
        "angles(tl.full([1], 2,",
    ),
    ("attn_rope", "block_ptr", "d64"): (
        "k_sine, k_cosine = advance(k_sine, k_cosine, step_sine, step_cosine)",
        "pass",
    ),
    ("attn_rope", "descriptor", "d64"): (
        "angles(tl.full([1], BLOCK_N,",
        "angles(tl.full([1], BLOCK_M,",
    ),
    ("attn_absolute", "pointer_grid", "d64"): (
        "add_sinusoids(q, q_sine, q_cosine",
        "add_sinusoids(q, q_cosine, q_sine",
    ),
    ("attn_absolute", "loop_1d", "d32_fp32_causal"): (
        "k_even + k_sine, k_odd + k_cosine",
        "k_even + k_cosine, k_odd + k_sine",
    ),
    ("attn_absolute", "block_ptr", "d64"): (
        "angles(offs_m, theta, D)",
        "angles(offs_m + 1, theta, D)",
    ),
    ("attn_absolute", "descriptor", "d128_causal"): (
        "add_sinusoids(k, k_sine, k_cosine, BLOCK_N, D)",
        "k",
    ),
    ("attn_exposb", "pointer_grid", "d128_causal"): (
        "before(start, offs_m, n0 + offs_n,",
        "before(start, offs_m, offs_n,",
    ),
    ("attn_exposb", "loop_1d", "d32_fp32_causal"): ("tl.abs(offs_m - n)", "tl.abs(offs_m - n + 1)"),
    ("attn_exposb", "block_ptr", "d64"): ("fold(scores, 1.0", "fold(scores, factor"),
    ("attn_exposb", "descriptor", "d64"): ("near(offs_m, n0 + offs_n", "near(offs_m, offs_n"),
    ("attn_host", "descriptor", "d64"): ("if MASKED:", "if CAUSAL:"),
    ("gemm", "pointer_grid", "fp16"): ("b_ptrs + k0", "b_ptrs"),
    ("gemm", "descriptor", "fp16"): ("b_desc.load([n0, k0])", "b_desc.load([n0, 0])"),
    ("gemm", "host_descriptor", "fp16"): ("B_desc.load([n0, k0])", "B_desc.load([n0, 0])"),
    ("layer_norm", "whole_row", "n4096"): ("tl.where(inside, x - mean, 0.0)", "x - mean"),
    ("layer_norm", "blocks", "n4096"): ("tl.where(offs < n, x - mean, 0.0)", "x - mean"),
    ("attn_delta", "pointer_grid", "d64"): ("tl.sum(o * do", "tl.sum(o * o"),
    ("attn_standard_dkdv", "pointer_grid", "d64"): ("(dk * scale)", "dk"),
    ("attn_standard_dq", "pointer_grid", "d128_causal"): (
        "do, lse, delta, offs_m",
        "do, lse, 0 * delta, offs_m",
    ),
    ("attn_rope_dkdv", "pointer_grid", "d64"): ("rotate(dk, -sine", "rotate(dk, sine"),
    ("attn_rope_dq", "pointer_grid", "d128_causal"): ("rotate(dq, -sine", "rotate(dq, sine"),
}
"""One plausible mistake for each variant, and a case in which it shows.

A mistake is a text of the function, and the text that replaces it.
"""


def fails(spec: Specialization) -> bool:
    """Whether a specialization is declared to fail on RELEASE, for every target."""
    return any(
        expectation.targets == ("*",) and expectation.releases.contains(RELEASE)
        for expectation in spec.expectations
    )


def uncomputed(spec: Specialization) -> bool:
    """Whether no interpreter can compute it: a dot of bf16 multiplies raw bits there."""
    return spec.problem is not None and spec.problem.dtype == "bf16"


def repeats(spec: Specialization) -> bool:
    """Whether it repeats another case.

    It runs the lines of that case, slowly, or differs only in options, which no interpreter knows.
    """
    slow = spec.variant == "loop_1d" and name_of(spec) not in MUTANTS
    return (
        slow
        or (spec.variant == "as_written_mask_shape" and spec.case != "few")
        or spec.case == "many_stages_3"
    )


def name_of(spec: Specialization) -> Name:
    return spec.kernel, spec.variant, spec.case


def checked(python: str | Path, kernels: Path, names: Iterable[Name]) -> str:
    """What ``check.py`` prints about the named variants and cases of the kernels in a directory."""
    specs = {name_of(spec): spec for spec in load_kernels(["*.toml"], kernels)}
    toolchains = ROOT / "compat" / "toolchains"
    folders = [toolchains / "pytorch" / "numerics", toolchains / "triton" / "inside" / "adapter"]
    input_text = json.dumps([described(specs[name]) for name in names])
    with TemporaryDirectory() as folder:
        forking = write_python(Path(folder, "python"), str(python), "torch")
        command = [forking, str(CHECK), *map(str, folders)]
        done = subprocess.run(
            command, input=input_text, capture_output=True, text=True, timeout=540, check=False
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def described(spec: Specialization) -> dict[str, Any]:
    """The part of a specialization that ``check.py`` reads."""
    assert spec.problem is not None, f"{spec.kernel} has no [problem]"
    problem = {key: getattr(spec.problem, key) for key in ("source", "function", "dtype")}
    return {
        **dict(zip(("kernel", "variant", "case"), name_of(spec), strict=True)),
        "source": spec.source,
        "function": spec.function,
        "signature": dict(spec.compile.signature),
        "constexprs": dict(spec.compile.constexprs),
        "problem": problem | {"parameters": dict(spec.problem.parameters)},
    }


def findings(printed: str) -> dict[Name, dict[str, Any]]:
    records = [json.loads(line) for line in printed.splitlines()]
    return {(record["kernel"], record["variant"], record["case"]): record for record in records}


def mutate(source: str, function: str, old: str, new: str) -> str:
    """Replace a text wherever it occurs in one function of a source file."""
    before, head, rest = source.partition(f"def {function}(")
    body, decorator, after = rest.partition("\n@triton.jit")
    assert old in body, f"{function} no longer says {old}"
    return before + head + body.replace(old, new) + decorator + after


Once = Callable[[str, Callable[[], str]], str]
UNCOMPILABLE: list[Name] = [("sel_varlen", "as_written", "few")]


@cache
def all_specs() -> tuple[Specialization, ...]:
    """The specializations of all kernels. Reading them takes as long as collecting 1,000 tests."""
    return load_kernels(["*.toml"], KERNELS)


@cache
def sound() -> list[Name]:
    return [
        name_of(spec)
        for spec in all_specs()
        if not fails(spec) and not uncomputed(spec) and not repeats(spec)
    ]


@pytest.fixture(scope="module")
def kernel_findings(pair_python: str | Path, once: Once) -> dict[Name, dict[str, Any]]:
    """The findings on all that has to pass, and on the kernel that only compilers cannot process.

    They are made once.
    """
    return findings(once("sound", lambda: checked(pair_python, KERNELS, [*sound(), *UNCOMPILABLE])))


@pytest.fixture(scope="module")
def found_of_mutants(
    pair_python: str | Path, tmp_path_factory: pytest.TempPathFactory, once: Once
) -> dict[Name, dict[str, Any]]:
    """The findings on a copy of the kernels in which each variant has a mistake."""
    copies = tmp_path_factory.mktemp("mutants") / "kernels"
    shutil.copytree(KERNELS, copies)
    sources = {name_of(spec): copies / Path(spec.source).name for spec in all_specs()}
    for name, (old, new) in MUTANTS.items():
        kernel, variant, _ = name
        source = mutate(sources[name].read_text(encoding="utf-8"), f"{kernel}_{variant}", old, new)
        sources[name].write_text(source, encoding="utf-8")
    return findings(once("mutants", lambda: checked(pair_python, copies, MUTANTS)))


@pytest.mark.long
def test_variants_compute_the_reference(kernel_findings: dict[Name, dict[str, Any]]) -> None:
    assert set(sound()) <= set(kernel_findings), "check.py said nothing about some"
    wrong = {
        name: found
        for name in sound()
        if (found := kernel_findings[name])["error"] is not None
        or not found["ok"]
        or found["tried"] < 2
    }
    assert wrong == {}


@pytest.mark.long
def test_mistakes_in_variants_are_detected(found_of_mutants: dict[Name, dict[str, Any]]) -> None:
    errors = {
        name: error for name in MUTANTS if (error := found_of_mutants[name]["error"]) is not None
    }
    assert errors == {}, "the mistakes are to be in the numbers"
    assert [name for name in MUTANTS if found_of_mutants[name]["ok"]] == []


@pytest.mark.parametrize("name", UNCOMPILABLE, ids="/".join)
def test_kernel_that_no_compiler_can_process_computes_the_reference(
    kernel_findings: dict[Name, dict[str, Any]], name: Name
) -> None:
    """The abort is the compiler's own: the interpreter computes the loop that a block bounds."""
    assert kernel_findings[name]["ok"]


def test_every_variant_is_tested_and_has_a_mutant() -> None:
    """No declaration may silently remove a variant from this test or from the mutants."""
    ways = {
        "sel_dense": 5,
        "sel_varlen": 5,
        "attn_standard": 4,
        "attn_rope": 4,
        "attn_absolute": 4,
        "attn_exposb": 4,
        "attn_host": 1,
        "gemm": 3,
        "layer_norm": 2,
    }
    ways |= {
        "attn_delta": 1,
        "attn_standard_dkdv": 1,
        "attn_standard_dq": 1,
        "attn_rope_dkdv": 1,
        "attn_rope_dq": 1,
    }
    assert {spec.kernel for spec in all_specs()} == set(ways)
    for kernel, count in ways.items():
        assert (
            len({name[1] for name in sound() if name[0] == kernel and "as_written" not in name[1]})
            == count
        )
        assert len({name[1] for name in MUTANTS if name[0] == kernel}) == count


def test_every_kernel_has_a_problem() -> None:
    assert [name_of(spec) for spec in all_specs() if spec.problem is None] == []
