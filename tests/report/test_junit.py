"""JUnit XML: golden, valid for existing readers, and read back.

It is safe with any text of a compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, fromstring

import junitparser
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from compat.model import Expectation, Status
from compat.report.render.ci import junit_xml
from compat.report.summary.record import Report
from tests.records import LOST, OK, SHAPE, TARGETS, bad, declared, env
from tests.report.factory import (
    SUSPICION,
    UNSTABLE,
    always,
    expected_matrix,
    launched,
    report,
    results_of,
    suspected_matrix,
    troubled_matrix,
)

if TYPE_CHECKING:
    from xmlschema import XMLSchema


@cache
def schema() -> XMLSchema:
    """The schema of JUnit XML.

    Only a process that needs it reads it: every process that runs tests imports this module.
    """
    from xmlschema import XMLSchema

    return XMLSchema(Path(__file__).parent / "junit.xsd")


def cases(report: Report) -> list[Element]:
    text = junit_xml(report)
    schema().validate(text)
    return list(fromstring(text).iter("testcase"))


def test_troubled(golden: Callable[[str, str], None]) -> None:
    golden("troubled.junit.xml", junit_xml(troubled_matrix()))


@pytest.mark.parametrize("make", [expected_matrix, troubled_matrix, lambda: report([])])
def test_junit_xml_is_valid_and_has_every_cell(make: Callable[[], Report]) -> None:
    report = make()
    assert [f"{case.get('classname')}/{case.get('name')}" for case in cases(report)] == [
        result.cell.id for result in report.ordered_results
    ]


def test_a_slow_suspect_is_output_of_a_passing_test_case() -> None:
    outputs = {
        f"{case.get('classname')}/{case.get('name')}": [(one.tag, one.text) for one in case]
        for case in cases(report(suspected_matrix()))
    }
    assert {cell: output for cell, output in outputs.items() if output} == {
        "k/v/d64/sm_80/triton-3.9.0": [("system-out", f"slow-suspect: {SUSPICION}")]
    }


def test_a_reader_counts_the_same_results_as_the_report() -> None:
    report = troubled_matrix()
    read = junitparser.JUnitXml.fromstring(junit_xml(report).encode())
    no_answer = [
        result for result in report.unexpected_results if not result.outcome.status.is_answer
    ]
    assert (read.tests, read.errors, read.failures) == (
        91,
        len(no_answer),
        len(report.unexpected_results) - len(no_answer),
    )
    assert sum(suite.skipped for suite in read) == sum(
        case.is_skipped for suite in read for case in suite
    )
    for suite in read:
        cases_read = list(suite)
        assert suite.tests == len(cases_read)
        assert suite.failures == sum(case.is_failure for case in cases_read)
        assert suite.errors == sum(case.is_error for case in cases_read)


@pytest.mark.parametrize(
    ("outcome", "declares", "kind"),
    [
        (OK, False, None),
        (OK, True, "failure"),
        (bad(SHAPE), False, "failure"),
        (bad(SHAPE), True, "skipped"),
        (bad(SHAPE, flaky=True), True, "failure"),
        (bad(SHAPE, Status.UNSUPPORTED), False, "skipped"),
        (evolve(OK, failure=evolve(SHAPE, prediction=True)), False, "failure"),
        (LOST, True, "error"),
        (bad(SHAPE, Status.ENV_BROKEN), False, "error"),
        (bad(SHAPE, Status.SOURCE_BROKEN), False, "error"),
    ],
)
def test_the_outcome_of_a_cell_decides_its_kind_of_test_case(
    outcome: object, declares: bool, kind: str | None
) -> None:
    expect = [declared(SHAPE, reason="It never worked.")] if declares else []
    (case,) = cases(
        report(
            results_of(
                "k",
                "v",
                always(outcome),  # type: ignore[arg-type]
                envs=[env("3.1.0")],
                targets=TARGETS[:1],
                expect=expect,
            )
        )
    )
    assert [child.tag for child in case] == ([kind] if kind else [])
    if kind == "skipped" and declares:
        assert case[0].get("message") == "It never worked."


def test_a_failure_has_its_excerpt_its_advice_and_a_command() -> None:
    (case,) = cases(
        report(results_of("k", "v", always(bad(SHAPE)), envs=[env("3.1.0")], targets=TARGETS[:1]))
    )
    text = case[0].text or ""
    for fragment in (
        SHAPE.excerpt,
        SHAPE.advice,
        SHAPE.location,
        "compat explain k/v/d64/sm_80/triton-3.1.0",
    ):
        assert fragment
        assert fragment in text
    assert (case[0].get("message") or "").startswith("expected ok, got rejected (shape-mismatch): ")


def test_failed_checks_of_numbers_are_described_and_skipped_if_declared() -> None:
    one = results_of("k", "v", always(OK), envs=[env("3.1.0")], targets=TARGETS[:1])[0]
    unstable = launched(one, check=UNSTABLE)
    (failed,) = cases(report([unstable]))
    assert (failed[0].tag, failed[0].get("type")) == ("failure", "unstable")
    assert "unstable on NVIDIA H200, 7 of 30 launches computed" in (failed[0].text or "")
    declaration = Expectation(status=Status.UNSTABLE, reason="It races.")
    (skipped,) = cases(report([evolve(unstable, expectation=declaration)]))
    assert (skipped[0].tag, skipped[0].get("message")) == ("skipped", "It races.")


def test_hostile_text_stays_text() -> None:
    hostile_text = (
        "]]></failure><failure>\x00\x1b[31m\x85\ufffe\uffff\ud800 &amp; <![CDATA[ x ]]> \r\n end"
    )
    expect = [declared(evolve(SHAPE, failure_class="other"), reason=hostile_text)]
    failing = always(bad(evolve(SHAPE, excerpt=hostile_text)))
    (case,) = cases(
        report(
            results_of(
                "k<", 'v"&', failing, envs=[env("3.1.0")], targets=TARGETS[:1], expect=expect
            )
        )
    )
    assert len(case) == 1
    text = case[0].text or ""
    assert text.startswith(
        "]]></failure><failure>\\x00\\x1b[31m\\x85\\ufffe\\uffff\\ud800 &amp; <![CDATA[ x ]]>"
        " \n end"
    )
    assert case.get("classname") == 'k</v"&/d64'


@given(st.text(max_size=40))
def test_any_text_can_be_read_back(excerpt: str) -> None:
    (case,) = cases(
        report(
            results_of(
                "k",
                "v",
                always(bad(evolve(SHAPE, excerpt=excerpt))),
                envs=[env("3.1.0")],
                targets=TARGETS[:1],
            )
        )
    )
    assert "compat explain" in (case[0].text or "")
