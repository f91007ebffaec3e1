"""Which results are hits, and the answer that a hunt makes from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from compat.hunt.defects import FamilyCoverage
from compat.hunt.oracles import Oracle, ProgramVerdict, judge, what_breaks
from compat.model import Check, Numbers, Result, Status
from compat.toolchains.triton.programs.generator import generate
from compat.toolchains.triton.programs.program import BlockProgram
from tests.hunt.made import answer_of
from tests.records import OK, bad, failure
from tests.records import result as result_of
from tests.together import for_each

PROGRAM = generate(1)


def result(
    release: str, status: Status, *, name: str = "class", prediction: bool = False
) -> Result:
    if status is Status.OK:
        return result_of(OK, release)
    outcome = bad(failure(name, prediction=prediction), status)
    return result_of(outcome, release)


def judged(results: Sequence[Result], program: BlockProgram = PROGRAM) -> ProgramVerdict:
    return judge(program, [(program, results)])


def hits(*results: Result) -> list[tuple[Oracle, str]]:
    return [(hit.oracle, hit.result.cell.env.name) for hit in judged(results).hits]


@pytest.mark.parametrize("status", [Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY])
def test_crash_timeout_or_lack_of_memory_is_a_hit_by_itself(status: Status) -> None:
    verdict = judged([result("3.0.0", status)])
    assert [hit.oracle for hit in verdict.hits] == [Oracle.CRASH]
    assert verdict.is_valid


def test_rejection_is_a_hit_where_another_release_compiles() -> None:
    rejected, fine = result("3.0.0", Status.REJECTED), result("3.9.0", Status.OK)
    assert hits(rejected, fine) == [(Oracle.DISAGREEMENT, rejected.cell.env.name)]


def test_program_that_all_releases_reject_is_invalid_and_no_hit() -> None:
    verdict = judged([result("3.0.0", Status.REJECTED), result("3.9.0", Status.REJECTED)])
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
    ids=lambda case: str(case.outcome.status),
)
def test_result_that_says_nothing_about_the_program_is_no_hit(untold: Result) -> None:
    verdict = judged([untold, result("3.9.0", Status.OK)])
    assert verdict.hits == ()
    assert len(verdict.informative) == 1


@for_each(
    ("status", "reason", "fingerprint"),
    [
        (Status.WRONG, "wrote outside of y1: 1 of the elements", "wrong:outside"),
        (Status.WRONG, "is nan, expected -4", "wrong:nan"),
        (Status.WRONG, "is 3, expected 4", "wrong:numbers"),
        (Status.UNSTABLE, "2 of 30 launches differ", "unstable:failure"),
        (Status.FAULTED, "an illegal memory access", "faulted:failure"),
        (
            Status.REJECTED,
            "x.py:4: raised in the interpreter: ValueError: cannot reshape array of size 8 to 4",
            "rejected:valueerror-cannot-reshape-array-of-size",
        ),
    ],
)
def test_reason_of_a_failed_check_decides_the_fingerprint_of_its_hit(
    status: Status, reason: str, fingerprint: str
) -> None:
    check = Check(status=status, where="only", reason=reason)
    for numbers, oracle in (
        (Numbers(gpu=check), Oracle.NUMBERS),
        (Numbers(interpreter=check), Oracle.INTERPRETER),
    ):
        (hit,) = judged([evolve(result("3.9.0", Status.OK), numbers=numbers)]).hits
        assert (hit.oracle, hit.fingerprint) == (oracle, fingerprint)
        assert reason in hit.reason


@pytest.mark.parametrize("status", [Status.OK, Status.UNSUPPORTED, Status.LOST])
def test_numbers_that_are_right_or_unknown_are_no_hits(status: Status) -> None:
    numbers = Numbers(gpu=Check(status=status))
    assert not judged([evolve(result("3.9.0", Status.OK), numbers=numbers)]).hits


def test_hits_with_one_fingerprint_are_one_defect_with_the_shortest_example() -> None:
    programs = sorted(
        (generate(seed) for seed in range(4)), key=lambda program: program.statements_count
    )
    verdicts = [
        judged([result("3.0.0", Status.CRASHED), result("3.1.0", Status.CRASHED)], program)
        for program in reversed(programs)
    ]
    other = judged([result("3.1.0", Status.CRASHED, name="other")], generate(9))
    answer = answer_of(*verdicts, other)
    first, second = answer.defects
    assert (first.fingerprint, second.fingerprint) == ("class:1", "other:1")
    assert first.example.program == programs[0]
    assert first.seeds == tuple(sorted(program.seed for program in programs))
    assert [name.rpartition("-")[2] for name in first.envs] == ["3.0.0", "3.1.0"]
    assert answer.cells == 9
    assert first.limits(answer) == (None, None)


@pytest.mark.parametrize(
    ("fine", "limits"),
    [
        (("3.0.0",), ("3.0.0", None)),
        (("3.0.0", "3.2.0", "3.4.0", "3.8.0", "3.9.0"), ("3.2.0", "3.8.0")),
        (("3.9.0",), (None, "3.9.0")),
    ],
)
def test_limits_of_a_defect_are_the_neighbouring_good_releases(
    fine: tuple[str, ...], limits: tuple[str | None, str | None]
) -> None:
    results = [result(release, Status.OK) for release in fine]
    broken = [result(release, Status.CRASHED) for release in ("3.3.0", "3.7.1")]
    other = judged([result("3.3.1", Status.OK)], generate(2))
    answer = answer_of(judged([*results, *broken]), other)
    (defect,) = answer.defects
    releases = [name and name.rpartition("-")[2] for name in defect.limits(answer)]
    assert tuple(releases) == limits


def test_pre_releases_are_ordered_before_their_release() -> None:
    check = Check(status=Status.WRONG, where="only", reason="is 3, expected 4")
    wrong = [
        evolve(result(release, Status.OK), numbers=Numbers(gpu=check))
        for release in ("3.6.0", "3.6.0rc1")
    ]
    right = [result(release, Status.OK) for release in ("3.6.0.dev2", "3.6.0.post1")]
    verdict = judged([*wrong, *right])
    answer = answer_of(verdict)
    (defect,) = answer.defects
    assert defect.fingerprint == "wrong:numbers:3.6.0rc1-3.6.0"
    assert defect.envs == ("triton-3.6.0rc1", "triton-3.6.0")
    assert defect.limits(answer) == ("triton-3.6.0.dev2", "triton-3.6.0.post1")


def test_program_without_results_counts_as_not_tried() -> None:
    verdicts = (judged([]), judged([result("3.9.0", Status.REJECTED)]))
    answer = answer_of(*verdicts)
    assert (answer.informative_verdicts, answer.invalid) == (verdicts[1:], verdicts[1:])


def test_coverage_counts_programs_and_the_steps_that_they_reached() -> None:
    program = generate(3, only=("dot",))
    launched = Numbers(gpu=Check(status=Status.OK))
    verdicts: Any = (
        judged([evolve(result("3.9.0", Status.OK), numbers=launched)], program),
        judged([result("3.9.0", Status.CRASHED)], program),
        judged([], program),
    )
    answer = answer_of(*verdicts)
    assert answer.coverage["dot"] == FamilyCoverage(
        programs=2, compiled=1, interpreted=0, launched=1
    )


# --- forms and wheels -----------------------------------------------------------------------------


def test_rejection_is_a_hit_where_another_form_compiles() -> None:
    other = evolve(PROGRAM, form="warps_8")
    rejected, fine = result("3.9.0", Status.REJECTED), result("3.9.0", Status.OK)
    verdict = judge(PROGRAM, [(PROGRAM, [fine]), (other, [rejected])])
    (hit,) = verdict.hits
    assert (hit.oracle, hit.program) == (Oracle.DISAGREEMENT, other)
    assert verdict.forms == (PROGRAM, other)


def test_rejection_by_every_release_for_one_target_is_no_hit() -> None:
    fine = result("3.9.0", Status.OK)
    other = result("3.9.0", Status.REJECTED)
    target = evolve(other.cell.target, name="sm_80")
    rejected = evolve(other, cell=evolve(other.cell, target=target))
    verdict = judged([fine, rejected])
    assert verdict.is_valid
    assert not verdict.hits
    older = evolve(fine, cell=evolve(result("3.8.0", Status.OK).cell, target=target))
    (hit,) = judged([fine, rejected, older]).hits
    assert hit.result == rejected


NEW = result("3.9.0", Status.CRASHED)


@for_each(
    ("others", "breaks"),
    [
        ([result("3.8.0", Status.OK)], True),
        ([result("3.7.1", Status.CRASHED), result("3.8.0", Status.OK)], True),
        ([result("3.7.1", Status.OK), result("3.8.0", Status.CRASHED)], False),
        ([result("3.8.0", Status.REJECTED)], False),
        ([], False),
    ],
)
def test_wheel_breaks_what_the_newest_other_release_does_right(
    others: list[Result], breaks: bool
) -> None:
    verdict = what_breaks(judged([*others, NEW]), NEW.cell.env.name)
    assert [hit.result for hit in verdict.hits] == ([NEW] if breaks else [])
    assert len(verdict.results) == len(others) + 1


def test_wheel_breaks_wrong_numbers_only_if_they_were_right() -> None:
    wrong = Numbers(gpu=Check(status=Status.WRONG, reason="is 3, expected 4"))
    new = evolve(result("3.9.0", Status.OK), numbers=wrong)
    right, equal = result("3.8.0", Status.OK), evolve(result("3.8.0", Status.OK), numbers=wrong)
    name = new.cell.env.name
    assert len(what_breaks(judged([right, new]), name).hits) == 1
    assert not what_breaks(judged([equal, new]), name).hits


def test_wrong_numbers_of_other_releases_are_another_defect() -> None:
    wrong = Numbers(gpu=Check(status=Status.WRONG, reason="is 3, expected 4"))

    def launched(release: str, *, right: bool) -> Result:
        fine = result(release, Status.OK)
        return fine if right else evolve(fine, numbers=wrong)

    verdicts = [
        judged(
            [
                launched(release, right=release not in bad)
                for release in ("3.0.0", "3.1.0", "3.9.0")
            ],
            generate(seed),
        )
        for seed, bad in enumerate((("3.0.0", "3.1.0"), ("3.9.0",), ("3.0.0", "3.1.0")))
    ]
    answer = answer_of(*verdicts)
    defect_seeds = {defect.fingerprint: defect.seeds for defect in answer.defects}
    assert defect_seeds == {"wrong:numbers:3.0.0-3.1.0": (0, 2), "wrong:numbers:3.9.0": (1,)}
