"""The progress line."""

from __future__ import annotations

import itertools
import re
import threading
import time

import pytest
from attrs import evolve
from packaging.version import Version

from compat.cli.logs import Showing
from compat.cli.progress import Progress, ProgressListener
from compat.engine.plan import Durations, Forecast
from compat.model import BuiltEnv, Cell, Env, Outcome, Result, Status
from tests.cells import cell

ENVS = [Env(name=name, release=Version(name)) for name in ("3.0.0", "3.1.0")]
CELLS = [cell(env, "faces", "fine", case=case) for env in ENVS for case in ("one", "two")]


def done(which: Cell) -> Result:
    return Result(
        cell=which,
        built=BuiltEnv(env=which.env),
        outcome=Outcome(status=Status.OK, stage="cubin"),
        cached=True,
    )


def test_the_line_shows_the_progress_of_the_envs() -> None:
    progress = Progress(len(CELLS), CELLS)
    for finished_cell in CELLS[:3]:
        progress.note(done(finished_cell))
    assert progress.line() == "3 of 4 cells, 0 unexpected, 1 of 2 envs done, 3.1.0 at 50 %"


def test_the_line_omits_envs_if_their_cell_counts_are_unknown() -> None:
    """The rows are those of another run.

    An example is a part of a matrix that is built for a GPU. There the cell count of each env is
    unknown.
    """
    progress = Progress(3, CELLS)
    progress.note(done(CELLS[0]))
    assert progress.line() == "1 of 3 cells, 0 unexpected"


def compiled(which: Cell, seconds: float) -> Result:
    outcome = Outcome(status=Status.OK, stage="cubin", seconds=seconds)
    return evolve(done(which), outcome=outcome, cached=False)


def remaining_time(progress: Progress) -> str:
    """The remaining time on the line."""
    match = re.search(r"about (.*) left", progress.line())
    assert match
    return match[1]


@pytest.mark.parametrize(
    ("earlier", "says"),
    [
        (1.0, "5 s"),
        (None, "40 s"),  # at the rate of the slow cells, as the quick ones have no known time
    ],
)
def test_the_remaining_time_follows_earlier_durations_of_the_cells(
    monkeypatch: pytest.MonkeyPatch, earlier: float | None, says: str
) -> None:
    """The five slow cells of an env come first, and then five quick ones."""
    slow = [cell(ENVS[0], "faces", "fine", case=f"slow{number}") for number in range(5)]
    quick = [cell(ENVS[0], "faces", "fine", case=f"quick{number}") for number in range(5)]
    durations = Durations()
    for other in quick if earlier is not None else ():
        durations.add(other.id.replace(ENVS[0].name, ENVS[1].name), earlier or 0.0)
    clock = itertools.count(100.0, 8.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    progress = Progress(10)
    progress.expect([*slow, *quick], Forecast(seconds=None, durations=durations))
    progress.note(compiled(slow[0], 8.0))  # starts 8 s before the clock is first read
    for slow_cell in slow[1:]:
        progress.note(compiled(slow_cell, 8.0))
    next(clock), next(clock), next(clock)
    assert remaining_time(progress) == says


def test_the_remaining_time_does_not_multiply_the_time_besides_the_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten compiles of a few milliseconds take 6 s, because workers start. 40 of 2 s follow."""
    quick = [cell(ENVS[0], "faces", "fine", case=f"quick{number}") for number in range(10)]
    slow = [cell(ENVS[0], "faces", "fine", case=f"slow{number}") for number in range(40)]
    durations = Durations()
    for other in slow:
        durations.add(other.id.replace(ENVS[0].name, ENVS[1].name), 2.0)
    now = iter((100.0, 106.0, 106.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(now, 106.0))
    progress = Progress(50)
    progress.expect([*quick, *slow], Forecast(seconds=None, durations=durations))
    for quick_cell in quick:
        progress.note(compiled(quick_cell, 0.008))
    assert remaining_time(progress) == "104 s"  # 40 cells of 0.6 s, and 80 s of compiles


def test_each_run_of_a_command_counts_its_own_cells() -> None:
    """A bisection, for example, compiles twice. The listener has the results of both runs."""
    listener = ProgressListener(judged=False)
    lines = []
    for cells in (CELLS[:3], CELLS[3:]):
        progress = Progress(len(cells), judged=False, results=listener.results)
        for finished_cell in cells:
            progress.note(done(finished_cell))
        lines.append(progress.line())
    assert lines == ["3 of 3 cells", "1 of 1 cell"]
    assert [result.cell for result in listener.results] == CELLS


def test_a_pipe_gets_each_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    """The line stays the same while the interpreter checks the numbers of compiled cells."""
    lines, at_end = itertools.chain(["1 of 2 cells"] * 3, ["2 of 2 cells"] * 20), threading.Event()

    def line() -> str:
        text = next(lines, None)
        if text is None:
            at_end.set()
        return text or ""

    with Showing(line, plain_every=0.001):
        assert at_end.wait(30)
    assert capsys.readouterr().err == "1 of 2 cells\n2 of 2 cells\n"
