"""Arguments that are tuples: a compile treats them as the launcher of the same release does."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.diagnosis import classify
from compat.model import BuiltEnv, Cell, Status
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.language.script import Form, form_of
from tests.cells import KERNELS, cell
from tests.toolchains.compiling import compile_all, failure_text, script, sources_of

HERE = Path(__file__).parent
OF_TUPLES: dict[str, Any] = {
    "signature": {"sources": ("*fp16", "*fp32"), "shape": ("i32", "i32"), "result": "*fp32"}
}
TUPLES: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "of_tuples",
        {
            **OF_TUPLES,
            "constexprs": {"BLOCK": 64},
            "divisible_by_16": ("sources[0]", "shape[0]", "result"),
            "equal_to_1": ("shape[1]",),
        },
    ),
    (
        "of_tuples",
        {**OF_TUPLES, "constexprs": {"BLOCK": 64}, "divisible_by_16": ("sources[0]", "result")},
    ),
    (
        "of_nested",
        {
            "signature": {
                "args": ("*fp32", "constexpr", "i32", ("i32", "constexpr"), "constexpr"),
                "result": "*fp32",
            },
            "constexprs": {"args[1]": 64, "args[3][1]": 2.0, "args[4]": None},
            "divisible_by_16": ("args[0]", "result"),
            "equal_to_1": ("args[2]",),
        },
    ),
    (
        "of_named",
        {
            "signature": {
                "args": {
                    "fields": {
                        "source": "*fp32",
                        "more": {"fields": {"size": "i32", "step": "i32"}},
                        "bias": "constexpr",
                        "block": "constexpr",
                    }
                },
                "result": "*fp32",
            },
            "constexprs": {"args[2]": None, "args[3]": 64},
            "divisible_by_16": ("args[0]", "args[1][0]", "result"),
            "equal_to_1": ("args[1][1]",),
        },
    ),
)


def cells(env: BuiltEnv) -> list[Cell]:
    return [cell(env, "told", name, **facts) for name, facts in TUPLES]


def launched(env: BuiltEnv, folder: Path) -> list[Any]:
    """The launcher's answers for the same arguments: the digest of the PTX, or the exception."""
    variables = {**os.environ, "TRITON_CACHE_DIR": str(folder / "cache")}
    command = [str(env.python), "-W", "ignore", str(HERE / "launcher.py"), str(KERNELS / "told.py")]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=True, env=variables, cwd=folder
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.3.0", "3.5.1", "3.9.0"])
def test_tuples_compile_to_the_code_of_a_launch(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    evidence = compile_all(env, cells(env))
    assert all(record.has_binary for record in evidence), [
        failure_text(record) for record in evidence
    ]
    digests = [record.done[0].outputs["ptx"].digest for record in evidence]
    assert digests == [digest[: len(digests[0])] for digest in launched(env, tmp_path)]
    assert len(set(digests)) == len(TUPLES)


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.0.0", "3.2.0"])
def test_releases_without_tuples_raise_the_error_of_their_launchers(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    batch = cells(env)
    for tuple_cell, evidence, launcher in zip(
        batch, compile_all(env, batch), launched(env, tmp_path), strict=True
    ):
        assert [evidence.raised[-1].type, evidence.raised[-1].message] == launcher
        outcome = classify.classify([evidence], target=tuple_cell.target, knowledge=KNOWLEDGE)
        assert outcome.failure is not None
        assert (outcome.status, outcome.failure.failure_class) == (Status.REJECTED, "api-missing")
        assert "Triton 3.3" in outcome.failure.advice


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.2.0", "3.3.0", "3.9.0"])
def test_repro_scripts_give_the_compiler_what_the_worker_gives(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    if release == "3.2.0":  # it fails before the compile that `described.py` prints
        path = tmp_path / "s.py"
        for form in (form_of(release), Form.ANY):
            path.write_text(script(cells(env)[0].spec, "sm_90", form))
            ran = subprocess.run(
                [str(env.python), str(path), "compile"],
                capture_output=True,
                text=True,
                check=False,
                cwd=tmp_path,
            )
            assert "'tuple' object has no attribute 'dtype'" in ran.stderr
        return
    ranges = {"pointer_range_32": ("sources[1]", "result")}
    on_amd = cell(env, "told", "of_tuples", "gfx942", **TUPLES[0][1], **ranges)
    for worker, pinned, portable in sources_of([*cells(env), on_amd], env, release, tmp_path):
        assert pinned == worker
        assert portable == worker
