"""The findings that GitHub and GitLab show beside the source.

The tests compare goldens and places, and check that no text ends a workflow command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from compat.model import Status
from compat.report.document import dump, matrix_document
from compat.report.loading import load_report
from compat.report.render.ci import (
    MOST,
    code_quality,
    findings,
    warnings,
    workflow_commands,
)
from compat.report.summary.compact import one_line
from compat.report.summary.record import Report
from compat.report.views.matrix_markdown import SUMMARY_LIMIT, matrix_markdown, step_summary
from compat.text import write_json
from tests.records import OK, SHAPE, TARGETS, bad, env
from tests.report.factory import (
    SUSPICION,
    always,
    expected_matrix,
    report,
    results_of,
    since,
    suspected_matrix,
    troubled_matrix,
)
from tests.together import for_each

COMMAND = re.compile(
    r"::(error|warning|notice) ([a-z]+=[^:,\n\r]*(?:,[a-z]+=[^:,\n\r]*)*)::([^\n\r]*)"
)
"""The syntax of the runner's commands, as GitHub documents it."""


def troubled() -> Report:
    return evolve(troubled_matrix(), root="/")


def unescaped(text: str) -> str:
    """The text as the runner reads it."""
    for code, character in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_annotations(golden: Callable[[str, str], None]) -> None:
    golden(
        "troubled.annotations.txt",
        "".join(f"{line}\n" for line in workflow_commands(findings(troubled(), "sub/folder"))),
    )


def test_code_quality(golden: Callable[[str, str], None]) -> None:
    golden(
        "troubled.code-quality.json",
        write_json(code_quality(findings(troubled(), "sub/folder"))) + "\n",
    )


def test_a_slow_suspect_is_a_warning_beside_the_source() -> None:
    suspect_report = evolve(report(suspected_matrix()), root="/")
    assert findings(suspect_report) == ()
    (warning,) = warnings(suspect_report, "sub/folder")
    (line,) = workflow_commands([warning])
    level, properties, text = re.fullmatch(COMMAND, line).groups()  # type: ignore[union-attr]
    assert level == "warning"
    assert "file=sub/folder/" in unescaped(properties)
    assert unescaped(properties).endswith("title=k/v: likely slower, 3.8.0 → 3.9.0 (slow-suspect)")
    assert unescaped(text).splitlines() == [
        f"d64, sm_80: {SUSPICION}",
        "compat explain k/v/d64/sm_80/triton-3.9.0",
    ]
    (issue,) = code_quality([warning])
    assert issue["severity"] == "info"
    assert issue["check_name"] == "slow-suspect"


def test_warnings_leave_room_for_errors() -> None:
    (warning,) = warnings(evolve(report(suspected_matrix()), root="/"))
    many = [evolve(warning, title=f"{number}") for number in range(MOST + 2)]
    errors = findings(troubled())[:MOST]
    lines = list(workflow_commands([*many, *errors]))
    assert [line[: line.index(" ")] for line in lines] == [
        *["::error"] * len(errors),
        *["::warning"] * MOST,
        "::notice",
    ]
    assert "2 more findings" in lines[-1]


def test_an_expected_matrix_has_no_findings() -> None:
    assert findings(expected_matrix()) == ()


def test_every_unexpected_cell_is_in_a_finding() -> None:
    all_findings = findings(troubled())
    assert len(all_findings) == len({finding.identity for finding in all_findings})
    assert {finding.status for finding in all_findings} == {
        result.outcome.status for result in troubled().unexpected_results
    }


def test_ten_findings_are_shown_and_the_rest_is_counted() -> None:
    many = [
        result
        for number in range(13)
        for result in results_of(f"k{number}", "v", always(bad(SHAPE)), envs=[env("3.1.0")])
    ]
    lines = list(workflow_commands(findings(report(many))))
    assert [line.split()[0] for line in lines] == ["::error"] * MOST + ["::notice"]
    assert "3 more findings" in lines[-1]


def test_a_finding_has_a_place_only_in_the_repository() -> None:
    (result,) = results_of(
        "sel_dense", "v", always(bad(SHAPE)), envs=[env("3.1.0")], targets=TARGETS[:1]
    )
    inside = findings(evolve(report([result]), root="/kernels"), "project")
    assert [(finding.path, finding.line) for finding in inside] == [("project/sel_dense.py", 41)]
    outside = findings(evolve(report([result]), root="/home/project"))
    assert [finding.path for finding in outside] == [None]
    assert code_quality(outside) == []
    (line,) = workflow_commands(outside)
    assert line.startswith("::error title=sel_dense/v%3A rejected")


