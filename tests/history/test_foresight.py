"""Slow code that is predicted from the metrics of two compiles."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from compat.history.foresight import LIKELY, Suspicion, pace_ratio, suspicion
from compat.history.suspects import neighbours, slow_suspects
from compat.model import Outcome, Result
from tests.records import OK, SHAPE, SHARED, TARGETS, bad, result
from tests.together import for_each

PACE = {
    "units": 10_000,
    "latency": 20_000,
    "multiply_adds": 4_096,
    "global_bytes": 65_536,
    "loops": "1",
    "instructions": 200,
    "local": 0,
    "ldmatrix": 8,
    "shared_loads": 4,
    "mma": 16,
    "wgmma": 8,
    "async_copies": 4,
}


def metrics(
    blocks: int = 2, registers: int = 64, limited_by: str = "registers", **pace: Any
) -> dict[str, object]:
    return {
        "registers": registers,
        "occupancy": {"threads": 256, "blocks": blocks, "limited_by": limited_by},
        "pace": {**PACE, **pace},
    }


OLD = metrics()


def reasons(**changes: Any) -> tuple[str, ...]:
    """Why a compile is likely slower with these changes and with more cycles of its units."""
    slowdown = suspicion(OLD, metrics(**{"units": 30_000, **changes}))
    return slowdown.reasons if slowdown else ()


def test_equal_compiles_cause_no_suspicion() -> None:
    assert pace_ratio(OLD, OLD) == 1
    assert suspicion(OLD, OLD) is None


def test_fewer_blocks_per_multiprocessor_cause_a_suspicion() -> None:
    new = metrics(blocks=1, registers=138)
    # 10,000, and half of the latency divided by the blocks: 15,000 become 20,000.
    assert pace_ratio(OLD, new) == pytest.approx(4 / 3)
    slowdown = suspicion(OLD, new)
    assert slowdown is not None
    assert slowdown.reasons == (
        "1 block per multiprocessor instead of 2, with 138 registers per thread instead of 64",
    )
    assert slowdown.sentence("3.8.0") == (
        "likely 1.3 times slower than on 3.8.0: 1 block per multiprocessor instead of 2, with 138"
        " registers per thread instead of 64"
    )
    other = suspicion(OLD, metrics(blocks=1, limited_by="shared memory"))
    assert other is not None
    assert other.reasons == ("1 block per multiprocessor instead of 2, limited by shared memory",)


@for_each(
    ("changes", "reason"),
    [
        ({"local": 40}, "40 instead of 0 loads and stores of local memory in its loops"),
        (
            {"local": 40, "loops": ""},
            "40 instead of 0 loads and stores of local memory in its code",
        ),
        ({"wgmma": 0}, "0 instead of 8 wgmma in its loops"),
        (
            {"ldmatrix": 4, "shared_loads": 20},
            "4 instead of 8 ldmatrix in its loops, and 20 instead of 4 shared loads",
        ),
        ({"async_copies": 0}, "0 instead of 4 asynchronous copies in its loops"),
        ({"instructions": 300}, "300 instead of 200 instructions in its loops"),
    ],
)
def test_changed_metric_is_the_reason(changes: dict[str, Any], reason: str) -> None:
    assert reasons(**changes) == (reason,)


@for_each(
    "changes",
    [
        {},  # more cycles, and no change that has a name
        {"ldmatrix": 4},  # as many other loads as before
        {"shared_loads": 20},
        {"local": -1},
        {"instructions": 215},
        {"instructions": 300, "loops": "1 1"},  # unrolled in another way
    ],
)
def test_change_without_a_name_causes_no_suspicion(changes: dict[str, Any]) -> None:
    assert reasons(**changes) == ()


def test_named_change_without_more_cycles_causes_no_suspicion() -> None:
    assert suspicion(OLD, metrics(local=40)) is None
    assert suspicion(metrics(local=40), OLD) is None


def test_paces_are_compared_for_equal_work() -> None:
    """Twice as many multiplications in a trip mean half as many trips."""
    assert pace_ratio(
        OLD, metrics(units=20_000, latency=40_000, multiply_adds=8_192)
    ) == pytest.approx(1)
    bare = metrics(multiply_adds=0)
    assert pace_ratio(bare, metrics(units=20_000, multiply_adds=0)) == pytest.approx(25 / 15)
    moving = metrics(units=20_000, latency=40_000, multiply_adds=0, global_bytes=131_072)
    assert pace_ratio(bare, moving) == pytest.approx(1)


def test_ratio_is_reduced_if_loops_differ() -> None:
    assert pace_ratio(OLD, metrics(units=55_000, loops="1 2")) == pytest.approx(2)


@for_each(
    "without",
    [
        {},
        {"pace": 3},
        {"pace": {}},
        {"pace": PACE},
        {"occupancy": {"blocks": 2}, "pace": {"units": "x"}},
    ],
)
def test_missing_metrics_cause_no_suspicion(without: dict[str, object]) -> None:
    assert suspicion(without, OLD) is None
    assert suspicion(OLD, without) is None


# --- neighbours -----------------------------------------------------------------------------------

SLOW = metrics(blocks=1, registers=138)


def on(release: str, outcome: Outcome) -> Result:
    return result(outcome, release)


def of(facts: dict[str, object], outcome: Outcome = OK) -> Outcome:
    return evolve(outcome, metrics=facts)


def suspects(*results: Result) -> list[tuple[str, Suspicion]]:
    return [(suspect.releases, suspect.suspicion) for suspect in slow_suspects(neighbours(results))]


def test_release_is_compared_with_the_last_one_that_compiled() -> None:
    ((releases, slowdown),) = suspects(
        on("3.8.0", bad(SHAPE)), on("3.9.0", of(SLOW)), on("3.1.0", of(OLD))
    )
    assert releases == "3.1.0 → 3.9.0"
    assert slowdown.ratio > LIKELY


def test_code_that_stays_slow_is_suspected_once() -> None:
    slowdowns = suspects(on("3.1.0", of(OLD)), on("3.8.0", of(SLOW)), on("3.9.0", of(SLOW)))
    assert [releases for releases, _ in slowdowns] == ["3.1.0 → 3.8.0"]


def test_slowest_suspect_is_first() -> None:
    slower = metrics(blocks=1, registers=138, units=40_000, local=40)
    slowdowns = suspects(on("3.1.0", of(OLD)), on("3.8.0", of(SLOW)), on("3.9.0", of(slower)))
    assert [releases for releases, _ in slowdowns] == ["3.8.0 → 3.9.0", "3.1.0 → 3.8.0"]


def test_a_cell_that_would_not_launch_is_no_suspect() -> None:
    refused = evolve(OK, failure=SHARED)
    assert suspects(on("3.1.0", of(OLD)), on("3.9.0", of(SLOW, refused))) == []
    assert suspects(on("3.1.0", of(OLD, refused)), on("3.9.0", of(SLOW))) == []


def test_other_cases_and_targets_are_not_compared() -> None:
    old, new = on("3.1.0", of(OLD)), on("3.9.0", of(SLOW))
    other = evolve(new.cell.spec, case="d128")
    assert suspects(old, evolve(new, cell=evolve(new.cell, spec=other))) == []
    assert suspects(old, evolve(new, cell=evolve(new.cell, target=TARGETS[0]))) == []
