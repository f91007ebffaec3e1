"""The recorder on every Python that it is for, and what it makes of unusual arguments."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.capturing.capturing import capture_program
from compat.capturing.checking import (
    Agreement,
    CodeCheck,
    Options,
    capturing_of,
    recorder_settings,
    variables,
)
from compat.capturing.records import RecordingProgress, progress_in, read_records
from compat.envs.interpreters import present
from compat.model import BuiltEnv
from compat.toolchains import DEFAULT
from tests.capturing.test_endings import LAUNCH

IMPORTS = """
import importlib, pkgutil
for name in ("_compat_toolchains.inside.recorder", "_compat_toolchains.triton.inside.recorder"):
    for each in pkgutil.iter_modules(importlib.import_module(name).__path__):
        importlib.import_module(name + "." + each.name)
"""
FORMS = """
from collections import namedtuple
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

class Dtype(str):
    itemsize = 4

class Matrix(Tensor):
    dtype = Dtype("float32")

Pair = namedtuple("Pair", "pointer number")

@triton.jit
def twice(x):
    return x + x

@triton.jit
def applied(x, with_, nothing, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, with_[0](tl.load(x + at)) + with_[1] + with_[2])

@triton.jit
def described(matrix, y, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), tl.sum(matrix.load([0, 0]), 1))

@gluon.jit
def layouts(x, BLOCK: gl.constexpr):
    gl.store(x + gl.arange(0, BLOCK, layout=gl.BlockedLayout([1], [32], [4], [0])), 0.0)

applied[(1,)](Tensor(), (twice, tl.constexpr(2), 3), None, BLOCK=64)
applied[(1,)](Tensor(), Pair(1, 2), None, BLOCK=64)
described[(1,)](TensorDescriptor(Matrix(), [128, 128], [128, 1], [32, 64]), Tensor(), BLOCK=32)
layouts[(1,)](Tensor(), BLOCK=128)
copy[(1,)](Tensor(), Tensor(), BLOCK=64, supported_fp8_dtypes=("fp8e5",))
signature = {"x": "*fp32", "y": "*fp32", "BLOCK": "constexpr"}
made = triton.compile(ASTSource(copy, signature, {(2,): 64}))
made[(1, 1, 1)](1)
assert ".target sm_90" in made.asm["ptx"]
"""


@pytest.mark.parametrize(
    "version", [(3, minor) for minor in range(8, 15)], ids=lambda version: f"3.{version[1]}"
)
def test_the_recorder_runs_on_a_python(version: tuple[int, int], tmp_path: Path) -> None:
    interpreters = present().get(version)
    if not interpreters:
        pytest.skip("this Python is not on this machine")
    capturing = capturing_of(DEFAULT)
    environ = {
        **variables(recorder_settings(Options(fake=True), tmp_path), capturing, None),
        "PYTHONPATH": str(capturing.start),
    }
    subprocess.run([interpreters[0], "-B", "-c", IMPORTS], env=environ, check=True)
    (records,) = tmp_path.iterdir()
    assert json.loads(records.read_text().splitlines()[-1]) == {"r": "end"}


@pytest.mark.wheels
def test_unusual_arguments(built: Callable[[str], BuiltEnv], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(LAUNCH.replace("copy[(1,)]", "# ") + FORMS)
    asked = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    found = capture_program(
        (str(tmp_path / "program.py"),), asked, python=built("triton-3.9.0").python
    )
    assert found.ended is not None
    assert found.ended.exit_code == 0
    assert {(each.kernel, each.agreement) for each in found.compared} == {
        ("applied", Agreement.EQUAL),
        ("described", Agreement.EQUAL),
    }
    said = (tmp_path / "captured" / "applied.toml").read_text()
    assert 'with_ = [{constexpr = {function = "twice"}}, {constexpr = 2}, 3]' in said
    assert "nothing = {none = true}" in said
    assert (
        'matrix = "tensordesc<fp32[32, 64]>"'
        in (tmp_path / "captured" / "described.toml").read_text()
    )
    assert {str(each) for each in found.captured.not_captured} == {
        "program.py:applied: its argument with_ is a named tuple, __main__.Pair",
        "program.py:layouts: is a GluonJITFunction, which is not captured",
        "program.py:copy: is given the option supported_fp8_dtypes, which is a 'tuple'",
        "program.py:copy: is compiled by triton.compile, and not launched",
    }
    assert found.captured.never_launched == ()


def test_how_far_a_program_is_is_read_while_it_runs(tmp_path: Path) -> None:
    assert str(progress_in(tmp_path)) == "0 different launches recorded"
    lines = ['{"r":"launch","key":"a"}', '{"r":"launch","key":"b"}']
    (tmp_path / "1.jsonl").write_text("\n".join(lines))
    assert str(progress_in(tmp_path)) == "2 different launches recorded"
    (tmp_path / "1.jsonl").write_text(
        "\n".join([*lines, '{"r":"comparing","launches":2}', '{"r":"original","key":"a"}', "{"])
    )
    (tmp_path / "2.jsonl").write_text('{"r":"comparing","launches":5}')
    assert progress_in(tmp_path) == RecordingProgress(launches=2, compiled=1, to_compile=7)
    assert (
        str(progress_in(tmp_path))
        == "compiling the program's own code for comparison: 1 of 7 launches"
    )
    assert read_records(tmp_path).unreadable == 4  # of these none is whole
