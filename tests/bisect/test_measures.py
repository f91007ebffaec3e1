"""Judges of compile times: what they compare, and what they measure again before they answer."""

from __future__ import annotations

import pytest
from attrs import evolve

from compat.bisect import growing, timing
from compat.bisect.measures import PASSES, TakesLonger, parse_duration
from compat.bisect.request import GrowingSetting
from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.model import Cell, Outcome, Result, Status
from compat.workers.attempt import Limits
from tests.records import OK, SHAPE, bad, result
from tests.together import for_each

TRIVIAL = result(OK, "3.1.0")
TOOK = evolve(OK, metrics={"registers": 1}, stages={"source": 9.0, "ttgir": 2.0, "llir": 0.5})


def question(text: str) -> TakesLonger:
    criterion = parse_duration(text)
    assert criterion is not None
    return criterion


def of_release(
    release: str, outcome: Outcome = TOOK, *, cached: bool = False, **seconds: float
) -> Result:
    stages = {**outcome.stages, **seconds}
    return result(evolve(outcome, stages=stages), release, cached=cached)


@for_each(
    ("text", "bad"),
    [
        ("stage.ttgir.cpu>1.9", True),
        ("stage.ttgir.cpu>2", False),
        ("compile_seconds>=2.5", True),
        ("stage.cubin.cpu>0", None),
        ("pass.cse.cpu>0.1", None),
    ],
)
def test_a_number_is_a_bound(text: str, bad: bool | None) -> None:
    assert question(text).is_bad(of_release("3.1.0")) is bad


def test_pass_is_found_by_any_name_that_a_release_has_for_it() -> None:
    timed = evolve(TOOK, metrics={PASSES: {"coalesce": 1.5, "cse": 0.1}})
    for name in ("coalesce", "tritongpu-coalesce", "TritonGPUCoalesce"):
        assert question(f"pass.{name}.cpu>1").is_bad(of_release("3.1.0", timed))
    assert question("pass.prefetch.cpu>1").is_bad(of_release("3.1.0", timed)) is None


def judged(text: str, row: list[Result]) -> list[bool | None]:
    criterion = question(text).along([[result] for result in row])
    return [criterion.is_bad(result) for result in row]


def test_release_is_compared_with_the_last_one_that_was_not_slower() -> None:
    row = [
        of_release(f"3.{n}.0", ttgir=seconds) for n, seconds in enumerate((2.0, 2.1, 4.0, 4.1, 2.2))
    ]
    assert judged("stage.ttgir.cpu>1.5*previous", row) == [False, False, True, True, False]
    assert judged("stage.ttgir.cpu>baseline", row) == [False, True, True, True, True]
    assert judged("stage.ttgir.cpu<0.6*baseline", row) == [False, False, False, False, False]


def test_small_factor_of_a_short_time_is_not_bad() -> None:
    little = [of_release("3.1.0", ttgir=0.10), of_release("3.2.0", ttgir=0.13)]
    assert judged("stage.ttgir.cpu>1.2*previous", little) == [False, False]
    assert judged(
        "stage.ttgir.cpu>1.2*previous",
        [of_release("3.1.0", ttgir=2.0), of_release("3.2.0", ttgir=2.6)],
    ) == [False, True]
    assert judged(
        "stage.ttgir.cpu>1.2*previous",
        [of_release("3.1.0", ttgir=0.1), of_release("3.2.0", ttgir=0.2)],
    ) == [False, True]


def test_time_of_a_stopped_compile_is_a_lower_bound() -> None:
    stopped = evolve(TOOK, status=Status.TIMED_OUT, metrics={})
    assert judged(
        "stage.ttgir.cpu>1.5*previous",
        [of_release("3.1.0"), of_release("3.2.0", stopped, ttgir=50.0)],
    ) == [False, True]
    assert judged(
        "stage.ttgir.cpu<1.5*previous",
        [of_release("3.1.0"), of_release("3.2.0", stopped, ttgir=2.0)],
    ) == [False, None]
    assert judged(
        "stage.ttgir.cpu>1.5*previous",
        [of_release("3.1.0", stopped, ttgir=2.0), of_release("3.2.0", ttgir=9.0)],
    ) == [None, False]
    assert question("stage.ttgir.cpu>1.5*previous").is_bad(of_release("3.1.0")) is None, (
        "nothing is known of its row"
    )


def test_seconds_until_a_failure_are_not_those_of_a_compile() -> None:
    failed = of_release("3.1.0", evolve(bad(SHAPE), stages=TOOK.stages))
    assert question("compile_seconds>1").is_bad(failed) is None


