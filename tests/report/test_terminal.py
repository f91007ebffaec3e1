"""The terminal report: goldens at 100 columns, and that it fits whatever it is given."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from compat.model import Failure
from compat.report import Report
from compat.report.terminal import TerminalReport, matrix_text, total
from tests.report.factory import OK, always, bad, env, expected_matrix, report, tried, troubled_matrix


def test_expected(golden: Callable[[str, str], None]) -> None:
    golden("expected.txt", matrix_text(expected_matrix(), width=100))


def test_expected_where_a_column_per_release_fits(golden: Callable[[str, str], None]) -> None:
    golden("expected-120.txt", matrix_text(expected_matrix(), width=120))


def test_troubled(golden: Callable[[str, str], None]) -> None:
    golden("troubled.txt", matrix_text(troubled_matrix(), width=100))


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("make", [expected_matrix, troubled_matrix])
def test_never_wider_than_the_terminal(make: Callable[[], Report], width: int) -> None:
    text = matrix_text(make(), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text.split("distinct failure")[0], "a table that cuts its words short"


def test_a_column_per_release_where_there_is_room_else_intervals() -> None:
    assert "rej F1 3.0.0–3.9.0 (all)" in matrix_text(expected_matrix(), width=80)
    assert "rej  rej  rej" in matrix_text(expected_matrix(), width=130)


def test_colour_says_nothing_that_words_do_not() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system="standard", legacy_windows=False, _environ={})
    console.print(TerminalReport(report=troubled_matrix()))
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert bare != out.getvalue()
    assert [line.rstrip() for line in bare.splitlines()] == matrix_text(troubled_matrix(), width=100).splitlines()


def test_markup_in_what_compilers_say_is_text() -> None:
    failing = bad(
        Failure(failure_class="unclassified", stage="ttir", fingerprint="[/bold]", excerpt="[red]error[/red]", advice="[b]x")
    )
    text = matrix_text(report(tried("k", "v[0]", always(failing), envs=[env("3.1.0")])))
    assert "[red]error[/red]" in text
    assert "v[0]" in text
    assert "[/bold]" in text


def test_total_says_what_was_unexpected() -> None:
    fine = report(tried("k", "v", always(OK), envs=[env("3.1.0"), env("3.2.0")]))
    assert total(fine) == "4 cells in 41.2 s (0 from the store): 4 ok; all as expected"
    assert "39 cells UNEXPECTED" in total(troubled_matrix())


def test_nothing_tried() -> None:
    assert matrix_text(report([])) == "\n0 cells in 41.2 s (0 from the store): nothing; all as expected\n"
