"""Every failure class with evidence of real toolchains: status, class, a fingerprint per defect."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations

from compat.diagnosis.classify import agree, broken_env_outcome, classify
from compat.model import Status
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.diagnosis.captured_failures import (
    CapturedFailure,
    all_captured_failures,
    installers_words,
    status_and_class,
)
from tests.together import for_each

CAPTURED_FAILURES = all_captured_failures()


@cache
def fingerprints() -> dict[str, set[str | None]]:
    marks: dict[str, set[str | None]] = defaultdict(set)
    for captured_failure in CAPTURED_FAILURES:
        failure = classify(
            captured_failure.attempts, target=captured_failure.target, knowledge=KNOWLEDGE
        ).failure
        marks[captured_failure.same].add(failure.fingerprint if failure else None)
    return marks


@for_each("captured_failure", CAPTURED_FAILURES)
def test_a_failure_has_its_class_an_excerpt_and_advice(captured_failure: CapturedFailure) -> None:
    target = captured_failure.target
    first, *others = captured_failure.attempts
    outcome = classify(captured_failure.attempts, target=target, knowledge=KNOWLEDGE)
    assert status_and_class(outcome) == (captured_failure.status, captured_failure.failure_class)
    assert not outcome.flaky
    assert all(agree(first, other, target=target, knowledge=KNOWLEDGE) for other in others)
    assert outcome.failure is not None
    assert 1 <= len(outcome.failure.excerpt.splitlines()) <= 12
    for noise in (
        "Stack (most recent",
        "Traceback",
        'File "',
        "Fatal Python error",
        "Repro command",
        "/worker/",
    ):
        assert noise not in outcome.failure.excerpt
    assert outcome.failure.advice
    assert "{" not in outcome.failure.advice


def test_one_defect_has_one_fingerprint_in_every_release() -> None:
    split = {same: marks for same, marks in fingerprints().items() if len(marks) != 1}
    assert not split


def test_different_defects_have_different_fingerprints() -> None:
    merged = [
        (one, other) for (one, a), (other, b) in combinations(fingerprints().items(), 2) if a & b
    ]
    assert not merged


def test_every_failure_class_was_captured() -> None:
    # The first comes from an installer, and the others from numbers of kernels that compile.
    never = {
        "install",
        "sass-descriptor",
        "block-threads",
        "block-registers",
        "cluster-size",
        "tensor-memory",
    }
    assert {
        captured_failure.failure_class for captured_failure in CAPTURED_FAILURES
    } | never == set(KNOWLEDGE.by_name)


def test_an_abort_and_a_failed_pass_manager_are_both_crashes() -> None:
    scans = [
        captured_failure
        for captured_failure in CAPTURED_FAILURES
        if captured_failure.same == "scan-over-ctas"
    ]
    assert {captured_failure.attempts[0].signal for captured_failure in scans} == {"SIGABRT", None}
    assert {
        classify(
            captured_failure.attempts, target=captured_failure.target, knowledge=KNOWLEDGE
        ).status
        for captured_failure in scans
    } == {Status.CRASHED}


def test_failure_of_an_env_without_setuptools_names_setuptools() -> None:
    broken = next(
        captured_failure
        for captured_failure in CAPTURED_FAILURES
        if captured_failure.failure_class == "import"
    )
    failure = classify(broken.attempts, target=broken.target, knowledge=KNOWLEDGE).failure
    assert failure is not None
    assert failure.excerpt == "ModuleNotFoundError: No module named 'setuptools'"
    assert "setuptools" in failure.advice


def test_failed_installation_quotes_the_installer() -> None:
    one, another, no_wheel = (
        broken_env_outcome(output, KNOWLEDGE.toolchain) for output in installers_words()
    )
    assert status_and_class(one) == ("env_broken", "install")
    assert one.failure is not None
    assert another.failure is not None
    assert no_wheel.failure is not None
    assert "no version of triton==3.99.0" in one.failure.excerpt
    assert one.failure.fingerprint == another.failure.fingerprint
    assert one.failure.fingerprint != no_wheel.failure.fingerprint
