"""``compat check``: its exit codes, and a small git repository that is bisected with it."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from compat.bisect import judging
from compat.cli import BROKEN_PIPE
from compat.cli.check import BAD, CANNOT_TELL, GOOD
from compat.cli.commands import main

ROOT = Path(__file__).parents[2]
FAILURES = (
    "--spec",
    str(ROOT / "tests" / "kernels" / "failures.toml"),
    "--target",
    "sm_90",
    "--envs",
    "triton-3.2.0",
)

pytestmark = pytest.mark.usefixtures("shared_project")

KERNEL_FILE = """
schema = 1
kernel = "mine"
source = "mine.py"
signature = { x = "*fp32", y = "*fp32" }
constexprs = { BLOCK = 128 }
case = [{ name = "only" }]
variant = [{ name = "v", function = "mine" }]
"""
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def mine(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * FACTOR)
"""
CRASHES = KERNEL.replace(
    "tl.load(x + at) * FACTOR", "tl.load(x + tl.arange(0, BLOCK * 2)) * FACTOR"
)


def check(*arguments: str) -> int:
    return CliRunner().invoke(main, ["check", *arguments]).exit_code


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (errno.ENOSPC, CANNOT_TELL, "inconclusive: standard output: cannot write: "),
        (errno.EPIPE, BROKEN_PIPE, ""),
    ],
)
def test_output_that_cannot_be_written(
    number: int, code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(number, os.strerror(number), "<stdout>")

    monkeypatch.setattr("compat.cli.check.select", refuse)
    done = CliRunner().invoke(main, ["check", "copy"])
    assert done.exit_code == code
    assert done.stderr.partition("No space")[0] == message


@pytest.mark.wheels
def test_exit_code_says_good_bad_or_cannot_tell() -> None:
    assert check(*FAILURES, "failures/copy/*") == GOOD
    assert check(*FAILURES, "failures/block_typed_bound/*") == BAD, "an abort, and still no 134"
    assert check(*FAILURES, "failures/*o[pu]*") == BAD, "one bad cell decides"
    assert check(*FAILURES, "--judge", "class=api-removed", "failures/block_typed_bound/*") == GOOD
    assert check(*FAILURES, "--judge", "registers>0", "failures/block_typed_bound/*") == CANNOT_TELL


@pytest.mark.wheels
def test_program_judges_the_result_of_a_cell() -> None:
    reads = (
        'import json, os, sys; cell = json.load(sys.stdin); assert cell["id"] =='
        ' os.environ["COMPAT_CELL"]; '
    )
    python = shlex.quote(sys.executable)

    def judged(expression: str) -> int:
        return check(
            *FAILURES,
            "failures/copy/*",
            "--judge",
            f"run={python} -c {shlex.quote(reads + expression)}",
        )

    assert judged('sys.exit(not 0 < cell["metrics"]["registers"] < 255)') == GOOD
    assert (
        judged(
            'sys.exit("def " + os.environ["COMPAT_FUNCTION"] in'
            ' open(os.environ["COMPAT_SOURCE"]).read())'
        )
        == BAD
    )
    assert judged("sys.exit(125)") == CANNOT_TELL
    assert judged("os.abort()") == CANNOT_TELL
    assert check(*FAILURES, "--judge", "run=no-such-program", "failures/copy/*") == CANNOT_TELL


@pytest.mark.parametrize(
    "arguments",
    [
        ("--no-such-option",),
        ("--judge", "nonsense"),
        ("--matrix", "/no/such/matrix.toml"),
        ("--spec", "no-such-kernel.toml"),
        ("--kernel", "no_such_kernel"),
        ("no/such/cell"),
        ("one", "too many"),
    ],
)
def test_invalid_arguments_blame_no_commit(arguments: tuple[str, ...]) -> None:
    assert check(*arguments) == CANNOT_TELL


def test_a_judge_that_needs_the_end_of_a_bisection_is_refused() -> None:
    done = CliRunner().invoke(main, ["check", "--judge", "same-failure", "sel_dense/*"])
    assert done.exit_code == CANNOT_TELL
    assert "a single commit has no failure to compare with" in done.stderr


def test_a_broken_env_blames_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["none.toml"]\nenv = [{ triton = "3.2.0" }]\n[defaults]\nenvs ='
        ' ["*"]\n'
    )
    assert (
        check(
            "--matrix",
            str(tmp_path / "matrix.toml"),
            *FAILURES[:4],
            "--envs",
            "*",
            "--no-build",
            "failures/copy/*",
        )
        == CANNOT_TELL
    )


def test_a_defect_of_this_program_blames_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "run", lambda *_: 1 // 0)
    assert check(*FAILURES, "--no-build", "failures/copy/*") == CANNOT_TELL


def git(folder: Path, *arguments: str) -> str:
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    done = subprocess.run(
        ["git", *identity, *arguments],
        check=False,
        cwd=folder,
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.wheels
def test_git_bisect_finds_the_commit(tmp_path: Path, shared_project: Path) -> None:
    """The setup is that of docs/bisect.md: a repository has the kernel, and the envs are elsewhere.

    One commit is inconclusive.
    """
    git(tmp_path, "init", "-q")
    kernel, broken = tmp_path / "mine.py", "this is no TOML"
    history = [(KERNEL, "1.0"), (KERNEL, "2.0"), (KERNEL, None), (CRASHES, "4.0"), (CRASHES, "5.0")]
    commits = []
    for text, factor in history:
        kernel.write_text(text.replace("FACTOR", factor or "3.0"))
        (tmp_path / "mine.toml").write_text(KERNEL_FILE if factor else broken)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", f"factor {factor}")
        commits.append(git(tmp_path, "rev-parse", "HEAD").strip())
    git(tmp_path, "bisect", "start", commits[-1], commits[0])
    command = [
        sys.executable,
        "-m",
        "compat.cli",
        "check",
        "--matrix",
        str(shared_project / "matrix.toml"),
        "--spec",
        "mine.toml",
        "--envs",
        "triton-3.2.0",
        "--target",
        "sm_90",
    ]
    done = subprocess.run(
        ["git", "bisect", "run", "sh", "-c", shlex.join(command)],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    log = git(tmp_path, "bisect", "log")
    assert f"git bisect skip {commits[2]}" in log, done.stdout + done.stderr
    assert f"git bisect bad {commits[3]}" in log
    assert f"possible first bad commit: [{commits[3]}]" in log
    assert f"possible first bad commit: [{commits[2]}]" in log
    assert f"possible first bad commit: [{commits[1]}]" not in log
