"""Decisions about the launches of a candidate, made without a launch."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from compat.launch.hosting import COMPARED, Behaviour, BuildComparison
from compat.reduce.numbers import DifferenceKind, LaunchDifference
from tests.together import for_each

GOOD = Behaviour(good=True, launches=120, differing=0, finite=True, wrote=True, outside="", off=0.0)
BAD = evolve(GOOD, good=False, off=0.5)


def compared(*behaviours: Behaviour, status: str = COMPARED) -> BuildComparison:
    return BuildComparison(status=status, behaviours=behaviours)


def wrong(**facts: Any) -> Behaviour:
    return evolve(BAD, **facts)


@for_each(
    ("kind", "behaviours", "expected"),
    [
        (DifferenceKind.WRONG, (GOOD, BAD), True),
        (DifferenceKind.WRONG, (GOOD, wrong(off=0.0)), False),
        # Less than a tenth of the error of the kernel itself.
        (DifferenceKind.WRONG, (GOOD, wrong(off=0.04)), False),
        (DifferenceKind.WRONG, (GOOD, wrong(off=0.05)), True),
        (DifferenceKind.WRONG, (GOOD, BAD, wrong(off=0.0)), False),  # off in only one of two
        (DifferenceKind.WRONG, (GOOD, wrong(outside="wrote outside of out")), False),
        (DifferenceKind.WRONG, (evolve(GOOD, outside="it changed an input"), BAD), False),
        (DifferenceKind.WRONG, (evolve(GOOD, differing=1), BAD), False),
        (DifferenceKind.WRONG, (evolve(GOOD, reads_outside=True), BAD), False),
        (DifferenceKind.WRONG, (evolve(GOOD, finite=False), BAD), False),
        (DifferenceKind.WRONG, (evolve(GOOD, wrote=False), BAD), False),
        (DifferenceKind.WRONG, (GOOD, evolve(GOOD, off=0.1), BAD), False),  # the good ones differ
        (DifferenceKind.WRONG, (GOOD,), False),
        (DifferenceKind.UNSTABLE, (GOOD, wrong(differing=1, off=0.0)), True),
        (DifferenceKind.UNSTABLE, (GOOD, BAD), False),
        (DifferenceKind.UNSTABLE, (evolve(GOOD, differing=2), wrong(differing=20)), False),
    ],
)
def test_a_candidate_is_interesting_if_it_differs_like_the_original(
    kind: DifferenceKind, behaviours: tuple[Behaviour, ...], expected: bool
) -> None:
    difference = LaunchDifference(kind=kind).like(compared(GOOD, BAD))
    assert difference.is_in(compared(*behaviours)) is expected


@pytest.mark.parametrize("status", ["faulted", "timed_out", "launch_refused", "lost"])
def test_a_candidate_that_cannot_be_launched_is_not_interesting(status: str) -> None:
    assert not LaunchDifference(kind=DifferenceKind.WRONG).is_in(compared(GOOD, BAD, status=status))


def test_a_huge_original_error_requires_an_error_of_only_a_tenth() -> None:
    assert LaunchDifference(kind=DifferenceKind.WRONG).like(
        compared(GOOD, wrong(off=1e30))
    ).least == pytest.approx(0.1)


@for_each(
    ("behaviours", "reason"),
    [
        ((GOOD, wrong(outside="wrote outside of out")), "wrote outside of out"),
        ((evolve(GOOD, differing=1), BAD), "launches differ in a good release, too"),
        ((evolve(GOOD, finite=False), BAD), "a good release computes infinities or NaNs"),
        ((GOOD, evolve(GOOD, off=0.1), BAD), "the good releases differ from each other"),
        ((GOOD, wrong(off=0.0)), "no output that the problem names differed beyond its tolerance"),
    ],
)
def test_the_explanation_names_the_reason_for_a_refusal(
    behaviours: tuple[Behaviour, ...], reason: str
) -> None:
    assert LaunchDifference(kind=DifferenceKind.WRONG).explain(compared(*behaviours)) == reason
