"""Reducing by numbers: real wheels, the real launcher, and a stand-in for the GPU's driver."""

from __future__ import annotations

import functools
import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compat.cli.commands import main
from compat.errors import SelectionError
from compat.interruption import Stopped
from compat.launch import hosting
from compat.model import BuiltEnv, Check, Numbers, Outcome, Status
from compat.model import Result as CellResult
from compat.processes import supervisor
from compat.processes.supervisor import Session
from compat.project import select
from compat.reduce.numbers import nearest
from tests.launch.living import project, stand_in
from tests.waiting import wait_until

pytestmark = pytest.mark.wheels

CELL = "by_code/as_written/default/sm_90/triton-3.1.0"


@pytest.fixture
def home(tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch) -> Path:
    for release in ("3.1.0", "3.2.0"):
        built(f"triton-{release}")
    project(tmp_path, "3.1.0", "3.2.0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reduce(*arguments: str, kernel: str = CELL) -> Result:
    return CliRunner().invoke(main, ["reduce", kernel, "--only", *arguments])


LEFT = "by_code-as_written-default"
ONE_STATEMENT = """
import triton
import triton.language as tl

@triton.jit
def by_code(x, y, out, n, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), 1234.5)
"""


def assert_left(home: Path) -> None:
    """The stand-in breaks code that stores and that contains a certain number.

    Otherwise an empty kernel would be just as wrong.
    """
    text = (home / "reduced" / f"{LEFT}.py").read_text()
    assert "1234.5" in text
    assert "tl.store(" in text
    kernel = tomllib.loads((home / "reduced" / f"{LEFT}.toml").read_text())
    assert kernel["problem"]["parameters"] == {"BLOCK": 128}


@pytest.mark.long
def test_reduced_kernel_still_differs_between_releases(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command answers in words."""
    (home / "by_code.py").write_text(ONE_STATEMENT)
    stand_in(home, pair_python, monkeypatch, breaks="old", how="racy")
    assert_the_budget_can_end_before_a_candidate_is_launched(monkeypatch)
    done = reduce("--judge", "unstable", "--good", "3.2.0", "--budget", "3000")
    assert done.exit_code == 0, done.output
    assert_left(home)
    assert "preserving: launches differ on triton-3.1.0, compared with triton-3.2.0" in done.stderr
    assert f"wrote reduced/{LEFT}.py" in done.stdout
    assert "to launch it again: compat bisect --judge unstable" in done.stdout
    arguments = (
        "bisect",
        "--spec",
        f"reduced/{LEFT}.toml",
        "--envs",
        "3.1.0,3.2.0",
        "--judge",
        "unstable",
    )
    again = CliRunner().invoke(main, [*arguments, "--launch", "--json"])
    assert json.loads(again.stdout)[0]["bracket"]["first_good"] == "3.2.0", again.output


@pytest.mark.long
def test_reduced_kernel_is_still_wrong_on_the_bad_release(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command answers with JSON, and continues with a file that it wrote."""
    (home / "by_code.py").write_text(ONE_STATEMENT)
    stand_in(home, pair_python, monkeypatch, breaks="old", how="wrong")
    done = reduce("--judge", "wrong", "--good", "3.2.0", "--json")
    assert done.exit_code == 0, done.output
    assert_left(home)
    document = json.loads(done.stdout)
    assert document["confirmed"]
    assert document["text"] == (home / "reduced" / f"{LEFT}.py").read_text()
    assert document["lines"]["after"] == 2
    good, bad = document["compared"]
    assert (good["env"], good["good"], good["differing"], good["off"]) == (
        "triton-3.2.0",
        True,
        0,
        0,
    )
    assert bad["env"] == "triton-3.1.0"
    assert bad["off"] > 0
    again = functools.partial(
        reduce,
        *("--judge", "wrong", "--bad", "3.1.0", "--target", "sm_90"),
        kernel=f"reduced/{LEFT}.py",
    )
    continued = again("--good", "3.2.0", "--json")
    assert continued.exit_code == 0, continued.output
    assert json.loads(continued.stdout)["text"] == document["text"]
    ended = again()
    assert ended.exit_code == SelectionError.exit_code
    assert "has no references, so launches do not show" in ended.stderr


def assert_the_budget_can_end_before_a_candidate_is_launched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The budget ends while the comparing process imports PyTorch.

    The process ends with the command.
    """

    def read_line(self: Session, seconds: float) -> str:
        wait_until(comparing_processes)
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Session, "read_line", read_line)
        done = reduce("--judge", "unstable", "--good", "3.2.0", "--budget", "3000")
    assert done.exit_code == SelectionError.exit_code, done.output
    assert (
        "--budget 3000: the time budget ended before the original kernel was launched"
        in done.stderr
    )
    assert not comparing_processes()


def comparing_processes() -> list[int]:
    """The child processes of this one that launch kernels to compare them."""
    return [
        pid
        for pid in supervisor.children(os.getpid())
        if b"--compare" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def test_cells_that_cannot_be_reduced_are_an_error(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first command launches the kernel on both releases, and the store has the results."""
    stand_in(home, pair_python, monkeypatch, breaks="old", how="wrong")
    right = CELL.replace("3.1.0", "3.2.0")
    nothing = "is not `wrong`, so there is nothing to reduce"
    for kernel, arguments, message in (
        (right, ("--judge", "wrong", "--good", "3.1.0"), f"{right} {nothing}"),
        (CELL, ("--judge", "wrong", "--bad", "3.2.0", "--good", "3.1.0"), nothing),
        (CELL, ("--judge", "wrong", "--good", "3.1.0"), "the kernel is not right there"),
        (CELL, ("--judge", "latency>1.2*baseline"), "a smaller kernel is faster"),
    ):
        done = reduce(*arguments, kernel=kernel)
        assert done.exit_code == SelectionError.exit_code, done.output
        assert message in done.stderr


def test_a_kernel_without_a_problem_is_an_error(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(home, pair_python, monkeypatch, breaks="old", how="wrong")
    path = home / "by_code.toml"
    before, _, after = path.read_text().partition("[problem]")
    path.write_text(before + after.partition("\n\n")[2])
    done = reduce("--judge", "wrong", "--good", "3.2.0")
    assert done.exit_code == SelectionError.exit_code
    assert "has no [problem] to launch it with" in done.stderr


def test_a_machine_without_a_usable_gpu_is_an_error(
    home: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    monkeypatch.setattr(hosting, "find_python", lambda _: pair_python)
    done = reduce("--judge", "wrong", "--good", "3.2.0")
    assert done.exit_code == SelectionError.exit_code
    assert "there is no usable GPU" in done.stderr


def test_the_nearest_right_releases_are_compared(tmp_path: Path) -> None:
    selection = select(project(tmp_path), envs=("releases",), targets=("sm_90",))
    right, ok = Numbers(gpu=Check(status=Status.OK)), Outcome(status=Status.OK, stage="")
    results = [
        CellResult(cell=cell, built=BuiltEnv(env=cell.env), outcome=ok, numbers=right)
        for cell in selection.cells
    ]
    by_release = {str(result.cell.env.release): result for result in results}
    bad = by_release.pop("3.3.0")
    assert nearest(bad, list(by_release.values())) == (by_release["3.3.1"], by_release["3.2.0"])
    assert nearest(bad, [by_release["3.9.0"]]) == (by_release["3.9.0"],)
