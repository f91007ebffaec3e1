"""A search for the growth of compile time that ends early: it keeps the sizes that it measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve

from compat.bisect import growing
from compat.bisect.answers import GrowthAnswer, SearchEnd
from compat.bisect.growing import GrowthSearch
from compat.engine.run import Interrupted, RunContext
from compat.interruption import Budget
from compat.model import Cell, Result
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.records import OK, env, result, spec


def answer_after(
    compiles: int, folder: Path, monkeypatch: pytest.MonkeyPatch, budget: float
) -> GrowthAnswer:
    """The answer of a search that can compile so many sizes of ``N``, and is then stopped."""
    done: list[Cell] = []

    def run(cells: Sequence[Cell], _: RunContext) -> tuple[Result, ...]:
        (cell,) = cells
        if len(done) == compiles:
            raise Interrupted(0, 1)
        done.append(cell)
        seconds = (cell.spec.compile.constexprs["N"] / 64) ** 2
        return (result(evolve(OK, stages={"ttgir": seconds})),)

    monkeypatch.setattr(growing, "run", run)
    slow = spec()
    slow = evolve(slow, compile=evolve(slow.compile, constexprs={"N": 4096, "M": 64}))
    cell = evolve(result(OK).cell, spec=slow)
    with Store(folder) as store:
        context = RunContext(
            envs={cell.env.name: env("3.1.0")}, store=store, limits=Limits(deadline=600, memory=1)
        )
        return GrowthSearch(cell=cell, context=context, budget=Budget(budget)).answer()


def test_sizes_that_were_measured_before_the_budget_ended_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer_after(3, tmp_path, monkeypatch, budget=3600)
    assert [growth.setting for growth in found.growths] == ["N"]
    assert found.sentence.startswith(
        "Interrupted. Slow, not stuck: stage ttgir grows as N^2.0 (1.9 to 2.1): 1 s at 64, 4 s at"
        " 128, 16 s at 256, about "
    )


def test_an_early_end_is_named_and_does_not_deny_the_sizes_of_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer_after(0, tmp_path, monkeypatch, budget=0)
    assert (found.sentence, found.end, found.growths) == (
        "Stopped at the end of the time budget. No size was measured.",
        SearchEnd.BUDGET,
        (),
    )
