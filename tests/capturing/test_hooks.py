"""Host hooks that a program sets, and special launches, during a capture."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from compat.capturing.capturing import capture_program
from compat.capturing.checking import Agreement, CodeCheck, Options
from compat.model import BuiltEnv
from tests.capturing.test_endings import LAUNCH

PROGRAM = (
    LAUNCH
    + """
import json
calls = []

def before_run(*arguments, **named):
    calls.append(["before run", len(arguments), named["BLOCK"]])

def before_config(name):
    return lambda arguments: calls.append([name, arguments["x"].data_ptr(), arguments["BLOCK"]])

def even(arguments):
    calls.append(["heuristic", arguments["BLOCK"]])
    return arguments["n"] % arguments["BLOCK"] == 0

def entered(metadata):
    got = metadata.get()
    calls.append(["enter", got["name"], got["stream"], got.get("n"), got.get("grid")])

def left(metadata):
    calls.append(["exit", metadata.get()["name"]])

if hasattr(triton, "knobs"):
    if hasattr(triton.knobs.runtime.launch_enter_hook, "add"):
        triton.knobs.runtime.launch_enter_hook.add(entered)
        triton.knobs.runtime.launch_exit_hook.add(left)
    else:
        triton.knobs.runtime.launch_enter_hook = entered
        triton.knobs.runtime.launch_exit_hook = left
else:
    triton.compiler.CompiledKernel.launch_enter_hook = entered
    triton.compiler.CompiledKernel.launch_exit_hook = left

def told(grid, kernel, arguments):
    return {"n": arguments["n"], "grid": list(grid)}

configs = [
    triton.Config({"BLOCK": 32}, pre_hook=before_config("first")),
    triton.Config({"BLOCK": 64}, pre_hook=before_config("second")),
]

@triton.autotune(configs=configs, key=["n"])
@triton.heuristics({"EVEN": even})
@triton.jit(launch_metadata=told)
def tuned(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at), mask=None if EVEN else at < n)

@triton.jit
def clustered(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 1)

copy.add_pre_run_hook(before_run)
launched = copy[(2, 3)](Tensor(), Tensor(), BLOCK=32)
assert 65536 // launched.metadata.shared  # the number of blocks that fit
tuned[(5,)](Tensor(), Tensor(), 48)
tuned[(5,)](Tensor(), Tensor(), 48)
clustered[(4,)](Tensor(), Tensor(), BLOCK=8192, num_ctas=16, **json.loads(sys.argv[1]))
json.dump(calls, open("calls.json", "w"))
"""
)
TUNED = (32, "first"), (64, "second")


def of_tuned(block: int, name: str) -> list[list[object]]:
    """The calls for one launch of the tuned kernel with a config."""
    return [
        [name, 64, block],
        ["heuristic", block],
        ["enter", "tuned", 0, 48, [5]],
        ["exit", "tuned"],
    ]


@pytest.mark.wheels
@pytest.mark.parametrize("env", ["3.0.0-torch-2.4.1", "3.3.1", "3.4.0", "3.9.0"])
def test_hooks_are_called_as_without_a_capture(
    env: str, built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tuners try each config once, and choose the first."""
    release = Version(env.partition("-")[0])
    special = {
        **({"launch_cooperative_grid": True} if release >= Version("3.3") else {}),
        **({"launch_pdl": True} if release >= Version("3.4") else {}),
    }
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM)
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    capture = capture_program(
        ("program.py", json.dumps(special)), options, python=built(f"triton-{env}").python
    )
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 0
    calls = json.loads(Path("calls.json").read_text())
    assert calls == [
        ["before run", 2, 32],
        ["enter", "copy", 0, None, None],
        ["exit", "copy"],
        *of_tuned(*TUNED[0]),
        *of_tuned(*TUNED[1]),
        *of_tuned(*TUNED[0]),
        *of_tuned(*TUNED[0]),
        ["enter", "clustered", 0, None, None],
        ["exit", "clustered"],
    ]
    assert {str(kernel) for kernel in capture.files.not_captured} == set()
    assert {(comparison.kernel, comparison.agreement) for comparison in capture.comparisons} == {
        (kernel, Agreement.EQUAL) for kernel in ("copy", "tuned", "clustered")
    }
    text = (tmp_path / "captured" / "clustered.toml").read_text()
    for option in ("num_ctas = 16", *(f"{name} = true" for name in special)):
        assert option in text
