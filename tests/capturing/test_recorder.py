"""The recorder on every supported Python, and its records of unusual arguments."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

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
from compat.report.views.capture import capture_lines
from compat.toolchains import DEFAULT
from compat.toolchains.inside.recorder.imports import Imports
from tests.capturing.test_endings import LAUNCH

IMPORTS = """
import importlib, pkgutil
for name in ("_compat_toolchains.inside.recorder", "_compat_toolchains.triton.inside.recorder"):
    for each in pkgutil.iter_modules(importlib.import_module(name).__path__):
        importlib.import_module(name + "." + each.name)
"""
FORMS = """
from collections import namedtuple
from typing import NamedTuple
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.core import _aggregate as aggregate
from triton.tools.tensor_descriptor import TensorDescriptor
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia import hopper

class Dtype(str):
    itemsize = 4

class Matrix(Tensor):
    dtype = Dtype("float32")

Pair = namedtuple("Pair", "pointer number", defaults=[1])

class Sizes(NamedTuple):
    rows: "torch.Tensor"
    columns: int

Unnamed = namedtuple("Unnamed", ["def", "def"], rename=True)

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

@triton.jit
def paired(pair, x, sizes: tl.constexpr):
    at = tl.arange(0, sizes.columns) + sizes.rows
    tl.store(x + at, tl.load(pair.pointer.inner + at) + Pair(pair.number).number + pair.number)

class Bound(Matrix):
    def data_ptr(self):
        return 4096

FIRST = gl.BlockedLayout([1], [32], [8], [0])
LAST = gl.constexpr(gl.SliceLayout(0, gl.BlockedLayout([1, 2], [1, 32], [1, 8], [1, 0])))

@gluon.jit
def layouts(x, matrix, OWN: gl.constexpr, BLOCK: gl.constexpr, num_warps: gl.constexpr):
    x += gl.arange(0, BLOCK, layout=OWN)
    gl.store(x, gl.load(x))
    at = gl.arange(0, BLOCK, layout=LAST)
    tile = gl.allocate_shared_memory(gl.float32, [64, 32], matrix.layout)

@aggregate
class Step:
    size: gl.tensor

    @gluon.constexpr_function
    def __init__(self, size):
        self.size = size

    @gluon.jit
    def create(size):
        return Step(size)

    @gluon.jit
    def after(self, at):
        return at + self.size

@gluon.jit
def stepped(x, size, Impl: gl.constexpr):
    gl.store(x, Impl.create(size).after(size))

applied[(1,)](Tensor(), (twice, tl.constexpr(2), 3), None, BLOCK=64)
applied[(1,)](Tensor(), Unnamed(1, 2), None, BLOCK=64)
Inner = namedtuple("Inner", "inner")
paired[(1,)](Pair(Inner(Tensor()), 48), Tensor(), Sizes(2, 64))
paired[(1,)](Pair(Inner(Tensor()), 32), Tensor(), Sizes(2, 64))
paired[(1,)](Pair(Inner(Tensor()), 1), Tensor(), Sizes(2, 64))
described[(1,)](TensorDescriptor(Matrix(), [128, 128], [128, 1], [32, 64]), Tensor(), BLOCK=32)
shared = gl.NVMMASharedLayout(128, 32, 2)
matrix = hopper.TensorDescriptor(Bound(), [128, 128], [128, 1], [64, 32], shared)
layouts[(1,)](Tensor(), matrix, FIRST, BLOCK=256, num_warps=8)
precisions = ("ieee", "tf32")
applied[(1,)](Tensor(), (twice, 2, 3), None, BLOCK=64, allowed_dot_input_precisions=precisions)
copy[(1,)](Tensor(), Tensor(), BLOCK=32, extern_libs={"own": "/own.bc"})
stepped[(1,)](Tensor(), 3, Step)
signature = {"x": "*fp32", "y": "*fp32", "BLOCK": "constexpr"}
made = triton.compile(ASTSource(copy, signature, {(2,): 64}), target=GPUTarget("cuda", 90, 32))
made[(1, 1, 1)](1)
assert ".target sm_90" in made.asm["ptx"]

@triton.jit
def filled(x):
    tl.store(x, 1)

