"""Pairs in every form of the report."""

from __future__ import annotations

import json
from itertools import permutations

from attrs import evolve
from jsonschema import Draft202012Validator

from compat.pairs.records import Grid, Pair
from compat.report.document import dump, matrix_document, schema
from compat.report.loading import load_report, load_reports
from compat.report.render.page import matrix_html
from compat.report.views.envs import cell_of, grid_document, notes_of, pairs_markdown
from compat.report.views.matrix_markdown import headline, matrix_markdown
from tests.pairs.made import ALL_BAD, DROPPED, GOOD, PAIRS, SWALLOWED, UNTRIED, program
from tests.records import OK, env
from tests.report.drawn import matrix_text
from tests.report.factory import always, report, results_of

GRID = Grid(
    pairs=PAIRS,
    pins={"2.9.1": "3.5.1", "2.4.1": None},
    classes={"kernel-dropped": "it is dropped"},
    title="Triton",
)


def test_each_failure_has_one_note() -> None:
    first, second = notes_of(PAIRS)
    assert (first.number, first.failure_class, first.which) == (1, "kernel-dropped", "user_kernel")
    assert (second.pairs, second.which) == (("2.4.1+3.6.0",), "all programs")
    cells = [cell_of(pair, (first, second)) for pair in (*PAIRS, None)]
    assert cells == ["ok", "1 (1)", "2 (2)", "env", "-"]


def test_failed_and_untried_pairs_are_not_ok() -> None:
    assert [pair for pair in PAIRS if not pair.ok] == [DROPPED, ALL_BAD, UNTRIED]
    assert not evolve(GOOD, programs=()).ok


def test_pairs_md_has_the_table_and_the_notes() -> None:
    text = pairs_markdown(GRID, "1.2.3")
    assert "| PyTorch | asks for Triton | 3.5.1 | 3.6.0 |" in text
    assert "| 2.4.1 | ? | env | 2 (2) |" in text
    assert "| 2.9.1 | 3.5.1 | **ok** | 1 (1) |" in text
    assert (
        f"- **1** `kernel-dropped` (it is dropped): `{SWALLOWED}`. user_kernel; 2.9.1+3.6.0" in text
    )
    assert "``ImportError: no `triton_key` | here``" in text
    assert "2.4.1+3.5.1 could not be tried: `no wheel" in text


def test_names_of_programs_are_literal() -> None:
    failed = evolve(DROPPED, programs=(GOOD.programs[0], program("*one*", "name-missing", "x")))
    assert r"`name-missing`: `x`. \*one\*; 2.9.1+3.6.0" in pairs_markdown(
        evolve(GRID, pairs=(failed,)), "1.2.3"
    )


def test_every_form_of_the_report_has_the_pairs() -> None:
    pair_report = evolve(report(results_of("k", "v", always(OK), envs=[env("3.5.1")])), pairs=PAIRS)
    assert "1 of 4 pairs of PyTorch and a release is ok." in headline(pair_report)
    assert "## PyTorch with Triton" in matrix_markdown(pair_report)
    text = matrix_text(pair_report)
    assert "kernel-dropped" in text
    assert "1 of 4 pairs ok, which is UNEXPECTED" in text
    page = matrix_html(pair_report)
    assert '<td data-pair="2.9.1+3.6.0">1 (1)</td>' in page
    assert "kernel is not launched" in page


def test_a_report_without_pairs_does_not_mention_them() -> None:
    plain_report = report(results_of("k", "v", always(OK), envs=[env("3.5.1")]))
    assert "pair" not in headline(plain_report)
    assert "PyTorch with" not in matrix_markdown(plain_report)
    assert "data-pairs" not in matrix_html(plain_report).partition("<body")[2]


def test_a_report_can_have_pairs_and_no_cells() -> None:
    pair_report = evolve(report([]), pairs=(GOOD,))
    assert headline(pair_report) == "1 of 1 pair of PyTorch and a release is ok."
    assert "The grid" not in matrix_markdown(pair_report)
    assert "1 of 1 pair ok" in matrix_text(pair_report)
    assert matrix_html(pair_report)


def test_pairs_are_read_back_from_matrix_json() -> None:
    pair_report = evolve(report(results_of("k", "v", always(OK), envs=[env("3.5.1")])), pairs=PAIRS)
    document = json.loads(dump(matrix_document(pair_report)))
    Draft202012Validator(schema()).validate(document)
    assert load_report(dump(matrix_document(pair_report))).pairs == PAIRS


def test_joined_files_have_the_pairs_of_all() -> None:
    def joined(*parts: tuple[Pair, ...]) -> tuple[Pair, ...]:
        reports = (evolve(report([]), pairs=pairs) for pairs in parts)
        texts = [(str(at), dump(matrix_document(part))) for at, part in enumerate(reports)]
        return load_reports(texts).pairs

    assert joined((GOOD, DROPPED), (ALL_BAD, DROPPED)) == (GOOD, DROPPED, ALL_BAD)
    fine, untried = evolve(DROPPED, programs=GOOD.programs), evolve(DROPPED, error="no compiler")
    for parts in permutations([(fine,), (untried,), (DROPPED,)]):
        assert joined(*parts) == (DROPPED,)  # a failure in one report is never hidden


def test_the_json_of_a_grid_has_pins_and_outcomes() -> None:
    document = grid_document(GRID)
    assert document["pins"] == {"2.9.1": "3.5.1", "2.4.1": None}
    assert [pair["ok"] for pair in document["pairs"]] == [True, False, False, False]