@for_each(
    ("imported", "place"),
    [
        ((), ("top/sel_dense.py", None)),
        (("lib/other.py",), ("top/sel_dense.py", None)),
        (("lib/helper.py", "lib/other.py"), ("top/lib/helper.py", 3)),
        (("lib/helper.py", "ops/helper.py"), ("top/sel_dense.py", None)),
        (("/elsewhere/helper.py",), ("top/sel_dense.py", None)),
    ],
)
def test_a_helpers_line_is_shown_only_if_one_file_has_its_name(
    imported: tuple[str, ...], place: tuple[str, int | None]
) -> None:
    (result,) = results_of(
        "sel_dense",
        "v",
        always(bad(evolve(SHAPE, location="helper.py:3"))),
        envs=[env("3.9.0")],
        targets=TARGETS[:1],
    )
    full_report = evolve(report([result]), root="/kernels", helpers={"sel_dense.py": imported})
    assert [(finding.path, finding.line) for finding in findings(full_report, "top")] == [place]
    read = load_report(dump(matrix_document(full_report)))
    assert [(finding.path, finding.line) for finding in findings(read, "top")] == [place]


@given(st.text(max_size=30), st.text(min_size=1, max_size=30), st.text(max_size=30))
def test_no_text_ends_a_command_or_begins_another(excerpt: str, name: str, reason: str) -> None:
    results = results_of(
        name,
        "v",
        always(bad(evolve(SHAPE, excerpt=excerpt, advice=reason))),
        envs=[env("3.1.0")],
        targets=TARGETS[:1],
    )
    (line,) = workflow_commands(findings(evolve(report(results), root="/kernels")))
    match = COMMAND.fullmatch(line)
    assert match
    properties = dict(pair.split("=", 1) for pair in match[2].split(","))
    assert unescaped(properties["title"]) == f"{name}/v: rejected (shape-mismatch)"
    assert reason in unescaped(match[3])


def test_an_issue_on_more_releases_keeps_its_fingerprint() -> None:
    envs = [env("3.8.0"), env("3.9.0")]
    one, other = (
        code_quality(
            findings(
                evolve(
                    report(results_of("k", "v", since(first, bad(SHAPE), OK), envs=envs)),
                    root="/kernels",
                )
            )
        )
        for first in ("3.9.0", "3.8.0")
    )
    assert [issue["fingerprint"] for issue in one] == [issue["fingerprint"] for issue in other]
    assert one != other


def test_issues_have_the_keys_that_gitlab_requires() -> None:
    issues = json.loads(write_json(code_quality(findings(troubled(), ""))))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) > 5
    for issue in issues:
        assert {"description", "check_name", "fingerprint", "severity", "location"} == set(issue)
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not issue["location"]["path"].startswith("/")
        assert issue["location"]["lines"]["begin"] >= 1


def test_a_finding_without_a_file_is_no_code_quality_issue() -> None:
    broken = [finding for finding in findings(troubled()) if finding.status is Status.ENV_BROKEN]
    assert [finding.title for finding in broken] == ["env triton-3.2.0 is broken"]
    assert code_quality(broken) == []


def test_a_summary_has_the_whole_report_or_counts_missing_sections() -> None:
    full_text = matrix_markdown(troubled())
    assert step_summary(troubled(), 0) == full_text
    little = step_summary(troubled(), SUMMARY_LIMIT - 4_000)
    assert len(little.encode()) < 4_000
    assert little.startswith(full_text[:500])
    assert re.search(r"\n\d+ sections did not fit here\. The report has them\.\n$", little)
    assert step_summary(troubled(), SUMMARY_LIMIT) == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            '    tl.static_assert(BLOCK < 128, "x")\n    ^\nCompileTimeAssertionFailure: x',
            "CompileTimeAssertionFailure: x",
        ),
        ("    y = failing(x)\n        ^\nx is not defined", "x is not defined"),
        (
            "k.py:3:4: error: too large\n  x = y\n      ^\nnote: see the operation",
            "k.py:3:4: error: too large",
        ),
        ("a\n" * 50_000 + "^", "^"),
    ],
)
def test_one_line_quotes_the_error_and_no_line_of_the_kernel(text: str, line: str) -> None:
    assert one_line(text) == line