triton.compile(ASTSource(filled, {"x": "*fp32"}, {}), target=GPUTarget("cuda", 90, 32))
"""


@pytest.mark.parametrize(
    "version", [(3, minor) for minor in range(8, 15)], ids=lambda version: f"3.{version[1]}"
)
def test_the_recorder_runs_on_every_supported_python(
    version: tuple[int, int], tmp_path: Path
) -> None:
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


def test_a_finder_before_all_others_does_not_hide_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pytest has such a finder. It loads every module that matches its ``python_files``."""

    class Greedy:
        def find_spec(self, name: str, path: Any = None, target: object = None) -> Any:
            return PathFinder.find_spec(name, path)

    (tmp_path / "compat_greedy.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    modules: list[ModuleType] = []
    imports = Imports(lambda name, why: pytest.fail(f"{name} {why}"))
    imports.after("compat_greedy", modules.append)
    imports.start()
    greedy: Any = Greedy()
    sys.meta_path.insert(0, greedy)
    importlib.import_module("compat_greedy")
    del sys.modules["compat_greedy"]
    imports.stop()
    assert [module.value for module in modules] == [1]
    assert (imports in sys.meta_path, sys.meta_path[0]) == (False, greedy)


@pytest.mark.wheels
def test_unusual_arguments_are_recorded(built: Callable[[str], BuiltEnv], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(LAUNCH.replace("copy[(1,)]", "# ") + FORMS)
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    capture = capture_program(
        (str(tmp_path / "program.py"),), options, python=built("triton-3.9.0").python
    )
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 0
    assert {(comparison.kernel, comparison.agreement) for comparison in capture.comparisons} == {
        ("applied", Agreement.EQUAL),
        ("described", Agreement.EQUAL),
        ("copy", Agreement.EQUAL),
        ("layouts", Agreement.EQUAL),
        ("paired", Agreement.EQUAL),
        ("filled", Agreement.EQUAL),
        ("stepped", Agreement.EQUAL),
    }
    text = (tmp_path / "captured" / "applied.toml").read_text()
    assert 'with_ = [{constexpr = {function = "twice"}}, {constexpr = 2}, 3]' in text
    assert "nothing = {none = true}" in text
    assert 'allowed_dot_input_precisions = ["ieee", "tf32"]' in text
    assert (
        'matrix = "tensordesc<fp32[32, 64]>"'
        in (tmp_path / "captured" / "described.toml").read_text()
    )
    text = (tmp_path / "captured" / "paired.toml").read_text()
    assert 'pair = {fields = {pointer = {fields = {inner = "*fp32"}}, number = 48}}' in text
    assert "number = 32" not in text, "it is compiled as 48 is"
    assert "number = 1" in text
    assert "sizes = {fields = {rows = 2, columns = 64}}" in text
    source = (tmp_path / "captured" / "paired.py").read_text()
    assert "Pair = namedtuple('Pair', ['pointer', 'number'], defaults=[1])" in source
    text = (tmp_path / "captured" / "layouts.toml").read_text()
    assert (
        'matrix = "tensordesc<fp32[64, 32],'
        'NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=32, rank=2)>"' in text
    )
    lists = "size_per_thread=[1], threads_per_warp=[32], warps_per_cta=[8], order=[0]"
    assert f'OWN = {{layout = "gl.BlockedLayout({lists})"}}' in text
    assert text.count("num_warps = 8") == 2  # the constexpr and the option
    source = (tmp_path / "captured" / "layouts.py").read_text()
    assert "LAST = tl.constexpr(gl.SliceLayout(dim=0, parent=gl.BlockedLayout(" in source
    assert 'Impl = {function = "Step"}' in (tmp_path / "captured" / "stepped.toml").read_text()
    assert {str(kernel) for kernel in capture.files.not_captured} == {
        "program.py:applied: its argument with_ is a named tuple with a field that has no name",
        "program.py:copy: is given the option extern_libs, which is or has a 'dict'",
    }
    assert capture.files.never_launched == ()
    assert (capture.files.only_compiled, capture.files.launched_count) == (1, 6)
    assert "6 kernels launched, 1 only compiled" in "\n".join(capture_lines(capture, "captured"))
    compiled = (tmp_path / "captured" / "copy.toml").read_text()
    assert '[signature]\nx = "*fp32"\ny = "*fp32"' in compiled
    assert "BLOCK = 64" in compiled


AGGREGATE = """
from triton.language.core import _aggregate

@_aggregate
class Known:
    number: tl.constexpr

    def __init__(self, number):
        self.number = tl.constexpr(number)

@triton.jit
def passed(known, x):
    tl.store(x, known.number)

@triton.jit
def constant(known: tl.constexpr, x):
    tl.store(x, known.number)

constant[(1,)](Known(4), Tensor())
try:
    passed[(1,)](Known(4), Tensor())
except TypeError:
    pass
else:
    raise AssertionError("a launch has passed an aggregate")
"""


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.4.0", "3.6.0", "3.9.0"])
def test_a_launch_with_an_aggregate_is_not_captured(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """A launch can only pass an aggregate as a constexpr. Earlier releases have no aggregates."""
    (tmp_path / "program.py").write_text(LAUNCH.replace("copy[(1,)]", "# ") + AGGREGATE)
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    capture = capture_program(
        (str(tmp_path / "program.py"),), options, python=built(f"triton-{release}").python
    )
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 0
    assert {str(kernel) for kernel in capture.files.not_captured} == {
        f"program.py:{kernel}: its argument known is an object of the class __main__.Known"
        for kernel in ("constant", "passed")
    }


@pytest.mark.wheels
def test_capture_and_workers_find_a_toolchain_outside_the_environment(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """An example is an environment with the system's packages. Workers find it there, too."""
    env = built("triton-3.9.0")
    assert env.python is not None
    (packages,) = Path(env.python).parents[1].glob("lib/python3*/site-packages")
    subprocess.run([env.python, "-m", "venv", "--without-pip", tmp_path / "own"], check=True)
    (folder,) = (tmp_path / "own").glob("lib/python3*/site-packages")
    (folder / "elsewhere.pth").write_text(str(packages))
    (tmp_path / "program.py").write_text(LAUNCH)
    capture = capture_program(
        (str(tmp_path / "program.py"),),
        Options(output=tmp_path / "captured", fake=True),
        python=str(tmp_path / "own" / "bin" / "python"),
    )
    assert [comparison.agreement for comparison in capture.comparisons] == [Agreement.EQUAL]


def test_progress_is_read_from_the_records_of_a_running_program(tmp_path: Path) -> None:
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
    assert read_records(tmp_path).unreadable == 4  # none of these records is complete
