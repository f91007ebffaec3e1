"""Judges and every kind of outcome: they call an inconclusive one neither good nor bad."""

from __future__ import annotations

import pytest
from attrs import evolve

from compat.bisect.criterion import parse_criterion
from compat.bisect.measures import measure, metric_names
from compat.errors import SelectionError
from compat.history.account import Judgement
from compat.model import Failure, Outcome, Result, Status
from tests.records import (
    ASSERT,
    BROKEN,
    LOST,
    MISSING,
    OK,
    REMOVED,
    SHAPE,
    SHARED,
    UNKNOWN_TARGET,
    bad,
    declared,
    result,
)
from tests.together import for_each

G, B, U = Judgement.GOOD, Judgement.BAD, Judgement.UNKNOWN
REJECTED = bad(SHAPE)
CRASHED = bad(ASSERT, Status.CRASHED)
TOOK = {"source": 30.0, "llir": 0.5, "cubin": 3.5}
MEASURED = evolve(
    OK,
    metrics={"registers": 128, "shared": 0, "artifacts": {"cubin": 9000}},
    seconds=400.0,
    stages=TOOK,
)
STOPPED = evolve(
    OK,
    status=Status.TIMED_OUT,
    metrics={},
    seconds=600.0,
    stages={"ast": 1.0, "llir": 60.0},
    failure=evolve(SHAPE, failure_class="timeout"),
)


@for_each(
    ("text", "outcome", "expected"),
    [
        ("ok", OK, G),
        ("ok", REJECTED, B),
        ("ok", CRASHED, B),
        ("ok", bad(UNKNOWN_TARGET, Status.UNSUPPORTED), B),
        ("ok", evolve(OK, failure=SHARED), B),
        ("ok", STOPPED, B),
        ("class=shape-mismatch", REJECTED, B),
        ("class=shape-mismatch", CRASHED, G),
        ("class=shape-mismatch", OK, G),
        ("registers>128", MEASURED, G),
        ("registers>=128", MEASURED, B),
        ("registers < 129", MEASURED, B),
        ("registers=128", MEASURED, B),
        ("registers!=128", MEASURED, G),
        ("shared>0", MEASURED, G),
        ("artifacts.cubin>8999.5", MEASURED, B),
        ("stage.llir.cpu>0.4", MEASURED, B),
        ("compile_seconds>3.9", MEASURED, B),
        ("compile_seconds>4", MEASURED, G),
        ("compile_seconds>10", STOPPED, B),
        ("compile_seconds>100", STOPPED, U),
        ("compile_seconds<10", STOPPED, U),
        ("compile_seconds>1", evolve(STOPPED, stages={"ast": 0.5}), U),
        ("compile_seconds>1", evolve(STOPPED, stages={}), U),
        ("registers>128", REJECTED, U),
        ("compile_seconds>10", REJECTED, U),
        ("spill_store_bytes>0", MEASURED, U),
    ],
)
def test_answers(text: str, outcome: Outcome, expected: Judgement) -> None:
    assert parse_criterion(text)(result(outcome)) is expected


@for_each("text", ["ok", "class=shape-mismatch", "unexpected", "registers>1"])
@for_each("outcome", [BROKEN, LOST, bad(SHAPE, flaky=True)])
def test_broken_lost_and_flaky_outcomes_are_inconclusive(text: str, outcome: Outcome) -> None:
    assert parse_criterion(text)(result(outcome)) is U


@for_each(
    ("code", "expected"),
    [(0, G), (1, B), (3, B), (127, B), (125, U), (128, U), (134, U), (-9, U)],
)
def test_exit_codes_of_a_program_mean_the_same_as_for_git_bisect_run(
    code: int, expected: Judgement
) -> None:
    calls: list[tuple[str, Outcome]] = []

    def ask(command: str, about: Result) -> int:
        calls.append((command, about.outcome))
        return code

    criterion = parse_criterion(" run = ./keeps.sh --strict x=1 ", ask)
    assert criterion(result(REJECTED)) is expected
    assert calls == [("./keeps.sh --strict x=1", REJECTED)]
    assert criterion.text == "run=./keeps.sh --strict x=1"
    assert criterion(result(LOST)) is U, "where there is no answer, nobody is asked"
    assert len(calls) == 1


def test_judge_unexpected_compares_with_the_declaration() -> None:
    criterion = parse_criterion("unexpected")
    assert criterion(result(REJECTED)) is B
    assert criterion(result(REJECTED, expectation=declared(SHAPE))) is G
    assert criterion(result(OK, expectation=declared(SHAPE))) is B
    assert criterion(result(OK)) is G


def test_judge_same_failure_needs_the_bad_end() -> None:
    criterion = parse_criterion("same-failure")
    assert criterion.needs_bad_end
    assert criterion(result(REJECTED)) is U
    about = criterion.about(REJECTED)
    assert not about.needs_bad_end
    other: Failure = evolve(SHAPE, fingerprint="shape-mismatch:another")
    assert [about(result(outcome)) for outcome in (REJECTED, bad(other), CRASHED, OK)] == [
        B,
        G,
        G,
        G,
    ]
    assert about.text == "same-failure"


def test_judge_same_failure_knows_nothing_if_the_bad_end_has_no_answer() -> None:
    about = parse_criterion("same-failure").about(BROKEN)
    assert [about(result(outcome)) for outcome in (REJECTED, OK)] == [U, U]


def test_judge_same_failure_finds_nothing_bad_if_the_bad_end_works() -> None:
    about = parse_criterion("same-failure").about(OK)
    assert [about(result(outcome)) for outcome in (REJECTED, OK)] == [G, G]


@for_each(
    "text",
    [
        "",
        "okay",
        "run=",
        "run=./without-means-to-ask",
        "registers",
        "registers>",
        ">5",
        "registers>many",
        "class=",
        "class=no-such-class",
    ],
)
def test_text_that_is_not_a_judge_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(SelectionError) as caught:
        parse_criterion(text)
    assert caught.value.where == "--judge"
    assert caught.value.hint


@for_each(
    "text",
    [
        "ok",
        "class=api-removed",
        "same-failure",
        "unexpected",
        "registers>128",
        "compile_seconds<=0.5",
    ],
)
def test_judge_keeps_its_text(text: str) -> None:
    assert parse_criterion(text).text == text


@for_each(
    ("text", "needs_every"),
    [
        ("ok", False),
        ("wrong", True),
        ("unstable", False),
        ("latency>1.2*baseline", False),
        ("latency>1.2*previous", True),
        ("staying>1.2", True),
        ("compile_seconds>10", False),
        ("compile_seconds>2*baseline", True),
    ],
)
def test_judge_that_compares_releases_needs_all_of_them(text: str, needs_every: bool) -> None:
    assert parse_criterion(text).needs_every is needs_every


def test_metrics_are_numbers_only() -> None:
    assert measure(evolve(MEASURED, metrics={"name": "x", "flag": True}), "flag") is None
    assert metric_names(MEASURED) == (
        "compile_seconds",
        "registers",
        "shared",
        "artifacts.cubin",
        "stage.source.cpu",
        "stage.llir.cpu",
        "stage.cubin.cpu",
    )
    assert metric_names(bad(MISSING)) == metric_names(bad(REMOVED)) == ()
