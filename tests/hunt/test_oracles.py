"""Which results are hits, and what a hunt gathers of them."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from compat.hunt.hunting import HuntAnswer
from compat.hunt.oracles import Oracle, judge
from compat.model import Check, Numbers, Result, Status
from compat.toolchains.triton.programs.generator import generate
from compat.toolchains.triton.programs.language import PROGRAMS
from tests.records import OK, bad, failure
from tests.records import result as made

PROGRAM = generate(1)


def result(
    release: str, status: Status, *, name: str = "class", prediction: bool = False
) -> Result:
    if status is Status.OK:
        return made(OK, release)
    outcome = bad(failure(name, prediction=prediction), status)
    return made(outcome, release)


def hits(*results: Result) -> list[tuple[Oracle, str]]:
    return [(hit.oracle, hit.result.cell.env.name) for hit in judge(PROGRAM, results).hits]


@pytest.mark.parametrize("status", [Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY])
def test_a_compiler_that_breaks_is_a_hit_by_itself(status: Status) -> None:
    verdict = judge(PROGRAM, [result("3.0.0", status)])
    assert [hit.oracle for hit in verdict.hits] == [Oracle.CRASH]
    assert verdict.is_valid


def test_a_rejection_is_a_hit_where_another_release_compiles() -> None:
    rejected, fine = result("3.0.0", Status.REJECTED), result("3.9.0", Status.OK)
    assert hits(rejected, fine) == [(Oracle.DISAGREEMENT, rejected.cell.env.name)]


def test_a_program_that_all_releases_reject_is_invalid_and_no_hit() -> None:
    verdict = judge(PROGRAM, [result("3.0.0", Status.REJECTED), result("3.9.0", Status.REJECTED)])
    assert verdict.hits == ()
    assert not verdict.is_valid


@pytest.mark.parametrize(
    "untold",
    [
        result("3.0.0", Status.UNSUPPORTED),
        result("3.0.0", Status.LOST),
        result("3.0.0", Status.ENV_BROKEN),
        result("3.0.0", Status.REJECTED, prediction=True),
    ],
    ids=lambda each: str(each.outcome.status),
)
def test_what_says_nothing_of_the_program_is_no_hit(untold: Result) -> None:
    verdict = judge(PROGRAM, [untold, result("3.9.0", Status.OK)])
    assert verdict.hits == ()
    assert len(verdict.told) == 1


@pytest.mark.parametrize(
    ("status", "reason", "fingerprint"),
    [
        (Status.WRONG, "wrote outside of y1: 1 of the elements", "wrong:outside"),
        (Status.WRONG, "is nan, expected -4", "wrong:nan"),
        (Status.WRONG, "is 3, expected 4", "wrong:numbers"),
        (Status.UNSTABLE, "2 of 30 launches differ", "unstable:failure"),
        (Status.FAULTED, "an illegal memory access", "faulted:failure"),
    ],
)
def test_wrong_numbers_are_hits_by_their_pattern(
    status: Status, reason: str, fingerprint: str
) -> None:
    check = Check(status=status, where="only", reason=reason)
    for numbers, oracle in (
        (Numbers(gpu=check), Oracle.NUMBERS),
        (Numbers(interpreter=check), Oracle.INTERPRETER),
    ):
        (hit,) = judge(PROGRAM, [evolve(result("3.9.0", Status.OK), numbers=numbers)]).hits
        assert (hit.oracle, hit.fingerprint) == (oracle, fingerprint)
        assert reason in hit.reason


@pytest.mark.parametrize("status", [Status.OK, Status.UNSUPPORTED, Status.LOST])
def test_numbers_that_are_right_or_unknown_are_no_hits(status: Status) -> None:
    numbers = Numbers(gpu=Check(status=status))
    assert not judge(PROGRAM, [evolve(result("3.9.0", Status.OK), numbers=numbers)]).hits


def test_hits_with_one_fingerprint_are_one_defect_with_the_shortest_example() -> None:
    programs = sorted((generate(seed) for seed in range(4)), key=lambda each: each.statements_count)
    verdicts = [
        judge(program, [result("3.0.0", Status.CRASHED), result("3.1.0", Status.CRASHED)])
        for program in reversed(programs)
    ]
    other = judge(generate(9), [result("3.1.0", Status.CRASHED, name="other")])
    answer = HuntAnswer(
        seeds=(0, 5),
        verdicts=(*verdicts, other),
        seconds=1.0,
        envs=(),
        targets=(),
        language=PROGRAMS,
    )
    first, second = answer.defects
    assert (first.fingerprint, second.fingerprint) == ("class:1", "other:1")
    assert first.example.program == programs[0]
    assert first.seeds == tuple(sorted(program.seed for program in programs))
    assert [name.rpartition("-")[2] for name in first.envs] == ["3.0.0", "3.1.0"]
    assert answer.cells == 9


def test_a_program_that_no_release_can_have_is_not_tried() -> None:
    verdicts = (judge(PROGRAM, []), judge(PROGRAM, [result("3.9.0", Status.REJECTED)]))
    answer = HuntAnswer(
        seeds=(0, 2), verdicts=verdicts, seconds=1.0, envs=(), targets=(), language=PROGRAMS
    )
    assert (answer.tried, answer.invalid) == (verdicts[1:], verdicts[1:])


def test_coverage_counts_programs_and_those_that_compile() -> None:
    program = generate(3, only=("dot",))
    verdicts: Any = (
        judge(program, [result("3.9.0", Status.OK)]),
        judge(program, [result("3.9.0", Status.CRASHED)]),
    )
    answer = HuntAnswer(
        seeds=(0, 2), verdicts=verdicts, seconds=1.0, envs=(), targets=(), language=PROGRAMS
    )
    assert answer.coverage["dot"] == (2, 1)
