"""Markdown of more cells than anybody reads row by row.

Its counts add up, and code forges show the file.
"""

from __future__ import annotations

import re

import pytest
from attrs import evolve

from compat.model import Status
from compat.report.summary.record import Report
from compat.report.views import matrix_markdown as markdown
from compat.report.views.matrix_markdown import matrix_markdown
from tests.records import OK, SHAPE, bad, env
from tests.report.factory import always, expected_matrix, report, results_of
from tests.report.synthetic import synthetic


def as_folded(report: Report, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(markdown, "MANY", 1)
    return matrix_markdown(report)


def number(text: str) -> int:
    return int(text.replace(",", "") or 0)


def test_every_cell_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    report = synthetic(2_400)
    text = as_folded(report, monkeypatch)
    rows = re.findall(
        r"^\| `(\S+)` \| ([\d,]+) \| ([\d,]+) \| (.*?) \| ([\d,]*) \| (.*?) ?\|$",
        text,
        re.MULTILINE,
    )
    assert sum(number(row[1]) for row in rows) == len(report.results)
    assert sum(
        number(row[2]) + sum(map(number, re.findall(r"[\d,]*\d", row[3]))) for row in rows
    ) == len(report.results)
    good = [
        result
        for result in report.results
        if result.outcome.status is Status.OK and result.outcome.failure is None
    ]
    assert sum(number(row[2]) for row in rows) == len(good)
    assert sum(number(row[4]) for row in rows) == len(report.unexpected_results)
    assert [bool(row[4]) for row in rows] == sorted((bool(row[4]) for row in rows), reverse=True)
    assert all(re.fullmatch(r"(F\d+ ?)*", row[5]) for row in rows)
    assert f"{len(report.failures)} distinct failures" in text


def test_small_reports_are_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "**Folded:**" not in matrix_markdown(expected_matrix())
    monkeypatch.setattr(markdown, "LARGE", 1_000)
    assert "**Folded:**" in matrix_markdown(expected_matrix())


def test_folded_markdown_with_very_long_names_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "k" * 3_000
    results = [
        result
        for place in range(3_000)
        for result in results_of(
            f"{long}{place}",
            "v" * 500,
            always(bad(evolve(SHAPE, fingerprint=f"shape:{place}", excerpt="x" * 5_000))),
            envs=[env("3.9.0")],
        )[:1]
    ]
    text = as_folded(report(results), monkeypatch)
    assert len(text.encode()) < markdown.LARGE
    assert "Not listed: 1,000 further kernels." in text
    assert "Not listed: 2,700 further failures." in text
    assert "Not listed: 2,700 further places." in text


def test_kernels_that_are_ok_have_only_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    text = as_folded(report(results_of("k", "v", always(OK), envs=[env("3.9.0")])), monkeypatch)
    assert "| `k` | 2 | 2 |  |  |  |" in text
    assert "## The failures" not in text
    assert "## Unexpected" not in text
