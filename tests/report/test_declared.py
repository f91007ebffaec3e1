"""Every form of the report shows that a declaration with `strict = false` also allows `ok`."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from compat.model import Check, Numbers, Status
from compat.report.render.ci import findings, junit_xml
from compat.report.summary.comparing import ReportSide, compare
from compat.report.summary.record import Report
from compat.report.views.diff import change
from compat.report.views.matrix_markdown import matrix_markdown
from tests.records import ASSERT, OK, SHAPE, TARGETS, bad, declared, env
from tests.report.drawn import matrix_text
from tests.report.factory import always, report, results_of

LOOSE = evolve(declared(SHAPE), strict=False)
SAID = "ok, or rejected (shape-mismatch)"


def one(outcome: Any, expectation: Any = LOOSE) -> Report:
    return report(
        results_of(
            "k",
            "v",
            always(outcome),
            envs=[env("3.1.0")],
            targets=TARGETS[:1],
            expect=[expectation],
        )
    )


def test_an_unexpected_cell_has_its_declaration() -> None:
    crash_report = one(bad(ASSERT, Status.CRASHED))
    assert f"expected {SAID}, got crashed" in matrix_text(crash_report, width=120)
    assert f"expected **{SAID}**, got **crashed" in matrix_markdown(crash_report)
    assert f"expected {SAID}, got crashed" in junit_xml(crash_report)
    (finding,) = findings(crash_report)
    assert any(f"expected {SAID}" in line for line in finding.body)
    strict = one(bad(ASSERT, Status.CRASHED), declared(SHAPE))
    assert "expected rejected (shape-mismatch), got crashed" in matrix_text(strict, width=120)


@pytest.mark.parametrize(
    ("expectation", "declaration"), [(LOOSE, SAID), (declared(SHAPE), "rejected (shape-mismatch)")]
)
def test_a_skipped_test_has_its_declaration(expectation: Any, declaration: str) -> None:
    assert f'message="declared {declaration}, got rejected (shape-mismatch)"' in junit_xml(
        one(bad(SHAPE), expectation)
    )


def test_declared_numbers_have_their_declaration() -> None:
    def matrix_line(strict: bool) -> str:
        expectation = evolve(LOOSE, status=Status.WRONG, failure_class=None, strict=strict)
        base_report = one(OK, expectation)
        wrong = Numbers(interpreter=Check(status=Status.WRONG, max_abs=1.0, max_rel=1.0))
        (result,) = (evolve(cell_result, numbers=wrong) for cell_result in base_report.results)
        assert result.expected
        return matrix_text(report([result]), width=120)

    assert "declared ok, or wrong: k/v" in matrix_line(strict=False)
    assert "declared wrong: k/v" in matrix_line(strict=True)


def test_a_declared_change_has_its_declaration() -> None:
    def matrix_line(expectation: Any) -> str:
        old, new = (
            ReportSide(name=str(outcome.status), report=one(outcome, expectation))
            for outcome in (OK, bad(SHAPE))
        )
        (difference,) = compare(old, new).differences
        return change(difference)

    assert matrix_line(LOOSE) == f"ok → rejected (shape-mismatch); its kernel file declares {SAID}"
    assert (
        matrix_line(declared(SHAPE))
        == "ok → rejected (shape-mismatch), as its kernel file declares"
    )