class Machine:
    """Stands in for compiles, which take the given seconds, one after the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **seconds: list[float]) -> None:
        self.seconds = {
            release.replace("_", "."): iter(values) for release, values in seconds.items()
        }
        self.compiled: list[str] = []
        monkeypatch.setattr(timing, "run", self.run)

    def run(self, cells: list[Cell], context: RunContext) -> tuple[Result, ...]:
        assert context.again
        assert context.slots == 1
        releases = [str(cell.env.release) for cell in cells]
        self.compiled += releases
        return tuple(of_release(release, ttgir=next(self.seconds[release])) for release in releases)


def timed(text: str, row: list[Result]) -> list[float]:
    envs = {result.cell.env.name: result.built for result in row}
    context = RunContext(envs=envs, store=None, limits=Limits(deadline=1, memory=1))  # type: ignore[arg-type]
    return [
        result.outcome.stages["ttgir"]
        for result in timing.with_precise_seconds(row, question(text), context)
    ]


def test_stored_time_at_a_change_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = [
        of_release(f"3.{n}.0", cached=True, ttgir=seconds)
        for n, seconds in enumerate((2.0, 2.0, 9.0, 9.0))
    ]
    machine = Machine(
        monkeypatch, **{"3_0_0": [9.9], "3_1_0": [2.1], "3_2_0": [2.2, 2.2], "3_3_0": [8.0]}
    )
    assert timed("stage.ttgir.cpu>2*previous", row)[2] == 2.2, "it was slow on another machine"
    assert "3.2.0" in machine.compiled


@pytest.mark.parametrize("measured", [[2.2, 1.9], [1.9, 2.2]])
def test_time_near_the_bound_is_measured_again_and_the_least_counts(
    monkeypatch: pytest.MonkeyPatch, measured: list[float]
) -> None:
    machine = Machine(monkeypatch, **{"3_1_0": measured})
    assert timed("stage.ttgir.cpu>2", [of_release("3.1.0", ttgir=2.1)]) == [1.9]
    assert machine.compiled == ["3.1.0", "3.1.0"]


def test_time_far_from_the_bound_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    row = [of_release("3.1.0", ttgir=0.3), of_release("3.2.0", ttgir=20.0)]
    assert timed("stage.ttgir.cpu>2", row) == [0.3, 20.0]
    assert machine.compiled == []


def test_least_time_of_each_stage_and_pass_counts() -> None:
    one, other = (
        evolve(TOOK, stages={"ttgir": ttgir, "llir": llir}, metrics={PASSES: {"cse": cse}})
        for ttgir, llir, cse in ((2.0, 0.9, 0.3), (3.0, 0.5, 0.1))
    )
    least = evolve(TOOK, stages={"ttgir": 2.0, "llir": 0.5}, metrics={PASSES: {"cse": 0.1}})
    assert timing.quicker(one, other) == least
    failed = evolve(other, status=Status.REJECTED)
    assert timing.quicker(one, failed) == failed


def test_short_compiles_of_a_growth_are_measured_three_times_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = {16: [0.3, 0.1, 0.2], 32: [0.5, 0.6, 0.4], 64: [1.6]}
    compiled: list[tuple[int, bool]] = []
    steps: list[tuple[str, int]] = []

    def run(cells: list[Cell], context: RunContext) -> tuple[Result, ...]:
        size = cells[0].spec.compile.constexprs["N"]
        duration = seconds[size][[compiled_size for compiled_size, _ in compiled].count(size)]
        compiled.append((size, context.again))
        return (result(evolve(TOOK, stages={"ttgir": duration}), "3.1.0"),)

    monkeypatch.setattr(growing, "run", run)
    spec = evolve(
        TRIVIAL.cell.spec, compile=evolve(TRIVIAL.cell.spec.compile, constexprs={"N": 64})
    )
    search = growing.GrowthSearch(
        cell=evolve(TRIVIAL.cell, spec=spec),
        context=RunContext(envs={}, store=None, limits=Limits(deadline=9, memory=1)),  # type: ignore[arg-type]
        settings=(GrowingSetting(name="N", values=(16, 32, 64)),),
        on_step=lambda step: steps.append((step, len(compiled))),
    )
    (growth,) = search.answer().growths
    assert [point.seconds for point in growth.total.points] == [0.1, 0.4, 1.6]
    first, again = [(16, False), (32, False), (64, False)], [(16, True), (32, True)]
    assert compiled == [*first, *again, *again]
    named = [step for step in steps if step[0].startswith("compiling with ")]
    assert named == [
        ("compiling with N=16", 0),
        ("compiling with N=32", 1),
        ("compiling with N=64", 2),
    ]


@for_each("text", ["=1,2", "N=", "N=1", "N=0,2", "N=-1,2", f"N={'1' * 5000},2"])
def test_texts_that_name_no_sizes_are_refused(text: str) -> None:
    with pytest.raises(SelectionError, match="names no setting and its sizes"):
        GrowingSetting.parse(text)
