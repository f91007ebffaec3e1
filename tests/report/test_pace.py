"""The progress of a run, in words, and the line at the start of a long run."""

from __future__ import annotations

from compat.cli.progress import Pace, expectation_line, pace_line
from compat.text import in_time
from tests.records import OK, env
from tests.report.factory import always, results_of
from tests.together import for_each

CELLS = [
    result.cell for result in results_of("k", "v", always(OK), envs=[env("3.1.0"), env("3.2.0")])
]


def test_the_line_has_the_progress_and_the_slow_cells() -> None:
    pace = Pace(total=468, done=120, compiled=100, unexpected=3, seconds=10.0)
    assert pace_line(pace) == "120 of 468 cells, 3 unexpected, 10.0 per second, about 35 s left"
    slow = tuple(
        (cell, seconds) for cell, seconds in zip(CELLS[:3], (90.0, 12.4, 7.0), strict=True)
    )
    named = Pace(total=468, done=120, compiled=2, unexpected=0, seconds=10.0, slow=slow)
    ids = [cell.id for cell in CELLS]
    assert (
        pace_line(named)
        == f"120 of 468 cells, 0 unexpected, slow: {ids[0]} (90 s), {ids[1]} (12 s) and 1 more"
    )


def test_few_cells_and_cells_from_the_store_give_no_rate() -> None:
    assert Pace(total=9, done=4, compiled=4, unexpected=0, seconds=1.0).rate is None
    assert Pace(total=9, done=9, compiled=0, unexpected=0, seconds=0.0).rate is None
    assert "left" not in pace_line(Pace(total=9, done=9, compiled=9, unexpected=0, seconds=3.0))


@for_each(
    ("cells", "seconds", "line"),
    [
        (468, 125.0, "468 cells to compile, estimated at 2 min from earlier runs"),
        (1, 61.0, "1 cell to compile, estimated at 61 s from earlier runs"),
        (468, 59.0, None),
        (468, None, "468 cells to compile"),
        (99, None, None),
    ],
)
def test_a_long_run_prints_its_cells_and_its_estimated_time(
    cells: int, seconds: float | None, line: str | None
) -> None:
    assert expectation_line(cells, seconds) == line


def test_durations_have_readable_units() -> None:
    assert [in_time(seconds) for seconds in (0.4, 119, 121, 7150, 7300)] == [
        "0 s",
        "119 s",
        "2 min",
        "119 min",
        "2 h 2 min",
    ]


def test_without_expectations_the_line_has_no_unexpected_cells() -> None:
    assert (
        pace_line(Pace(total=9, done=4, compiled=4, unexpected=None, seconds=1.0)) == "4 of 9 cells"
    )


def test_the_line_has_the_progress_of_several_envs() -> None:
    def line(**envs: tuple[int, int]) -> str:
        done, total = (sum(counts[place] for counts in envs.values()) for place in (0, 1))
        return pace_line(
            Pace(total=total, done=done, compiled=1, unexpected=0, seconds=1.0, envs=envs)
        )

    assert (
        line(a=(9, 9), b=(3, 9), c=(0, 9))
        == "12 of 27 cells, 0 unexpected, 1 of 3 envs done, b at 33 %"
    )
    assert line(a=(1, 9), b=(3, 9)).endswith("0 of 2 envs done, a at 11 %, b at 33 %")
    assert line(a=(1, 9), b=(3, 90), c=(2, 8)).endswith("0 of 3 envs done, b at 3 %"), (
        "of many the one that has most left"
    )
    assert line(a=(0, 9), b=(0, 9)).endswith("0 of 2 envs done")
    assert "envs" not in line(a=(3, 9)), "one env is the whole"
    assert "envs" not in line(a=(9, 9), b=(9, 9))
