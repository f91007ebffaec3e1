"""What launches of a candidate mean, decided without launching any."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from compat.launch.behaviour import COMPARED, Behaviour, Compared
from compat.reduce.differing import Difference, Kind

GOOD = Behaviour(good=True, launches=120, differing=0, finite=True, wrote=True, outside="", off=0.0)
BAD = evolve(GOOD, good=False, off=0.5)


def compared(*behaviours: Behaviour, status: str = COMPARED) -> Compared:
    return Compared(status=status, behaviours=behaviours)


def wrong(**facts: Any) -> Behaviour:
    return evolve(BAD, **facts)


@pytest.mark.parametrize(
    ("kind", "behaviours", "expected"),
    [
        (Kind.WRONG, (GOOD, BAD), True),
        (Kind.WRONG, (GOOD, wrong(off=0.0)), False),
        (Kind.WRONG, (GOOD, wrong(off=0.04)), False),  # less than a tenth of what the kernel itself is off
        (Kind.WRONG, (GOOD, wrong(off=0.05)), True),
        (Kind.WRONG, (GOOD, BAD, wrong(off=0.0)), False),  # in one of two
        (Kind.WRONG, (GOOD, wrong(outside="wrote outside of out")), False),
        (Kind.WRONG, (evolve(GOOD, outside="it changed an input"), BAD), False),
        (Kind.WRONG, (evolve(GOOD, differing=1), BAD), False),
        (Kind.WRONG, (evolve(GOOD, reads_outside=True), BAD), False),
        (Kind.WRONG, (evolve(GOOD, finite=False), BAD), False),
        (Kind.WRONG, (evolve(GOOD, wrote=False), BAD), False),
        (Kind.WRONG, (GOOD, evolve(GOOD, off=0.1), BAD), False),  # the good ones differ
        (Kind.WRONG, (GOOD,), False),
        (Kind.UNSTABLE, (GOOD, wrong(differing=1, off=0.0)), True),
        (Kind.UNSTABLE, (GOOD, BAD), False),
        (Kind.UNSTABLE, (evolve(GOOD, differing=2), wrong(differing=20)), False),
    ],
)
def test_what_is_interesting(kind: Kind, behaviours: tuple[Behaviour, ...], expected: bool) -> None:
    difference = Difference(kind=kind).like(compared(GOOD, BAD))
    assert difference.is_in(compared(*behaviours)) is expected


@pytest.mark.parametrize("status", ["faulted", "timed_out", "launch_refused", "lost"])
def test_what_could_not_be_launched_is_not(status: str) -> None:
    assert not Difference(kind=Kind.WRONG).is_in(compared(GOOD, BAD, status=status))


def test_what_is_no_number_needs_no_more_than_a_tenth() -> None:
    assert Difference(kind=Kind.WRONG).like(compared(GOOD, wrong(off=1e30))).least == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("behaviours", "words"),
    [
        ((GOOD, wrong(outside="wrote outside of out")), "wrote outside of out"),
        ((evolve(GOOD, differing=1), BAD), "launches differ in a good release, too"),
        ((evolve(GOOD, finite=False), BAD), "a good release computes what is no number"),
        ((GOOD, evolve(GOOD, off=0.1), BAD), "the good releases differ from each other"),
        ((GOOD, wrong(off=0.0)), "the numbers did not differ beyond the tolerance"),
    ],
)
def test_why_not(behaviours: tuple[Behaviour, ...], words: str) -> None:
    assert Difference(kind=Kind.WRONG).words(compared(*behaviours)) == words
