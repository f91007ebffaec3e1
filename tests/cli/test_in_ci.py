"""From an empty folder to a CI and a library, by commands alone.

The tests cover the workflow, its page and comment, the guard and its check.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from ruamel.yaml import YAML

from tests.forking import write_command
from tests.installed import ROOT, Installed
from tests.installed import environ as installed_environ
from tests.workflows.linters import lint

SOFTMAX = """
import torch
import triton
import triton.language as tl


@triton.jit
def row_softmax(out_ptr, in_ptr, stride_out, stride_in, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride_in + cols, mask=cols < n_cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride_out + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)


def softmax(x):
    out = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    row_softmax[(x.shape[0],)](out, x, out.stride(0), x.stride(0), x.shape[1], BLOCK=block)
    return out
"""
MATMUL = """
import triton
import triton.language as tl

CONFIGS = [triton.Config({"M_BLOCK": m, "N_BLOCK": n, "K_BLOCK": 16}, num_warps=w) for m, n, w in [(16, 16, 1), (32, 16, 2)]]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def tiled_matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c,
                 M_BLOCK: tl.constexpr, N_BLOCK: tl.constexpr, K_BLOCK: tl.constexpr):
    m = tl.program_id(0) * M_BLOCK + tl.arange(0, M_BLOCK)
    n = tl.program_id(1) * N_BLOCK + tl.arange(0, N_BLOCK)
    total = tl.zeros((M_BLOCK, N_BLOCK), dtype=tl.float32)
    for start in range(0, K, K_BLOCK):
        k = start + tl.arange(0, K_BLOCK)
        a = tl.load(a_ptr + m[:, None] * stride_a + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_b + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total += tl.dot(a, b)
    tl.store(c_ptr + m[:, None] * stride_c + n[None, :], total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))
"""
LOAD = 'x = tl.load(in_ptr + row * stride_in + cols, mask=cols < n_cols, other=-float("inf"))'
BROKEN = (
    "x = tl.load(tl.make_block_ptr(in_ptr + row * stride_in, (n_cols,), (1,), (0,), (BLOCK,),"
    " (0,)), boundary_check=(0,))"
)
"""The line that breaks the kernel in 3.9.0, which removed block pointers.

3.8.0 deprecates them.
"""
PLACES = ("--envs", "3.8,3.9", "--target", "h100")
GUARD = "lib/_triton_guard.py"


@pytest.fixture
def user(installed: Installed, tmp_path: Path) -> Installed:
    """The installed command in a folder with two sources that no file declares."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "softmax.py").write_text(SOFTMAX)
    (folder / "matmul.py").write_text(MATMUL)
    return evolve(installed, empty=folder)


def done(user: Installed, *command: str, code: int = 0) -> str:
    """What a program prints on standard output."""
    ran = user.run(*command)
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stdout + ran.stderr
    return ran.stdout


def break_it(user: Installed) -> None:
    path = user.empty / "softmax.py"
    assert LOAD in SOFTMAX
    path.write_text(path.read_text().replace(LOAD, BROKEN))


def answers(user: Installed) -> list[object]:
    """The guard's variants for the softmax on 3.8.0 and 3.9.0, and for the matmul on 3.9.0."""
    requests = [("row_softmax", "3.8.0"), ("row_softmax", "3.9.0"), ("tiled_matmul", "3.9.0")]
    code = (
        "import json, lib._triton_guard as g; print(json.dumps([g.best_variant(*each, (9, 0)) for"
        f" each in {requests}]))"
    )
    variants = json.loads(done(user, "python", "-c", code))
    assert isinstance(variants, list)
    return variants


@pytest.mark.wheels
@pytest.mark.long
def test_commands_set_up_a_workflow_and_a_guard_that_is_checked(user: Installed) -> None:
    output = done(user, "compat", "init", "--github")
    assert "wrote .github/workflows/triton-compat.yml" in output
    lint("workflow", user.empty / ".github" / "workflows" / "triton-compat.yml")
    done(user, "compat", "matrix", *PLACES)
    shutil.copy(user.empty / "reports" / "matrix.json", user.empty / "before.json")
    assert f"wrote {GUARD}: row_softmax and tiled_matmul" in done(
        user, "compat", "guard", "--out", GUARD
    )
    assert answers(user) == ["as_written"] * 3
    assert (
        done(user, "compat", "guard", "--check", GUARD)
        == f"{GUARD} agrees with reports/matrix.json\n"
    )

    break_it(user)
    done(user, "nox", "-s", "matrix", "--", *PLACES, code=1)
    changed = done(
        user,
        "compat",
        "diff",
        "before.json",
        "--fail-on",
        "broken",
        "--markdown",
        "comment.md",
        code=1,
    )
    assert "newly broken: 1 cell\n  row_softmax/as_written: 3.9.0, sm_90\n" in changed
    assert "row_softmax" in (user.empty / "comment.md").read_text()
    checked = done(user, "compat", "guard", "--check", GUARD, code=1)
    assert "  row_softmax/as_written: 3.9.0, sm_90 (rejected: api-removed)\n" in checked
    assert "  row_softmax with Triton 3.9.0 on sm_90: none instead of as_written\n" in checked
    done(user, "compat", "guard", "--out", GUARD)
    assert answers(user) == ["as_written", None, "as_written"]
    done(user, "compat", "guard", "--check", GUARD)


