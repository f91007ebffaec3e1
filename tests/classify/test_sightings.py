"""Every class against what real toolchains said: status, class, and one fingerprint per defect."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import pytest

from compat.evidence.classify import agree, broken_env, classify
from compat.evidence.taxonomy import KINDS
from compat.model import Status
from tests.classify.sightings import Sighting, all_sightings, installers_words, said

SIGHTINGS = all_sightings()


def fingerprints() -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = defaultdict(set)
    for sighting in SIGHTINGS:
        failure = classify(sighting.attempts, target=sighting.target).failure
        found[sighting.same].add(failure.fingerprint if failure else None)
    return found


@pytest.mark.parametrize("sighting", SIGHTINGS, ids=lambda sighting: sighting.id)
class TestSighting:
    def test_is_told_for_what_it_is(self, sighting: Sighting) -> None:
        outcome = classify(sighting.attempts, target=sighting.target)
        assert said(outcome) == (sighting.status, sighting.kind)
        assert not outcome.flaky

    def test_every_attempt_tells_the_same(self, sighting: Sighting) -> None:
        for other in sighting.attempts[1:]:
            assert agree(sighting.attempts[0], other, target=sighting.target)

    def test_the_excerpt_is_short_and_free_of_stacks_and_folders(self, sighting: Sighting) -> None:
        failure = classify(sighting.attempts, target=sighting.target).failure
        assert failure is not None
        assert failure.excerpt
        assert len(failure.excerpt.splitlines()) <= 12
        for noise in ("Stack (most recent", "Traceback", 'File "', "Fatal Python error", "Repro command", "/worker/"):
            assert noise not in failure.excerpt

    def test_the_advice_is_filled_in(self, sighting: Sighting) -> None:
        failure = classify(sighting.attempts, target=sighting.target).failure
        assert failure is not None
        assert failure.advice
        assert "{" not in failure.advice


def test_one_defect_has_one_fingerprint_in_every_release() -> None:
    split = {same: found for same, found in fingerprints().items() if len(found) != 1}
    assert not split


def test_different_defects_have_different_fingerprints() -> None:
    merged = [(one, other) for (one, a), (other, b) in combinations(fingerprints().items(), 2) if a & b]
    assert not merged


def test_every_class_was_seen() -> None:
    assert {sighting.kind for sighting in SIGHTINGS} | {"install"} == set(KINDS)


def test_an_abort_and_a_failed_pass_manager_are_the_same_defect() -> None:
    scans = [sighting for sighting in SIGHTINGS if sighting.same == "scan-over-ctas"]
    assert {sighting.attempts[0].signal for sighting in scans} == {"SIGABRT", None}
    assert {classify(sighting.attempts, target=sighting.target).status for sighting in scans} == {Status.CRASHED}


def test_an_env_without_setuptools_says_so() -> None:
    broken = next(sighting for sighting in SIGHTINGS if sighting.kind == "import")
    failure = classify(broken.attempts, target=broken.target).failure
    assert failure is not None
    assert failure.excerpt == "ModuleNotFoundError: No module named 'setuptools'"
    assert "setuptools" in failure.advice


def test_an_env_that_cannot_be_made_is_told_in_the_installers_words() -> None:
    one, another, no_wheel = (broken_env(words) for words in installers_words())
    assert said(one) == ("env_broken", "install")
    assert one.failure is not None
    assert another.failure is not None
    assert no_wheel.failure is not None
    assert "no version of triton==3.99.0" in one.failure.excerpt
    assert one.failure.fingerprint == another.failure.fingerprint
    assert one.failure.fingerprint != no_wheel.failure.fingerprint
