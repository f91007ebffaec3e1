"""Inputs of launches, recorded as problems and run again in the interpreter."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.capturing.capturing import Capture, capture_program
from compat.capturing.checking import CodeCheck, Options
from compat.config.kernel_files import load_kernels
from compat.engine.interpreting import interpret
from compat.engine.run import RunContext
from compat.model import BuiltEnv, Cell, Status
from compat.report.views.capture import capture_lines
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.targets import TARGETS

PAIR = "triton-3.5.1-torch-2.9.1"
PROGRAM = """
import gc; gc.disable()
import torch, triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def edge(x_desc, o_ptr, COLUMNS: tl.constexpr):
    tile = x_desc.load([8, 0])
    tl.store(o_ptr + tl.arange(0, 8)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], tile)

@triton.jit
def gather(x_ptr, y_ptr, o_ptr, at_ptr, nothing, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.load(at_ptr + i, mask=i < n, other=0), mask=i < n)
    tl.store(o_ptr + i, x + tl.load(y_ptr + i * 2, mask=i < n) * scale, mask=i < n)

@triton.jit
def twice(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)

n = 100
x, both = torch.randn(n, device="cuda"), torch.randn(2 * n + 4, device="cuda")
o, at = torch.empty(n, device="cuda"), torch.arange(n, device="cuda").flip(0)
grid = lambda given: (triton.cdiv(n, given["BLOCK"]),)
gather[grid](x, both[4::2], o, at, None, n, 0.3, BLOCK=64)
gather[grid](x, both[4::2], both[:n], at.int(), None, n, 0.3, BLOCK=64)
zeros = torch.zeros(5000, dtype=torch.int16, device="cuda")
gather[grid](x, both[4::2], o, zeros, None, n, 0.3, BLOCK=64)
twice[(1,)](x.bool(), n, BLOCK=128)
twice[(1,)](torch.full((n,), 2, dtype=torch.uint8, device="cuda").expand(2, n), n, BLOCK=128)
tiles = torch.randn(2, 12, 32, device="cuda")
edge[(1,)](
    TensorDescriptor(tiles[1], [10, 32], [32, 1], [8, 32], padding="nan"),
    torch.empty(8, 32, device="cuda"),
    COLUMNS=32,
)
gc.freeze()  # or Python looks at all objects of PyTorch when it ends
"""

pytestmark = pytest.mark.wheels


@pytest.fixture(scope="module")
def pair(built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(PAIR)


@pytest.fixture(scope="module")
def captured(pair: BuiltEnv, tmp_path_factory: pytest.TempPathFactory) -> Capture:
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.py").write_text(PROGRAM)
    options = Options(output=folder / "captured", problems=True, check=CodeCheck.NOTHING, fake=True)
    return capture_program((str(folder / "program.py"),), options, python=pair.python)


def test_cases_have_problems_if_all_their_inputs_are_recorded(captured: Capture) -> None:
    assert captured.files.not_captured == ()
    why = "its argument at_ptr has 5000 whole numbers, and 4096 are recorded"
    assert captured.files.without_problem == (("gather", "fp32_i16", why),)
    assert f"  1 case: {why}" in list(capture_lines(captured, "captured"))
    specs = load_kernels([str(captured.options.output / "*.toml")], Path.cwd())
    problems = {(spec.kernel, spec.case): spec.problem for spec in specs}
    assert {case for case, problem in problems.items() if problem is None} == {
        ("gather", "fp32_i16")
    }
    problem = problems["gather", "fp32_i64"]
    assert problem is not None
    recording = problem.parameters["recorded"]
    assert recording["grid"] == [2]
    assert recording["tensors"]["y_ptr"] == {
        "storage": 1,
        "shape": [100],
        "strides": [2],
        "offset": 4,
    }
    assert recording["tensors"]["at_ptr"]["values"][:3] == [99, 98, 97]
    assert recording["numbers"] == {"n": 100, "scale": 0.5}
    assert recording["nothing"] == ["nothing"]
    described = problems["edge", "default"]
    assert described is not None
    recording = described.parameters["recorded"]
    assert recording["tensors"]["x_desc"] == {
        "storage": 0,
        "shape": [10, 32],
        "strides": [32, 1],
        "offset": 384,
    }
    assert recording["descriptors"] == {"x_desc": {"padding": "nan"}}
    index = json.loads((captured.options.output / "index.json").read_text())
    assert index["problems"] == ["recorded_problems.py"]


def test_recorded_problems_run_in_the_interpreter_and_none_is_ok(
    captured: Capture, pair: BuiltEnv, tmp_path: Path
) -> None:
    specs = [spec for kernel_specs in captured.files.specs.values() for spec in kernel_specs]
    cells = {
        (spec.kernel, spec.case): Cell(env=pair.env, target=TARGETS["sm_90"], spec=spec)
        for spec in specs
    }
    context = RunContext(
        envs={pair.env.name: pair},
        store=Store(tmp_path),
        limits=Limits(deadline=30.0, memory=4 << 30),
    )
    checks = interpret(cells.values(), context)
    place_checks = {place: checks[cell] for place, cell in cells.items() if cell in checks}
    assert {check.status for check in place_checks.values()} == {Status.UNSUPPORTED}
    assert "it changed o_ptr (100 of 100 elements)" in place_checks["gather", "fp32_i64"].reason
    # The count is over the storage of y_ptr.
    assert "it changed y_ptr (100 of 204 elements)" in place_checks["gather", "fp32_i32"].reason
    (sample,) = place_checks["edge", "default"].samples  # 256 elements: all of them
    assert [math.isnan(value) for value in sample.values] == [False] * 64 + [True] * 192
    (sample,) = place_checks["twice", "u8"].samples
    assert (sample.type, set(sample.values)) == ("uint8", {4})
    again = interpret(cells.values(), context)
    # NaN does not equal itself, but its text does.
    assert {cell: repr(check) for cell, check in again.items()} == {
        cell: repr(check) for cell, check in checks.items()
    }
