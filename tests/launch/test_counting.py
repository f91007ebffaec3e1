"""The number of problems that functions yield, as PyTorch counts them without a GPU."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from compat.model import BuiltEnv
from compat.toolchains.pytorch.host.program import _by_turns
from tests.launch.archives import cell, with_pytorch, write

pytestmark = pytest.mark.wheels

PROBLEMS = ("add", "only_large", "only_small", "none", "broken", "looks", "huge")


@pytest.fixture(scope="module", params=("triton-3.0.0-torch-2.4.1", "triton-3.5.1-torch-2.9.1"))
def counts(
    request: pytest.FixtureRequest,
    built: Callable[[str], BuiltEnv],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """Problem → what the program prints about it."""
    cells = [cell(name, problem=name) for name in PROBLEMS]
    folder = write(tmp_path_factory.mktemp("counting") / "built", cells)
    python = with_pytorch(folder.parent, str(built(request.param).python))
    command = [python, str(folder / "launch.py"), "--problems"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["problem"] for line in lines] == list(PROBLEMS)
    return {line.pop("problem"): line for line in lines}


def test_small_and_large_problems_are_counted(counts: dict[str, Any]) -> None:
    numbers = {"add": (3, 1), "only_large": (0, 1), "only_small": (3, 0), "none": (0, 0)}
    assert {name: counts[name] for name in numbers} == {
        name: {"small": small, "large": large, "why": ""}
        for name, (small, large) in numbers.items()
    }


def test_counting_needs_no_memory_for_tensors(counts: dict[str, Any]) -> None:
    assert counts["huge"] == {"small": 0, "large": 1, "why": ""}


def test_function_that_reads_tensor_values_is_run_for_small_sizes(
    counts: dict[str, Any],
) -> None:
    assert (counts["looks"]["small"], counts["looks"]["large"]) == (9, None)
    assert "DataDependent" in counts["looks"]["why"]


def test_exception_of_a_function_is_the_reason(counts: dict[str, Any]) -> None:
    assert counts["broken"] == {"small": None, "large": None, "why": "KeyError: 'D'"}


def test_kernels_take_turns() -> None:
    cells = [
        {"series": f"{kernel}/variant/case/sm_90", "problem": problem}
        for kernel, problem in (("a", "1"), ("a", "2"), ("a", "1"), ("b", "3"), ("c", "1"))
    ]
    assert _by_turns(cells) == ["1", "3", "2"]
