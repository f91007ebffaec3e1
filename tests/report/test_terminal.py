"""The terminal report: goldens at several widths, and no line wider than the terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from attrs import evolve
from packaging.version import Version
from rich.console import Console

from compat.history.verdict import verdicts
from compat.model import Failure, Outcome, Target
from compat.report.render.terminal import NATURAL, Picture, cropped_text
from compat.report.summary.record import Report
from compat.report.views.matrix import matrix_blocks, running_blocks, total
from compat.report.views.matrix_markdown import matrix_markdown
from tests.records import OK, RELEASES, SHAPE, bad, env
from tests.report.drawn import matrix_text
from tests.report.factory import (
    SUSPICION,
    always,
    expected_matrix,
    report,
    results_of,
    suspected_matrix,
    troubled_matrix,
)


def test_report_of_expected_matrix_matches_golden(golden: Callable[[str, str], None]) -> None:
    golden("expected.txt", matrix_text(expected_matrix(), width=100))


@pytest.mark.parametrize("width", [80, 120, 160])
def test_expected_matrix_matches_golden_at_the_widths_of_terminals(
    width: int, golden: Callable[[str, str], None]
) -> None:
    golden(f"expected-{width}.txt", matrix_text(expected_matrix(), width=width))


def test_report_of_a_stopped_run_matches_golden(golden: Callable[[str, str], None]) -> None:
    golden("stopped.txt", matrix_text(stopped(), width=120))


def test_rows_of_a_running_matrix_fit_on_the_terminal() -> None:
    matrix, results = expected_matrix(), stopped().results
    every = [result.cell for result in matrix.results]
    for height in (8, 12, 50):
        console = Console(width=100, height=height, file=io.StringIO(), force_terminal=True)
        lines = cropped_text(running_blocks(results, every), console).plain.splitlines()
        assert len(lines) <= max(1, height - 4)
        assert max(map(len, lines)) <= 100
    assert "not compiled yet" in "\n".join(lines)
    assert "verdict" not in "\n".join(lines)


def test_a_release_has_one_column_while_it_is_compiled() -> None:
    """An env of 3.1 has the release 3.1.0 once it is built."""
    built = evolve(env("3.1.0"), env=env("3.1").env)
    done, *pending = results_of("k", "v", always(OK), envs=[built])
    running = evolve(report([done]), pending=tuple(result.cell for result in pending))
    assert [release.label for release in running.releases] == ["3.1.0"]
    assert {release for _, release in running.pending_places} == {"3.1.0"}


def stopped() -> Report:
    """A matrix with the results of the oldest and the newest release, and part of another."""
    matrix = expected_matrix()
    done = [result for result in matrix.results if result.built.release in ("3.0.0", "3.9.0")]
    done += [result for result in matrix.results if result.built.release == "3.8.0"][:4]
    pending = tuple(result.cell for result in matrix.results if result not in done)
    existing = {"triton": tuple(map(Version, RELEASES))}
    return evolve(
        matrix,
        results=tuple(done),
        verdicts=verdicts(done, existing=existing),
        existing=existing,
        pending=pending,
    )


def test_messages_that_differ_between_targets_are_shown_per_target() -> None:
    def fate(release: str, target: Target) -> Outcome:
        return bad(evolve(SHAPE, excerpt=f"error: {target.shared_memory} bytes"))

    text = matrix_text(report(results_of("k", "v", fate, envs=[env("3.1.0")])), width=120)
    assert "says   sm_80: error: 166912 bytes" in text
    assert "          sm_90: error: 232448 bytes" in text


def test_report_of_troubled_matrix_matches_golden(golden: Callable[[str, str], None]) -> None:
    golden("troubled.txt", matrix_text(troubled_matrix(), width=100))


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("make", [expected_matrix, troubled_matrix])
def test_report_is_never_wider_than_the_terminal(make: Callable[[], Report], width: int) -> None:
    text = matrix_text(make(), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text.split("distinct failure")[0], "a table that cuts its words short"


def test_wide_terminals_show_a_column_per_release_and_narrow_ones_intervals() -> None:
    assert "rej F1 3.0.0–3.9.0 (all)" in matrix_text(expected_matrix(), width=80)
    assert "rej  rej  rej" in matrix_text(expected_matrix(), width=130)


def test_of_many_cases_the_first_are_named_and_the_others_counted() -> None:
    names = [f"128x{side}x64_w4_s3" for side in range(16, 80)]
    envs = [env(release) for release in RELEASES]
    results = [
        *results_of("gemm", "loop", always(bad(SHAPE)), envs=envs, cases=names),
        *results_of("gemm", "loop", always(OK), envs=envs, cases=["other"]),
    ]
    text = matrix_text(report(results), width=NATURAL)
    grid, _, failures = text.partition("distinct failure")
    assert {*names[:8], "56"} <= {*grid.split()}
    assert names[8] not in text
    assert max(map(len, grid.splitlines())) < 200
    assert f"gemm/loop ({', '.join(names[:8])}, 56 more): 3.0.0" in " ".join(failures.split())
    markdown = matrix_markdown(report(results))
    assert f"`loop` ({', '.join(names[:8])}, 56 more)" in markdown.replace("\\_", "_")
    assert names[8] not in markdown


def test_text_is_the_same_without_colour() -> None:
    out = io.StringIO()
    console = Console(
        file=out,
        width=100,
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        _environ={},
    )
    console.print(Picture(lambda: matrix_blocks(troubled_matrix())))
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert bare != out.getvalue()
    assert [line.rstrip() for line in bare.splitlines()] == matrix_text(
        troubled_matrix(), width=100
    ).splitlines()


def test_markup_in_compiler_messages_is_printed_as_text() -> None:
    failing = bad(
        Failure(
            failure_class="unclassified",
            stage="ttir",
            fingerprint="[/bold]",
            excerpt="[red]error[/red]",
            advice="[b]x",
        )
    )
    text = matrix_text(report(results_of("k", "v[0]", always(failing), envs=[env("3.1.0")])))
    assert "[red]error[/red]" in text
    assert "v[0]" in text
    assert "[/bold]" in text


def test_total_counts_unexpected_cells() -> None:
    fine = report(results_of("k", "v", always(OK), envs=[env("3.1.0"), env("3.2.0")]))
    assert total(fine) == "4 cells in 41.2 s (0 from the store): 4 ok; all as expected"
    assert "39 cells UNEXPECTED" in total(troubled_matrix())


def test_report_without_cells_has_only_the_total() -> None:
    assert (
        matrix_text(report([]))
        == "\n0 cells in 41.2 s (0 from the store): nothing; all as expected\n"
    )


def test_slow_suspect_is_a_warning_and_not_a_failure() -> None:
    matrix = report(suspected_matrix())
    text = " ".join(matrix_text(matrix).split())
    assert "Likely slower than on the previous release (slow-suspect)" in text
    assert f"k/v/d64/sm_80/triton-3.9.0: {SUSPICION}" in text
    assert text.count("likely 1.5 times") == 1
    assert text.endswith("6 ok; all as expected")
    assert f"- `k/v/d64/sm_80/triton-3.9.0`: {SUSPICION}" in matrix_markdown(matrix)