# --- what runs in a CI ----------------------------------------------------------------------------

GH = """#!/bin/sh
echo "$@" >> "$SAID"
case "$1" in api) [ "$2" != --paginate ] || printf '%s' "$BEFORE" ;; esac
"""
"""A replacement of GitHub's program, which needs a repository on GitHub.

It records the arguments of each call.
"""


def scripts(job: Mapping[str, Any]) -> list[str]:
    """The shell scripts of a job's steps, without those that install."""
    return [
        step["run"] for step in job["steps"] if "run" in step and "pip install" not in step["run"]
    ]


def shell(user: Installed, script: str, folder: Path, **environ: str) -> int:
    """Run a script as a CI runner does, and return its exit code."""
    launcher = user.empty.parent / "launcher"
    launcher.mkdir(exist_ok=True)
    write_command(launcher / "compat", user.scripts / "compat")
    places = launcher, user.scripts, folder / "bin", os.environ["PATH"]
    ran = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**installed_environ(), "PATH": os.pathsep.join(map(str, places)), **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.returncode


def run_jobs(user: Installed, folder: Path) -> list[int]:
    """Run the matrix job as two shards, and return their sorted exit codes.

    Their reports are moved to where the next job finds them.
    """
    jobs = YAML(typ="safe").load(user.empty / ".github" / "workflows" / "triton-compat.yml")["jobs"]
    (script,) = scripts(jobs["matrix"])
    (group,) = jobs["matrix"]["strategy"]["matrix"]["include"]
    assert group["shard"] == "1/1"
    codes = []
    for number in (1, 2):
        codes.append(shell(user, script, user.empty, ENVS=group["envs"], SHARD=f"{number}/2"))
        shutil.move(user.empty / "reports", folder / "parts" / f"triton-compat-{number}")
    return sorted(codes)


@pytest.mark.wheels
def test_the_workflow_makes_one_report_and_comments_on_the_changes(
    user: Installed, tmp_path: Path
) -> None:
    done(user, "compat", "init", "softmax.py")
    with (user.empty / "matrix.toml").open("a") as file:
        file.write('[defaults]\nenvs = ["3.8", "3.9"]\ntargets = ["h100"]\n')
    done(user, "compat", "init", "--github", "softmax.py")
    jobs = YAML(typ="safe").load(user.empty / ".github" / "workflows" / "triton-compat.yml")["jobs"]
    join, keep, compare, comment = scripts(jobs["report"])
    main, pull = tmp_path / "main", tmp_path / "pull"
    (pull / "bin").mkdir(parents=True)
    gh = pull / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(gh.stat().st_mode | stat.S_IXUSR)

    assert run_jobs(user, main) == [0, 0]
    assert [shell(user, script, main) for script in (join, keep)] == [0, 0]
    report = json.loads((main / "reports" / "matrix.json").read_text())
    assert [cell["id"] for cell in report["cells"]] == [
        f"row_softmax/as_written/default/sm_90/triton-{v}" for v in ("3.8.0", "3.9.0")
    ]
    assert {"matrix.json", "matrix.md", "index.html"} == {
        path.name for path in (main / "reports").iterdir()
    }

    break_it(user)
    assert run_jobs(user, pull) == [0, 1]
    shutil.copytree(main / "base", pull / "base")
    environ = {
        "GITHUB_STEP_SUMMARY": str(pull / "summary.md"),
        "SAID": str(pull / "said"),
        "NUMBER": "7",
        "GH_REPO": "us/it",
    }
    assert [shell(user, script, pull, **environ) for script in (join, compare, comment)] == [
        0,
        0,
        0,
    ]
    assert "newly broken" in (pull / "comment.md").read_text()
    assert (pull / "summary.md").read_text().endswith((pull / "comment.md").read_text())
    assert shell(user, comment, pull, **environ, BEFORE="123\n") == 0
    calls = (pull / "said").read_text().splitlines()
    assert calls[1] == "pr comment 7 --body-file comment.md"
    assert (
        calls[3]
        == "api --silent --method PATCH repos/us/it/issues/comments/123 --field body=@comment.md"
    )


@pytest.mark.wheels
def test_the_action_sets_its_outputs(user: Installed, tmp_path: Path) -> None:
    done(user, "compat", "init", "softmax.py")
    break_it(user)
    action = YAML(typ="safe").load(ROOT / "action.yml")
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "matrix"]
    (tmp_path / "temp").mkdir()
    (tmp_path / "temp" / "triton-compat").symlink_to(user.scripts.parent)
    inputs = {
        "ENVS": "3.8,3.9",
        "TARGETS": "h100",
        "ARGS": "--case 'def*' --jobs 2",
        "JUNIT": "j.xml",
        "REPORTS": "out",
        "FOLDER": ".",
    }
    assert set(inputs) == set(step["env"])
    output_file = tmp_path / "told"
    environ = {**inputs, "RUNNER_TEMP": str(tmp_path / "temp"), "GITHUB_OUTPUT": str(output_file)}
    assert shell(user, step["run"], user.empty, **environ) == 1
    assert output_file.read_text() == "exit-code=1\nreports=./out\ncells=2\nunexpected=1\n"
    assert (user.empty / "j.xml").exists()
    assert set(action["outputs"]) == {
        line.partition("=")[0] for line in output_file.read_text().splitlines()
    }
