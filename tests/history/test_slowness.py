"""Whether a compile is slow or stuck, and that a remark claims neither where it is unknown."""

from __future__ import annotations

from attrs import evolve

from compat.history.growth import SettingGrowth
from compat.history.sizes import differing, ladder, sizes, smaller, value_of, with_value
from compat.history.slowness import slowness
from compat.model import CompileSpec, Evidence, Outcome, Status
from tests.records import OK, spec

SPEC = evolve(
    spec(),
    compile=CompileSpec(
        constexprs={"N": 512, "BLOCK": 16, "flag": True, "few": 4}, options={"num_stages": 3}
    ),
)
STOPPED = evolve(
    OK, status=Status.TIMED_OUT, stage="llir", stages={"ast": 0.2, "ttgir": 50.0, "llir": 7.0}
)
SMALLER: dict[int, Outcome] = {
    n: evolve(OK, stages={"ttgir": (n / 64) ** 3 / 10}) for n in (64, 128, 256)
}


def hung(cpu: float) -> Evidence:
    return Evidence(
        answered=False,
        deadline=60.0,
        stage="llir",
        entered=1.0,
        seconds=60.2,
        stages={"ast": 0.2, "llir": cpu},
    )


def test_quick_compile_has_no_remark() -> None:
    assert slowness(SPEC, OK, [Evidence(answered=True)], []) is None


def test_compile_that_ends_late_is_slow() -> None:
    took = evolve(OK, stages={"ast": 1.0, "ttgir": 20.0})
    assert slowness(SPEC, took, [], []) == "slow, in stage ttgir: 20 s of 21 s of CPU time"
    grown = SettingGrowth.of("N", {**SMALLER, 512: took})
    assert (slowness(SPEC, took, [], [grown]) or "").startswith("slow: stage ttgir grows as N^")


def test_compile_is_slow_from_ten_seconds_on() -> None:
    quick, slow = (evolve(OK, stages={"ttgir": seconds}) for seconds in (9.99, 10.0))
    assert slowness(SPEC, quick, [], []) is None
    assert slowness(SPEC, slow, [], []) == "slow, in stage ttgir: 10 s of 10 s of CPU time"


def test_remark_names_the_slowest_stage_and_the_stage_in_flight() -> None:
    remark = slowness(SPEC, STOPPED, [hung(7.0)], [])
    assert (
        remark == "slow or stuck, not decided: it used CPU time, in stage ttgir: 50 s of 57"
        " s of CPU time; stopped in llir"
    )


def test_remark_names_the_stage_in_flight_once_if_it_is_the_slowest() -> None:
    remark = slowness(SPEC, evolve(STOPPED, stage="ttgir"), [], [])
    assert (remark or "").endswith("in stage ttgir: 50 s of 57 s of CPU time")


def test_compile_that_uses_hardly_any_cpu_time_is_stuck() -> None:
    remark = slowness(SPEC, STOPPED, [hung(0.4)], [SettingGrowth.of("N", SMALLER)])
    assert remark == "stuck: in stage llir it used 0.4 s of CPU time in 59 s"


def test_compile_whose_growth_explains_its_time_is_slow() -> None:
    remark = slowness(
        SPEC, STOPPED, [hung(50.0)], [SettingGrowth.of("N", {**SMALLER, 512: STOPPED})]
    )
    assert (remark or "").startswith("slow, not stuck: stage ttgir grows as N^3.0 (")


def test_compile_whose_growth_does_not_explain_its_time_may_be_stuck() -> None:
    quick = {n: evolve(OK, stages={"ttgir": n / 1000}) for n in (64, 128, 256)}
    remark = slowness(SPEC, STOPPED, [hung(50.0)], [SettingGrowth.of("N", {**quick, 512: STOPPED})])
    assert (remark or "").endswith("it may be stuck")


# --- sizes ----------------------------------------------------------------------------------------


def test_sizes_are_numbers_that_a_compile_may_grow_with() -> None:
    assert sizes(SPEC) == ("N", "BLOCK")
    assert ladder(100) == (1, 3, 6, 12, 25, 50, 100)
    assert value_of(SPEC, "flag") is None
    assert value_of(with_value(SPEC, "num_stages", 5), "num_stages") == 5
    assert [(name, value) for name, value, _ in smaller(SPEC)][-3:] == [
        ("BLOCK", 2),
        ("BLOCK", 4),
        ("BLOCK", 8),
    ]


def test_cases_that_differ_in_one_size_are_compared() -> None:
    assert differing(SPEC, with_value(SPEC, "N", 64)) == "N"
    assert differing(SPEC, SPEC) is None
    assert differing(SPEC, with_value(with_value(SPEC, "N", 64), "BLOCK", 8)) is None
    assert differing(SPEC, with_value(with_value(SPEC, "N", 64), "num_stages", 8)) is None
