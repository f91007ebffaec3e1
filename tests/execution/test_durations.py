"""About how long cells will take, by what is kept of earlier ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from compat.engine.plan import expected_seconds
from compat.engine.run import RunContext
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.execution.test_store import CELL, EVIDENCE
from tests.sqlite import opened

LIMITS = Limits(deadline=10, memory=1 << 30)
BEFORE = [
    ("k/v/a/sm_80/e1", 2.0),
    ("k/v/b/sm_80/e1", 5.0),
    ("k/v/a/sm_80/e2", 1.0),
    ("k/v/a/sm_80/e1", 4.0),
]


@pytest.mark.parametrize(
    ("ids", "slots", "seconds"),
    [
        (["k/v/a/sm_80/e1"], 1, 3.0),  # as long as it took before
        (["k/v/new/sm_80/e1"], 1, 11 / 3),  # as its variant takes in that env
        (["k/v/a/sm_80/e3"], 1, 3.0),  # as its variant takes in others
        # What nothing is known of takes as long as the rest.
        (["k/v/a/sm_80/e1", "k/w/a/sm_80/e1"], 1, 6.0),
        (["k/v/a/sm_80/e2"] * 8, 4, 2.0),
        (["k/v/b/sm_80/e1", "k/v/a/sm_80/e2"], 4, 5.0),  # no sooner than the longest
        (["k/w/a/sm_80/e1", "k/w/b/sm_80/e1", "k/v/a/sm_80/e1"], 1, None),
        ([], 1, None),
    ],
)
def test_an_estimate(ids: list[str], slots: int, seconds: float | None) -> None:
    assert expected_seconds(ids, BEFORE, slots, len(ids)) == (
        None if seconds is None else pytest.approx(seconds)
    )


def test_of_many_cells_the_variants_alone_count() -> None:
    ids = ["k/v/b/sm_80/e1"] * 30_000
    assert expected_seconds(ids, BEFORE, 10, len(ids)) == pytest.approx(11 / 3 * 3000)


def test_all_attempts_at_a_cell_count_whatever_its_key(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write(
            "before-an-edit", CELL, (evolve(EVIDENCE, seconds=1.5), evolve(EVIDENCE, seconds=2.5))
        )
        context = RunContext(envs={}, store=store, limits=LIMITS, slots=1)
        assert context.expected_seconds([CELL]) == pytest.approx(4.0)
        assert (
            context.expected_seconds([evolve(CELL, spec=evolve(CELL.spec, kernel="another"))])
            is None
        )


def test_rows_that_no_version_has_written_are_left_out(tmp_path: Path) -> None:
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
        found = sorted(store.seconds([CELL.spec.kernel]))
        assert found == sorted([(CELL.id, 1.5), *[(f"{CELL.spec.kernel}/odd", 0.0)] * 2])
        assert RunContext(envs={}, store=store, limits=LIMITS, slots=1).expected_seconds(
            [CELL]
        ) == pytest.approx(1.5)
