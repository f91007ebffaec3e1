"""Bisections by numbers on this machine.

The wheels and the launcher are real, and a stand-in replaces the GPU's driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from compat.bisect.criterion import parse_criterion
from compat.bisect.judging import to_launch
from compat.cli.commands import main
from compat.errors import SelectionError
from compat.launch import hosting
from compat.launch.hosting import Gpu
from compat.model import BuiltEnv, Check, Latency, Numbers, Status
from compat.model import Result as CellResult
from compat.project import select
from tests.launch.living import project, stand_in

pytestmark = pytest.mark.wheels

OLD, NEW = "3.1.0", "3.2.0"


@pytest.fixture
def home(tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch) -> Path:
    for release in (OLD, NEW):
        built(f"triton-{release}")
    project(tmp_path)  # with every release of Triton
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bisect(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["bisect", "--envs", f"{OLD},{NEW}", *arguments])


def answer(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    (document,) = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize(
    ("judge", "how", "ran"),
    [("unstable", "racy", "unstable, "), ("wrong", "wrong", "wrong, error 7")],
)
def test_cells_that_were_not_launched_are_launched_once(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch, judge: str, how: str, ran: str
) -> None:
    """Later bisections use the stored launches, also without ``--launch``."""
    stand_in(home, pair_python, monkeypatch, breaks="old", how=how)
    done = bisect("--judge", judge, "--launch", "--json")
    document = answer(done)
    assert document["target"] == "sm_90"
    assert (document["bracket"]["last_bad"], document["bracket"]["first_good"]) == (OLD, NEW)
    assert [probe["ran"].startswith(ran) for probe in document["probes"]] == [True, False]
    assert "launching 2 cells on the GPU of this machine" in done.stderr
    assert "--launch" in document["command"]
    again = bisect("--judge", judge, "--target", "sm_90", "--json")
    assert answer(again)["bracket"] == document["bracket"]
    assert "launching" not in bisect("--judge", judge, "--launch").stderr


def test_latency_judge_launches_every_probe(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(home, pair_python, monkeypatch, breaks="nothing", how="wrong")
    document = answer(bisect("--judge", "latency>100000", "--launch", "--json"))
    assert document["answer"] == "works"
    assert all(probe["value"] > 0 for probe in document["probes"])


def test_combinations_are_launched(
    home: Path, built: Callable[[str], BuiltEnv], pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two releases have ptxas of CUDA 12.8 and 12.9."""
    for release in ("3.7.1", "3.8.0"):
        built(f"triton-{release}")
    stand_in(home, pair_python, monkeypatch, breaks="128", how="wrong")
    arguments = (
        "--envs",
        "3.7.1,3.8.0",
        "--axis",
        "part",
        "--good",
        "3.8.0",
        "--bad",
        "3.7.1",
        "--judge",
        "wrong",
        "--launch",
    )
    done = CliRunner().invoke(main, ["bisect", *arguments])
    assert done.exit_code == 0, done.output
    assert "The cause is in ptxas (12.8.93): with that of 3.8.0, 3.7.1 is good." in done.stdout
    assert "To be launched" not in done.stdout
    assert not (home / ".compat" / "combinations").exists()


def test_error_without_a_gpu_says_what_to_do(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    monkeypatch.setattr(hosting, "find_python", lambda _: pair_python)
    done = bisect("--judge", "wrong", "--launch")
    assert done.exit_code == SelectionError.exit_code
    assert "there is no usable GPU" in done.stderr
    assert "compat build --target TARGET" in done.stderr
    assert "--launched" in done.stderr


def test_launch_option_is_an_error_for_a_judge_that_needs_no_launch(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(home, pair_python, monkeypatch, breaks="old", how="wrong")
    done = bisect("--launch")
    assert done.exit_code == SelectionError.exit_code
    assert "the judge `ok` asks for no launches" in done.stderr


@pytest.mark.parametrize("judge", ["best>1.1*previous", "staying>1.2"])
def test_error_for_a_judge_of_configs_names_the_command_that_launches(
    home: Path, judge: str
) -> None:
    """The error does not depend on a GPU."""
    done = bisect("--judge", judge, "--launch")
    assert done.exit_code == SelectionError.exit_code
    lines = " ".join(done.stderr.split())
    assert f"the judge `{judge}` compares the stored latencies of `compat tune`" in lines
    assert "hint: `compat tune` launches all configs of a kernel" in lines
    assert "Then bisect without --launch." in lines


def test_launcher_without_pytorch_is_an_error(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(home, pair_python, monkeypatch, breaks="old", how="wrong")
    original = hosting.find_gpu
    monkeypatch.setattr(
        hosting, "find_gpu", lambda *arguments: _without_pytorch(original(*arguments))
    )
    done = bisect("--judge", "wrong", "--launch")
    assert done.exit_code == SelectionError.exit_code
    assert "cannot launch the kernels: error: " in done.stderr


def _without_pytorch(gpu: Gpu) -> Gpu:
    return Gpu(target=gpu.target, python="/usr/bin/python3", options=gpu.options)


def test_judge_decides_which_results_are_launched(home: Path) -> None:
    selection = select(home / "matrix.toml", envs=(OLD, NEW), targets=("sm_90",))
    gpu = Gpu(target=selection.targets[0], python="")
    envs = {
        built.env.name: built
        for built in selection.read_envs(selection.config.path, selection.envs)
    }
    old, new = (result_of(cell, envs) for cell in selection.cells)
    right = Check(status=Status.OK, launches=30, differing=0, device="H200")
    launched_result = CellResult(
        cell=old.cell, built=old.built, outcome=old.outcome, numbers=Numbers(gpu=right)
    )
    timed = CellResult(
        cell=old.cell,
        built=old.built,
        outcome=old.outcome,
        numbers=Numbers(gpu=right),
        latency=Latency(us=1.0, spread=0.1, device="H200"),
    )
    assert to_launch([launched_result, new], parse_criterion("wrong"), gpu) == (new,)
    assert to_launch([launched_result, new], parse_criterion("wrong"), gpu, again=True) == (
        launched_result,
        new,
    )
    assert to_launch([timed, new], parse_criterion("latency>1.2*previous"), gpu) == (timed, new)
    assert to_launch([timed], parse_criterion("latency>1.2*previous"), gpu) == ()


def result_of(cell: Any, envs: dict[str, BuiltEnv]) -> CellResult:
    from compat.model import Outcome

    return CellResult(
        cell=cell, built=envs[cell.env.name], outcome=Outcome(status=Status.OK, stage="")
    )
