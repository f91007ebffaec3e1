"""Kernels of a board that a program launches: the captures, their times, and their effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, chdir, nullcontext
from pathlib import Path
from threading import Timer

import pytest
from attrs import evolve

from compat import interruption
from compat.board.capturing import captured_targets
from compat.board.data import BoardData
from compat.board.declaration import read_board
from compat.board.running import BoardRequest, BoardUpdate, board_places, update_board
from compat.config.kernel_files import load_kernels
from compat.interruption import Stopped
from compat.model import BuiltEnv, Env, Result
from compat.project import Listener, select_places
from tests.capturing.test_live import installed
from tests.wheels import VERSIONS, empty_project, own_libraries, wheelhouse, write_wheel

__all__ = ["own_libraries", "wheelhouse"]

Update = Callable[..., BoardUpdate]
PAIR = "triton-3.5.1-torch-2.9.1"
PROGRAM = """
import sys
import triton
from live_waves.plain import plain
from live_waves.tuned import tuned

class Tensor:
    dtype = "torch.float32"
    def data_ptr(self): return 64

target = triton.runtime.driver.active.get_current_target()
x, y = Tensor(), Tensor()
plain[(1,)](x, y, 64, BLOCK=32 if target.backend == "hip" else 64)
tuned[(1,)](x, y, 64)
print(target.arch, file=open("runs", "a"))
if target.arch == 80:
    sys.exit("no such GPU")
