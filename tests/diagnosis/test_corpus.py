"""The outcomes of the corpus of mistakes and features.

The corpus has hundreds of small kernels, whose failures were captured on real wheels. ``python -m
tests.diagnosis.corpus`` compiles it again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache

from compat.diagnosis.classify import classify
from compat.model import Failure, Outcome, Target
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.diagnosis.captured_failures import evidence_of
from tests.diagnosis.corpus import kernels, targets
from tests.diagnosis.corpus._kept import captured_failures

FRONT_END = ("source", "ast")
_UNSUPPORTED = ("toolchain-missing", "target-unknown")


@cache
def outcomes() -> list[tuple[str, list[tuple[str, str]], Outcome]]:
    """What was compiled, the releases and targets where it was seen, and its outcome."""
    every = targets()
    entries = []
    for captured_failure in captured_failures():
        attempts = [evidence_of(attempt) for attempt in captured_failure["attempts"]]
        seen = [(release, target) for release, target in captured_failure["seen"]]
        target: Target = every[seen[0][1]]
        entries.append(
            (
                ".".join(captured_failure["what"]),
                seen,
                classify(attempts, target=target, knowledge=KNOWLEDGE),
            )
        )
    return entries


def failures() -> list[tuple[str, list[tuple[str, str]], Failure]]:
    return [(what, seen, outcome.failure) for what, seen, outcome in outcomes() if outcome.failure]


def test_failures_of_the_corpus_equal_the_golden_file(golden: Callable[[str, str], None]) -> None:
    """The golden file has the class and fingerprint of each failure, for a reviewer to read."""
    lines = []
    for what, seen, outcome in outcomes():
        failure = outcome.failure
        assert failure is not None, what
        place = f"{min(seen)[0]}@{min(seen)[1]}"
        lines.append(
            f"{what} {failure.stage} {place} {len(seen)}: {outcome.status} {failure.fingerprint}\n"
        )
    golden("corpus.txt", "".join(sorted(lines)))


def test_few_cells_are_unclassified() -> None:
    cells = Counter[str]()
    for _, seen, failure in failures():
        cells[failure.failure_class] += len(seen)
    assert cells.total() > 5000
    assert cells["unclassified"] / cells.total() < 0.005


def test_few_cells_have_the_class_of_last_resort() -> None:
    """The class of last resort for operands has its own few defects, and not a third of all."""
    cells = Counter(failure.failure_class for _, seen, failure in failures() for _ in seen)
    assert cells["type-error"] / cells.total() < 0.05


def test_a_failure_in_the_front_end_names_its_line() -> None:
    nowhere = [
        what
        for what, _, failure in failures()
        if failure.stage in FRONT_END and not failure.location
    ]
    assert [what for what in nowhere if not _is_unsupported(what)] == []


def _is_unsupported(what: str) -> bool:
    return any(
        name == what and failure.failure_class in _UNSUPPORTED for name, _, failure in failures()
    )


def test_undefined_names_are_recognised_wherever_they_are() -> None:
    """The compiler prints a long kernel whole if the offending part has no line of its own.

    The cause stands below the kernel.
    """
    name_failures = {
        what: failure
        for what, _, failure in failures()
        if "undefined_" in what and "default" not in what
    }
    assert len(name_failures) == 7
    assert {failure.failure_class for failure in name_failures.values()} == {"undefined-name"}
    for failure in name_failures.values():
        assert "is not defined" in failure.excerpt


def test_one_undefined_name_has_one_fingerprint() -> None:
    fingerprints = defaultdict(set)
    for _, _, failure in failures():
        if failure.failure_class == "undefined-name" and "b_ps" in failure.excerpt:
            fingerprints["b_ps"].add(failure.fingerprint)
    assert len(fingerprints["b_ps"]) == 1


def test_conversions_that_llvm_does_not_lower_differ_by_their_types() -> None:
    """The same error of LLVM ends a dot on sm_75 in 3.3 and casts of fp64 in all releases."""
    crashes = {
        name: {
            failure.fingerprint
            for what, _, failure in failures()
            if what == name and failure.failure_class == "compiler-assert"
        }
        for name in ("dots.dot.fp16", "dots.to_fp8e5.fp64", "dots.to_fp8e4nv.fp64")
    }
    # MLIR calls the type of the last one f8E4M3FNUZ up to 3.1, and f8E4M3FN later.
    assert [len(fingerprints) for fingerprints in crashes.values()] == [1, 1, 1]
    assert len(set.union(*crashes.values())) == 3


def test_corpus_has_at_least_500_kernels() -> None:
    assert sum(map(len, kernels().values())) >= 500
