"""The explanation of a cell, as lines."""

from __future__ import annotations

from compat.explain import Explanation
from compat.model import Evidence
from compat.report.views.explanation import (
    explanation_document,
    explanation_lines,
    wrap_lines,
)
from tests.records import OK, env, result


def lines_of(*attempts: Evidence) -> list[str]:
    cell_result = result(OK)
    explanation = Explanation(
        cell=cell_result.cell,
        built=env("3.1.0"),
        attempts=attempts,
        result=cell_result,
        verdict=None,
    )
    return [line.strip() for line in explanation_lines(explanation)]


def test_the_time_after_which_an_attempt_was_stopped_is_rounded() -> None:
    attempt = Evidence(answered=False, deadline=13.981631927999842, stage="mlir", seconds=14.02)
    assert "1. in a batch: stopped after 14 s in stage mlir, 14.02 s" in lines_of(attempt)


def test_a_kernel_without_arguments_has_no_signature() -> None:
    assert "signature: none" in lines_of()


def test_a_narrow_terminal_breaks_words_but_neither_code_nor_commands() -> None:
    lines = [
        "kernel/variant/case/sm_90/env",
        "  evidence:",
        "    x = f(aaaa, bbbb)",
        "  advice:",
        "    Give every term its axis.",
        "  again:",
        "    compat matrix --kernel kernel",
    ]
    assert list(wrap_lines(lines, 20)) == [
        "kernel/variant/case/sm_90/env",
        "  evidence:",
        "    x = f(aaaa, bbbb)",
        "  advice:",
        "    Give every term",
        "      its axis.",
        "  again:",
        "    compat matrix --kernel kernel",
    ]


def test_the_explanation_says_why_code_is_likely_slower() -> None:
    cell_result = result(OK)
    suspicion = "likely 1.5 times slower than on 3.8.0: 1 block per multiprocessor instead of 2"
    explanation = Explanation(
        cell=cell_result.cell,
        built=env("3.1.0"),
        attempts=(),
        result=cell_result,
        verdict=None,
        slow_suspect=suspicion,
    )
    lines = [line.strip() for line in explanation_lines(explanation)]
    assert lines[lines.index("slow-suspect:") + 1] == suspicion
    assert explanation_document(explanation)["slow_suspect"] == suspicion