"""
FILE = Path("board/captured/live-waves-2.0.toml")


def declare(*targets: str, program: str = "launch.py") -> None:
    Path("board.toml").write_text(
        f'envs = ["3.5.1"]\ntargets = {list(targets)}\n[[library]]\nname = "live-waves"\n'
        f'versions = ["2.0"]\ncapture = {{ program = ["{program}"], env = "{PAIR}",'
        ' install = ["no-kernels"] }\n'
    )


@pytest.fixture
def update(
    built: Callable[[str], BuiltEnv],
    wheelhouse: Path,
    own_libraries: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Update:
    """Updates a board, in a folder that has a program.

    The pair, with the library on its path, stands in for an env with the library, which would have
    five gigabytes. The library and the program do not import PyTorch, which takes two seconds.
    """
    files = {name: text.replace("import torch\n", "") for name, text in VERSIONS["2.0"].items()}
    write_wheel(wheelhouse, "live-waves", "2.0", files)
    pair = built(PAIR)
    empty_project(("3.5.1",), built, tmp_path, monkeypatch)
    Path("launch.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(installed(tmp_path)))

    def obtain(matrix: Path, envs: Sequence[Env]) -> Sequence[BuiltEnv]:
        if envs[0].name == PAIR + "-with-live-waves-2.0":
            assert envs[0].install[-2:] == ("live-waves==2.0", "no-kernels")
            return [evolve(pair, env=envs[0])]
        return select_places(envs=("3.5.1",)).read_envs(matrix, envs)

    def update(path: Path = Path("board.toml"), listener: Listener | None = None) -> BoardUpdate:
        board = read_board(path)
        places = board_places(board, board.envs, board.targets)
        with places.open_store() as store:
            return update_board(board, BoardRequest(), places.context(store), obtain, listener)

    return update


@pytest.mark.wheels
def test_kernels_that_a_program_launches_are_captured_once(update: Update) -> None:
    """One test has all these steps, because each run takes seconds."""
    without_a_launch_all_kernels_are_guessed(update)
    a_kernel_has_an_entry_for_each_way_that_targets_launch_it(update)
    what_is_there_is_not_captured_again(update)
    a_program_that_captures_nothing_new_compiles_nothing(update)
    a_run_that_is_stopped_ends_the_program(update)
    a_further_target_is_captured_with_all_others(update)
    a_program_that_did_not_end_well_runs_again(update)


def without_a_launch_all_kernels_are_guessed(update: Update) -> None:
    declare("sm_90", program="idle.py")
    Path("idle.py").write_text("import triton\nopen('idle', 'w').close()\n")
    assert update().problems == {}
    assert Path("idle").exists()
    assert not FILE.exists()
    assert guessed() == {"plain", "tuned", "beside"}


def a_kernel_has_an_entry_for_each_way_that_targets_launch_it(
    update: Update,
) -> None:
    """Kernels that were guessed before are compiled again."""
    declare("sm_90", "gfx942")
    assert update().problems == {}
    assert runs() == ["90", "gfx942"]
    assert captured() == {
        "plain": (64, ("sm_90",)),
        "plain-gfx942": (32, ("gfx942",)),
        "tuned": (64, ("sm_90", "gfx942")),
    }
    assert guessed() == {"beside"}
    cells = [result.cell for result in results()]
    assert {cell.target.name for cell in cells if cell.spec.kernel == "plain"} == {"sm_90"}


def what_is_there_is_not_captured_again(update: Update) -> None:
    """This also holds without the index of what was compiled."""
    assert update().compiled == {}
    Path("board/data/index.json").unlink()
    assert update().problems == {}
    assert len(runs()) == 2


def a_program_that_captures_nothing_new_compiles_nothing(
    update: Update,
) -> None:
    """A program that fails runs again."""
    declare("sm_90", "gfx942", program="idle.py")
    assert update().compiled == {"live-waves==2.0": 0}
    assert update().compiled == {}
    declare("sm_90", "gfx942", program="gone.py")
    for _ in range(2):
        (problem,) = update().problems.values()
        assert "exit code 2 for sm_90" in problem
        assert "No such file" in problem


class Stopping(Listener):
    """Asks for a stop while a program runs."""

    def step(self, subject: str) -> AbstractContextManager[Callable[[str], None]]:
        return nullcontext(lambda message: Timer(1.0, interruption.ask).start())


def a_run_that_is_stopped_ends_the_program(update: Update) -> None:
    Path("idle.py").write_text("import time, triton\ntime.sleep(60)\n")
    declare("sm_90", "sm_80", program="idle.py")
    with pytest.raises(Stopped):
        update(listener=Stopping())
    assert not interruption.is_requested()


def a_further_target_is_captured_with_all_others(update: Update) -> None:
    """Launches before a failure are kept. The program runs in the folder of ``board.toml``."""
    declare("sm_90", "sm_80", "gfx942")
    Path("elsewhere").mkdir()
    with chdir("elsewhere"):
        update_elsewhere = update(Path("../board.toml"))
    assert update_elsewhere.problems == {
        "live-waves==2.0": "the program ended with exit code 1 for sm_80: no such GPU"
    }
    assert sorted(runs()[2:]) == ["80", "90", "gfx942"]
    assert captured() == {
        "plain": (64, ("sm_80", "sm_90")),
        "plain-gfx942": (32, ("gfx942",)),
        "tuned": (64, ("sm_80", "sm_90", "gfx942")),
    }


def a_program_that_did_not_end_well_runs_again(update: Update) -> None:
    """This also holds if no earlier run ended well, or if one was interrupted before compiling."""
    board = BoardData(Path("board"))
    version = "live-waves", "2.0"
    board.note(*version, evolve(board.index().of(*version), captured=""))
    assert list(update().problems) == ["live-waves==2.0"]
    declare("sm_90", "gfx942")
    report = board.read(*version)
    guesses = tuple(result for result in report.results if result.cell.spec.guessed)
    board.write(*version, evolve(report, results=guesses))
    assert update().problems == {}
    kernels = {result.cell.spec.kernel for result in results()}
    assert kernels == {"plain", "plain-gfx942", "tuned", "beside"}
    assert update().compiled == {}


def test_only_targets_with_a_stand_in_are_captured() -> None:
    places = select_places(envs=(PAIR,), targets=("sm_90", "gfx1100", "gfx942"))
    names = [target.name for target in captured_targets(places.envs[0], places.targets)]
    assert names == ["sm_90", "gfx942"]


def runs() -> list[str]:
    return Path("runs").read_text().split()


def captured() -> dict[str, tuple[object, tuple[str, ...]]]:
    """Kernel → its block size and its targets."""
    return {
        spec.kernel: (spec.compile.constexprs["BLOCK"], spec.targets)
        for spec in load_kernels((str(FILE),), Path(), where=None)
    }


def results() -> tuple[Result, ...]:
    return BoardData(Path("board")).read("live-waves", "2.0").results


def guessed() -> set[str]:
    return {result.cell.spec.kernel for result in results() if result.cell.spec.guessed}
