"""The large report that tests and measurements use has an example of what a report can show."""

from __future__ import annotations

from compat.model import Status
from compat.report.document import dump, matrix_document
from tests.report.synthetic import synthetic


def test_synthetic_report_is_varied_and_deterministic() -> None:
    report = synthetic(2_400)
    assert len(report.results) == 2_400
    assert set(report.counts) == set(Status) - {
        Status.UNSTABLE,
        Status.FAULTED,
        Status.LAUNCH_REFUSED,
    }
    assert {str(verdict.word) for verdict in report.verdicts} >= {
        "works",
        "needs ≥",
        "regressed in",
        "fixed in",
        "removed in",
    }
    outcomes = [result.outcome for result in report.results]
    assert any(outcome.flaky for outcome in outcomes)
    assert any(outcome.warnings for outcome in outcomes)
    assert any(outcome.failure and outcome.failure.prediction for outcome in outcomes)
    assert any(result.expectation and not result.expected for result in report.results)
    assert any(result.expectation and result.expected for result in report.results)
    assert dump(matrix_document(report)) == dump(matrix_document(synthetic(2_400)))
