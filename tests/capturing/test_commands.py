"""The other commands take captured kernels like any other kernels."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from compat.capturing.capturing import capture_program
from compat.capturing.checking import CodeCheck, Options
from compat.cli.commands import main
from compat.model import BuiltEnv
from compat.toolchains import DEFAULT
from tests.capturing.test_endings import LAUNCH

POINTERS = """
@triton.jit
def block(x, y, n: int, BLOCK: tl.constexpr):
    found = tl.make_block_ptr(x, (n,), (1,), (0,), (BLOCK,), (0,))
    tl.store(y + tl.arange(0, BLOCK), tl.load(found))

block[(1,)](Tensor(), Tensor(), 1, BLOCK=64)
"""
MATRIX = 'schema = 1\nenv = [{ triton = "3.8.0" }, { triton = "3.9.0" }]\n'


@pytest.fixture
def folder(
    built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with kernels of a program, captured with 3.8.0."""
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "program.py").write_text(LAUNCH + POINTERS)
    for name in ("triton-3.8.0", "triton-3.9.0"):
        built(name)
    options = Options(output=tmp_path / "captured", check=CodeCheck.NOTHING, fake=True)
    capture_program((str(tmp_path / "program.py"),), options, python=built("triton-3.8.0").python)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compat_output(*arguments: str) -> str:
    done = CliRunner().invoke(
        main,
        [*arguments, "--spec", "captured/**/*.toml", "--envs", "3.8.0,3.9.0", "--target", "sm_90"],
    )
    return done.output


@pytest.mark.wheels
@pytest.mark.long
def test_commands_take_captured_kernels(folder: Path) -> None:
    """The commands find that 3.9.0 removed block pointers, which a program launched with 3.8.0.

    The other commands on the way to an issue take the captured kernel, too.
    """
    assert "4 cells in" in compat_output("matrix")
    assert "removed in 3.9.0" in compat_output("matrix", "--kernel", "block")
    assert "Last good 3.8.0, first bad 3.9.0" in compat_output(
        "bisect", "--kernel", "block", "--no-build"
    )
    explained = compat_output("explain", "block/*/triton-3.9.0")
    assert "launch: x=*fp32, y=*fp32, n=1" in explained
    assert "summary: program.py: captured with Triton 3.8.0 for sm_90" in explained
    assert "compiles on 3.8.0–3.9.0" in compat_output("fix", "block/*/triton-3.9.0", "--no-build")
    assert "wrote small.py and small.toml" in compat_output(
        "reduce", "block/*/triton-3.9.0", "--only", "--output", "small.py", "--no-build"
    )
    assert "make_block_ptr" in (folder / "small.py").read_text()
    assert "wrote" in compat_output("repro", "block/*/triton-3.9.0", "--output", "repro")
    for path in (folder / "repro").iterdir():
        for private in (
            str(folder),
            "/tmp",
            str(Path.home()),
            os.uname().nodename,
            getpass.getuser() + "@",
        ):
            assert private not in path.read_text()


def test_each_gpu_model_is_of_a_known_target() -> None:
    device = DEFAULT.device
    assert set(device.models) <= {target.name for target in device.targets}
    facts = {target.name: device.facts(target) for target in device.targets}
    assert facts["sm_90"]["gpu"] == "NVIDIA H100 80GB HBM3"
    assert {name for name, target_facts in facts.items() if "gpu" in target_facts} == set(
        device.models
    )
