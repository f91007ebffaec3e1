"""Estimates of how long cells take, from the kept times of earlier cells."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from compat.engine.plan import Durations, RemainingWork, forecast
from compat.engine.run import RunContext
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.execution.test_store import CELL, EVIDENCE
from tests.sqlite import opened
from tests.together import for_each

LIMITS = Limits(deadline=10, memory=1 << 30)
BEFORE = [
    ("k/v/a/sm_80/e1", 2.0),
    ("k/v/b/sm_80/e1", 5.0),
    ("k/v/a/sm_80/e2", 1.0),
    ("k/v/a/sm_80/e1", 4.0),
]


@for_each(
    ("ids", "slots", "seconds"),
    [
        (["k/v/a/sm_80/e1"], 1, 3.0),  # as long as it took before
        (["k/v/new/sm_80/e1"], 1, 11 / 3),  # as its variant takes in that env
        (["k/v/a/sm_80/e3"], 1, 7 / 3),  # as it takes in other envs
        (["k/v/new/sm_80/e3"], 1, 3.0),  # as its variant takes in other envs
        # A cell without known times takes as long as the rest.
        (["k/v/a/sm_80/e1", "k/w/a/sm_80/e1"], 1, 6.0),
        (["k/v/a/sm_80/e2"] * 8, 4, 2.0),
        (["k/v/b/sm_80/e1", "k/v/a/sm_80/e2"], 4, 5.0),  # no shorter than the longest cell
        (["k/w/a/sm_80/e1", "k/w/b/sm_80/e1", "k/v/a/sm_80/e1"], 1, None),
        ([], 1, None),
    ],
)
def test_forecast_uses_the_times_of_similar_cells(
    ids: list[str], slots: int, seconds: float | None
) -> None:
    assert forecast(ids, BEFORE, slots, len(ids)).seconds == (
        None if seconds is None else pytest.approx(seconds)
    )


def test_forecast_of_many_cells_uses_only_the_times_of_variants() -> None:
    ids = ["k/v/b/sm_80/e1"] * 30_000
    assert forecast(ids, BEFORE, 10, len(ids)).seconds == pytest.approx(11 / 3 * 3000)


def test_weight_uses_the_time_of_the_same_cell_in_another_env() -> None:
    work = RemainingWork()
    work.expect([f"k/v/{case}/sm_80/{env}" for env in ("e1", "e2") for case in "abc"], Durations())
    assert work.weight(1.0) == 1.0  # nothing is compiled yet
    for case, seconds in (("a", 9.0), ("b", 2.0), ("c", 1.0)):
        work.note(f"k/v/{case}/sm_80/e1", seconds)
    assert work.weight(12.0) == pytest.approx(1.0)
    work.note("k/v/a/sm_80/e2", 9.0)  # 2 s and 1 s are left, and 5.25 s is the average
    assert work.weight(10.5) == pytest.approx(1.5 / 5.25)  # two at the same time
    assert work.weight(42.0) == pytest.approx((1.5 + 5.25) / (5.25 + 5.25))  # half of it waited


def test_all_attempts_at_a_cell_count_whatever_its_key(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write(
            "before-an-edit", CELL, (evolve(EVIDENCE, seconds=1.5), evolve(EVIDENCE, seconds=2.5))
        )
        context = RunContext(envs={}, store=store, limits=LIMITS, slots=1)
        assert context.forecast([CELL]).seconds == pytest.approx(4.0)
        assert (
            context.forecast([evolve(CELL, spec=evolve(CELL.spec, kernel="another"))]).seconds
            is None
        )


def test_rows_that_no_version_has_written_do_not_change_a_forecast(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write("k", CELL, (evolve(EVIDENCE, seconds=1.5),))
        with opened(tmp_path / "results.sqlite") as other:
            odd = f"{CELL.spec.kernel}/odd"
            for number, text in enumerate(
                ("no JSON", '"text"', '[1, "x", {"seconds": "y"}]', b"\xff", None)
            ):
                other.execute(
                    "INSERT INTO evidence VALUES (?, ?, 'triton', ?, NULL, NULL)",
                    (f"k{number}", odd, text),
                )
        durations = sorted(store.seconds([CELL.spec.kernel]))
        assert durations == sorted([(CELL.id, 1.5), *[(f"{CELL.spec.kernel}/odd", 0.0)] * 2])
        context = RunContext(envs={}, store=store, limits=LIMITS, slots=1)
        assert context.forecast([CELL]).seconds == pytest.approx(1.5)
