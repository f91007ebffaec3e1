"""`compat repro` as a user runs it, in the user's own project."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.errors import StoreError
from compat.model import BuiltEnv
from compat.repro import verify
from tests import commands
from tests.repro.scripts import run_forked
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent
RELEASE = "triton-3.9.0"
KERNEL = """
schema = 1
kernel = "faces"
source = "faces.py"
signature = { source = "*fp32", result = "*fp32", size = "i32" }
constexprs = { BLOCK = 128 }
case = [{ name = "only" }]
variant = [{ name = "fine", function = "fine" }, { name = "bound", function = "block_typed_bound" }]
"""
MATRIX = """
schema = 1
kernels = ["faces.toml"]
env = [{ triton = "3.9.0", groups = ["releases"] }]
defaults = { envs = ["releases"], targets = ["sm_90"] }
"""
SMALLER = """
import triton
import triton.language as tl


@triton.jit
def block_typed_bound(source):
    for _ in range(tl.load(source + tl.arange(0, 1)).to(tl.int32)):
        pass
"""


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    built(RELEASE)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "faces.toml").write_text(KERNEL)
    (tmp_path / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    (tmp_path / "smaller.py").write_text(SMALLER)
    return tmp_path


def repro(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    return commands.run("repro", *arguments, cwd=project, env=environment, timeout=PATIENCE)


@pytest.mark.wheels
def test_a_glob_selects_the_cell_of_the_script(project: Path) -> None:
    ran = repro(project, "faces/bound/*", "--reduced", "smaller.py")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    stem = "repro/faces-bound-only-sm_90-3.9.0"
    again = "compat repro faces/bound/only/sm_90/triton-3.9.0 --reduced smaller.py"
    assert ran.stdout == f"wrote {stem}.py, {stem}.md\nagain: {again}\n"
    script = (project / f"{stem}.py").read_text()
    assert "def block_typed_bound(source):" in script
    assert 'signature={"source": "*fp32"},' in script
    assert (
        "Made by `compat repro 'faces/bound/*' --reduced smaller.py`"
        in (project / f"{stem}.md").read_text()
    )


@pytest.mark.wheels
def test_without_the_group_releases_the_table_has_all_declared_releases(
    project: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    built("triton-3.8.0")
    monkeypatch.setattr(verify, "run_script", run_forked)
    monkeypatch.chdir(project)
    declared = MATRIX.replace(', groups = ["releases"] }', ' }, { triton = "3.8.0" }')
    (project / "matrix.toml").write_text(declared.replace('["releases"]', '["*"]'))
    commands.invoked("repro", "faces/bound/only/sm_90/3.9", "--reduced", "smaller.py")
    issue = (project / "repro" / "faces-bound-only-sm_90-3.9.0.md").read_text()
    assert [line.split()[1] for line in issue.splitlines() if line.startswith("| 3")] == [
        "3.8.0",
        "3.9.0",
    ]


@pytest.mark.wheels
def test_an_issue_names_guessed_arguments(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "run_script", run_forked)
    monkeypatch.chdir(project)
    (project / "tuned.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def tuned(source, BLOCK: tl.constexpr):\n"
        "    tl.store(source, tl.dot(BLOCK, BLOCK))\n"
    )
    commands.invoked("repro", "tuned/*", "--spec", "tuned.py")
    issue = (project / "repro" / "tuned-as_written-default-sm_90-3.9.0.md").read_text()
    assert (
        "\nThe types and values of `source` and `BLOCK` are guessed from the kernel's source, and"
        " were not seen in a launch.\n" in issue
    )
    commands.invoked("repro", "faces/bound/*", "--reduced", "smaller.py")
    declared = (project / "repro" / "faces-bound-only-sm_90-3.9.0.md").read_text()
    assert "are guessed" not in declared


BESIDE = """
schema = 1
kernel = "tiny"
source = "smaller.py"
signature = { pointer = "*i32" }
case = [{ name = "only" }]
variant = [{ name = "reduced", function = "kernel" }]
"""


@pytest.mark.wheels
@pytest.mark.parametrize("beside", [False, True])
def test_a_reduced_kernel_may_have_another_name_and_a_kernel_file(
    project: Path, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`compat reduce` names the function ``kernel`` and writes a kernel file next to it.

    The kernel file describes the function, also if its parameters have other names.
    """
    monkeypatch.setattr(verify, "run_script", run_forked)
    monkeypatch.chdir(project)
    smaller = SMALLER.replace("def block_typed_bound", "def kernel")
    if beside:
        smaller = smaller.replace("source", "pointer")
        (project / "smaller.toml").write_text(BESIDE)
    (project / "smaller.py").write_text(smaller)
    commands.invoked("repro", "faces/bound/*", "--reduced", "smaller.py")
    script = (project / "repro" / "faces-bound-only-sm_90-3.9.0.py").read_text()
    assert (
        'signature={"pointer": "*i32"},' in script
        if beside
        else 'signature={"source": "*fp32"},' in script
    )
    assert "fn=kernel," in script


@pytest.mark.wheels
def test_invalid_arguments_are_errors_and_write_no_files(project: Path) -> None:
    for arguments, code, message in (
        (["faces/fine/only/sm_90/triton-3.9.0"], 3, "compiles"),
        (["faces/gone/*"], 3, "no cell matches 'faces/gone/*'"),
        (["faces/bound/*", "--reduced", "faces.toml"], 2, "cannot be read"),
        (["faces/fine/*", "--reduced", "smaller.py"], 2, "has no function 'fine'"),
        (["faces/bound/*", "--output", "faces.py/out"], 5, "faces.py/out: cannot write to this"),
    ):
        ran = repro(project, *arguments)
        assert (ran.returncode, message in ran.stderr) == (code, True), ran.stderr
        if code == StoreError.exit_code:
            assert ": compiling" not in ran.stderr, "the folder is checked before the work"
    assert not (project / "repro").exists()
