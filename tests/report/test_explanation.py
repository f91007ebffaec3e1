"""The explanation of a cell, as lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.explain import Explanation, StoredCells
from compat.model import Evidence, Expectation, Status
from compat.model.evidence import CompletedAction
from compat.project import select
from compat.report.views.explanation import (
    explanation_document,
    explanation_lines,
    wrap_lines,
)
from compat.store.store import Store
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


class AllCompiled(StoredCells):
    """A store in which every cell has compiled."""

    def attempts(self, cells: Any, mode: Any = None) -> dict[Any, tuple[Evidence, ...]]:
        done = (CompletedAction(do="compile"),)
        return {cell: (Evidence(answered=True, done=done, stages={"ttir": 2.0}),) for cell in cells}


@pytest.mark.parametrize(
    ("values", "sizes"), [((0, 1), []), ((-1, 64), []), ((64, -1, 0, 32), [32, 64])]
)
def test_compile_time_grows_with_sizes_and_not_with_flags(
    tmp_path: Path, values: tuple[int, ...], sizes: list[int]
) -> None:
    cases = ", ".join(
        f'{{ name = "c{number}", constexprs = {{ N = {value} }} }}'
        for number, value in enumerate(values)
    )
    (tmp_path / "k.py").write_text("def k(N): ...\n")
    (tmp_path / "k.toml").write_text(
        f'schema = 1\nkernel = "k"\nsource = "k.py"\ncase = [{cases}]\n'
        'variant = [{ name = "v", function = "k" }]\n'
    )
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["k.toml"]\nenv = [{ triton = "3.1.0" }]\n'
    )
    selection = select(tmp_path / "matrix.toml", envs=["*"], targets=["sm_90"])
    slow = evolve(OK, status=Status.TIMED_OUT, stage="ttir", stages={"ttir": 60.0})
    with Store(tmp_path / "state") as store:
        growths = AllCompiled(selection, store).growths(selection.cells[0], slow)
    tried = [size for growth in growths for size in growth.outcomes if size in values]
    assert sorted(tried) == sizes


def test_a_declared_failure_without_releases_is_for_all_releases() -> None:
    cell_result = evolve(
        result(OK), expectation=Expectation(status=Status.CRASHED, reason="It never worked.")
    )
    explanation = Explanation(
        cell=cell_result.cell, built=env("3.1.0"), attempts=(), result=cell_result, verdict=None
    )
    assert "  declared: crashed for all releases: It never worked." in list(
        explanation_lines(explanation)
    )
