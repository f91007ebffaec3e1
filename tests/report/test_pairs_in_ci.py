"""Pairs in the formats of CI systems: JUnit, annotations and the code quality report.

The tests also cover changes between two reports.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

from attrs import evolve

from compat.model import Status
from compat.pairs.records import Pair
from compat.report.render.ci import code_quality, findings, junit_xml, workflow_commands
from compat.report.summary.comparing import CellChangeKind, Comparison, ReportSide, compare
from compat.report.summary.record import Report
from compat.report.views.diff import diff_document, diff_lines, diff_markdown
from tests.pairs.made import ALL_BAD, DROPPED, GOOD, PAIRS, SWALLOWED, UNTRIED, program
from tests.records import OK, env
from tests.report.factory import always, report, results_of
from tests.report.test_junit import schema
from tests.together import for_each


def with_pairs(*pairs: Pair, cells: bool = True) -> Report:
    return evolve(
        report(results_of("k", "v", always(OK), envs=[env("3.9.0")]) if cells else []), pairs=pairs
    )


def compared(old: Report, new: Report) -> Comparison:
    return compare(ReportSide(name="old", report=old), ReportSide(name="new", report=new))


def suite(*pairs: Pair) -> Element:
    text = junit_xml(with_pairs(*pairs))
    schema().validate(text)
    element = fromstring(text).find("testsuite[@name='pair']")
    assert element is not None
    return element


def test_each_program_is_a_test_case() -> None:
    pair_suite = suite(*PAIRS)
    assert {name: pair_suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7",
        "failures": "3",
        "errors": "1",
        "skipped": "0",
    }
    names = [f"{case.get('classname')} {case.get('name')}" for case in pair_suite]
    assert names[:3] == [
        "pair/2.9.1+3.5.1 softmax",
        "pair/2.9.1+3.5.1 user_kernel",
        "pair/2.9.1+3.6.0 softmax",
    ]
    assert names[-1] == "pair/2.4.1+3.5.1 env"


def test_a_failed_program_has_its_class_and_the_command() -> None:
    (failure,) = suite(DROPPED).iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("kernel-dropped", SWALLOWED)
    assert (
        failure.text == f"{SWALLOWED}\n\nat: stage compile\n\ncompat matrix --kernel pair --envs"
        " triton-3.5.1-torch-2.9.1"
    )


def test_a_pair_that_could_not_be_tried_is_an_error() -> None:
    (error,) = suite(UNTRIED).iter("error")
    assert (error.get("type"), error.get("message")) == ("env_broken", UNTRIED.error)


def test_a_program_without_an_answer_is_an_error() -> None:
    lost = evolve(
        GOOD,
        programs=(
            program("softmax"),
            program("mm", "no-answer", "it ended without one", Status.LOST),
        ),
    )
    pair_suite = suite(lost)
    assert [(child.tag, child.get("type")) for case in pair_suite for child in case] == [
        ("error", "no-answer")
    ]
    assert (pair_suite.get("failures"), pair_suite.get("errors")) == ("0", "1")


def test_the_root_element_counts_cells_and_programs() -> None:
    root = fromstring(junit_xml(with_pairs(*PAIRS)))
    for name in ("tests", "failures", "errors"):
        assert root.get(name) == str(sum(int(testsuite.get(name, "")) for testsuite in root))
    assert root.get("failures") == "3"


def test_without_pairs_there_is_no_suite() -> None:
    assert [testsuite.get("name") for testsuite in fromstring(junit_xml(with_pairs()))] == ["k"]


def test_each_pair_that_is_not_ok_is_a_finding() -> None:
    pair_annotations = findings(with_pairs(*PAIRS))
    assert [annotation.title for annotation in pair_annotations] == [
        "pair/2.9.1+3.6.0: 1 of 2 programs failed",
        "pair/2.4.1+3.6.0: 2 of 2 programs failed",
        "pair/2.4.1+3.5.1: no cell could be tried",
    ]
    assert pair_annotations[0].body == (
        f"user_kernel: kernel-dropped: {SWALLOWED}",
        "compat matrix --kernel pair --envs triton-3.5.1-torch-2.9.1",
    )
    assert (
        pair_annotations[1].body[0]
        == "softmax, user_kernel: name-missing: ImportError: no `triton_key` | here"
    )
    assert [annotation.status for annotation in pair_annotations] == [
        Status.WRONG,
        Status.REJECTED,
        Status.ENV_BROKEN,
    ]
    assert len(list(workflow_commands(pair_annotations))) == 3
    assert code_quality(pair_annotations) == [], "it is about no file"


BROKEN_IN_36 = evolve(DROPPED, release="3.5.1")
"""DROPPED, for the same pair as GOOD."""


@for_each(
    ("old", "new", "kind", "description"),
    [
        (
            GOOD,
            BROKEN_IN_36,
            CellChangeKind.BROKEN,
            "newly broken: ok → user_kernel (kernel-dropped)",
        ),
        (
            BROKEN_IN_36,
            GOOD,
            CellChangeKind.FIXED,
            "newly fixed: user_kernel (kernel-dropped) → ok",
        ),
        (
            GOOD,
            evolve(GOOD, programs=(), error="no wheel"),
            CellChangeKind.BROKEN,
            "newly broken: ok → env broken",
        ),
        (
            evolve(GOOD, programs=(), error="no wheel"),
            GOOD,
            CellChangeKind.FIXED,
            "newly fixed: env broken → ok",
        ),
        (
            BROKEN_IN_36,
            evolve(
                BROKEN_IN_36,
                programs=(
                    BROKEN_IN_36.programs[0],
                    program("user_kernel", "name-missing", "ImportError"),
                ),
            ),
            CellChangeKind.CHANGED,
            "failing differently: user_kernel (kernel-dropped) → user_kernel (name-missing)",
        ),
    ],
)
def test_changed_pairs_are_listed_and_gate(
    old: Pair, new: Pair, kind: CellChangeKind, description: str
) -> None:
    comparison = compared(with_pairs(old), with_pairs(new))
    lines = list(diff_lines(comparison))
    assert lines[lines.index("pairs of a PyTorch and a release") + 1 :][:2] == [
        "  pair/2.9.1+3.5.1",
        f"    {description}",
    ]
    assert diff_document(comparison)["pairs"][0]["kind"] == str(kind)
    assert f"**`pair/2.9.1+3.5.1`** {description.split(' (', maxsplit=1)[0]}" in diff_markdown(
        comparison
    )
    assert comparison.count_gated({kind}) == 1
    assert comparison.count_gated(set(CellChangeKind) - {kind}) == 0


def test_pairs_that_are_the_same_or_in_one_report_only_are_no_change() -> None:
    again = evolve(
        GOOD,
        seconds=99.0,
        cached=True,
        programs=(*GOOD.programs, program("mm", "name-missing", "ImportError")),
    )
    comparison = compared(with_pairs(GOOD, ALL_BAD), with_pairs(again, DROPPED))
    assert comparison.pairs == ()
    assert "pair" not in "\n".join(diff_lines(comparison))


def test_the_last_line_counts_changed_pairs() -> None:
    comparison = compared(with_pairs(GOOD), with_pairs(BROKEN_IN_36))
    assert list(diff_lines(comparison))[-1].endswith(
        "that both reports have. Pairs with PyTorch: 1 newly broken."
    )
    alone = compared(with_pairs(GOOD, cells=False), with_pairs(BROKEN_IN_36, cells=False))
    assert list(diff_lines(alone))[-1] == "Pairs with PyTorch: 1 newly broken."
