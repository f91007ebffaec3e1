"""Seconds of compiles for a judge: those of passes, and new measurements where they decide.

The seconds in the store come from some run, perhaps under load or on another machine. They are
precise enough far from a limit. If a judgement depends on them, cells are compiled again, one at a
time, and the smallest of their CPU seconds count.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from attrs import evolve

from compat import toolchains
from compat.bisect.measures import PASSES, TakesLonger, rows_of
from compat.engine.run import RunContext, run
from compat.errors import SelectionError
from compat.model import Cell, Outcome, Result, Status
from compat.text import amount
from compat.toolchains.base import Toolchain
from compat.workers.attempt import Mode, timing_mode

_TIMES = 2
"""The most times that a cell is compiled again."""


def with_precise_seconds(
    results: Sequence[Result],
    question: TakesLonger,
    context: RunContext,
    on_step: Callable[[str], None] = lambda message: None,
) -> tuple[Result, ...]:
    """The same results with seconds that are precise enough for a judgement.

    ``on_step`` receives messages about measurements. Raises SelectionError if the question is about
    passes and the toolchain does not report their times, and the errors of
    :func:`compat.engine.run.run`.
    """
    # The other results are from earlier runs, in envs outside of this search.
    here = [result for result in results if result.cell.env.name in context.envs]
    measured = {result.cell: result for result in _with_passes(here, question, context)}
    count: dict[Cell, int] = defaultdict(int)
    while waiting := [
        cell for cell in _deciding(list(measured.values()), question) if count[cell] < _TIMES
    ]:
        on_step(f"measuring {question.what} again, which decides {amount(len(waiting), 'cell')}")
        fresh = {result.cell: result for result in _anew(waiting, question, context)}
        for cell in waiting:
            measured[cell] = (
                fresh[cell] if not count[cell] else _quicker(measured[cell], fresh[cell])
            )
            count[cell] += 1
    return tuple(measured.get(result.cell, result) for result in results)


def in_seconds(question: TakesLonger, cell: Cell, context: RunContext) -> TakesLonger:
    """Turn a question about a multiple of a cell's time into one about seconds.

    This measures the seconds of the cell. Raises SelectionError if the cell does not report them.
    """
    if question.of != "baseline":
        return question
    results = [result for _ in range(_TIMES) for result in _anew([cell], question, context)]
    seconds = [duration for result in results if (duration := question.value(result)) is not None]
    if not seconds:
        raise SelectionError(f"{cell.id} does not report {question.what}", where="--judge")
    return evolve(question, number=round(question.number * min(seconds), 3), of="")


def _anew(cells: Sequence[Cell], question: TakesLonger, context: RunContext) -> Sequence[Result]:
    """Compile cells again, one at a time, and return their results."""
    anew = evolve(context, again=True, slots=1, stop=threading.Event())
    return _with_passes(run(cells, anew), question, anew)


def _quicker(one: Result, other: Result) -> Result:
    return evolve(other, outcome=quicker(one.outcome, other.outcome))


def quicker(one: Outcome, other: Outcome) -> Outcome:
    """The second measurement of a compile with the smaller seconds of each stage and pass.

    Other work of the machine never makes a part of a compile quicker. Outcomes of different
    statuses are not measurements of one compile: the second one is returned unchanged.
    """
    if other.status is not one.status:
        return other
    metrics = dict(other.metrics)
    if PASSES in one.metrics and PASSES in other.metrics:
        metrics[PASSES] = _least(one.metrics[PASSES], other.metrics[PASSES])
    return evolve(other, stages=_least(one.stages, other.stages), metrics=metrics)


def _least(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {name: min(seconds, one.get(name, seconds)) for name, seconds in other.items()}


def _deciding(results: Sequence[Result], question: TakesLonger) -> list[Cell]:
    """The cells whose seconds decide a judgement.

    They are near the limit, or come from the store and are next to a change.
    """
    cells: dict[Cell, None] = {}
    for row in rows_of(results):
        cells |= dict.fromkeys(result.cell for result in _of_row(row, question.along(row)))
    return list(cells)


def _of_row(row: Sequence[Sequence[Result]], question: TakesLonger) -> Iterator[Result]:
    line = [
        result
        for results in row
        for result in results
        if result.outcome.status is not Status.TIMED_OUT
    ]
    line = [result for result in line if question.value(result) is not None]
    for result in line:
        if question.is_near(result):
            yield from (result, *_results_before(result, question))
    for one, other in pairwise(line):
        if question.is_bad(one) is not question.is_bad(other):
            both = (one, other, *_results_before(one, question), *_results_before(other, question))
            yield from (result for result in both if result.cached)
    if len(line) == 1 and line[0].cached and question.is_bad(line[0]):
        yield line[0]


def _results_before(result: Result, question: TakesLonger) -> Iterator[Result]:
    if (other := question.before.get(result.cell)) is not None:
        yield other


# --- passes ---------------------------------------------------------------------------------------


def _with_passes(
    results: Sequence[Result], question: TakesLonger, context: RunContext
) -> Sequence[Result]:
    """The same results, with the seconds of their passes if the question is about a pass."""
    return with_passes(results, context) if question.of_pass is not None else results


def with_passes(results: Sequence[Result], context: RunContext) -> tuple[Result, ...]:
    """Add the seconds of passes to the results of compiled cells.

    A cell without these seconds is compiled in a mode that reports them. Raises SelectionError if a
    toolchain never reports them.
    """
    silent = [
        result.cell
        for result in results
        if result.outcome.has_code and PASSES not in result.outcome.metrics
    ]
    by_cell: dict[Cell, Result] = {}
    for name in {cell.env.toolchain for cell in silent}:
        cells = [cell for cell in silent if cell.env.toolchain == name]
        by_cell |= {
            result.cell: result
            for result in run(cells, evolve(context, mode=_mode(toolchains.look_up(name))))
        }
    return tuple(by_cell.get(result.cell, result) for result in results)


def _mode(toolchain: Toolchain) -> Mode:
    mode = timing_mode(toolchain)
    if mode is None:
        raise SelectionError(
            f"{toolchain.title} does not report there how long its passes take", where="--judge"
        )
    return mode
