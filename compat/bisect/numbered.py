"""Results with what is known of their numbers and of their latency: what launches came to, on a GPU host or on this machine.

Numbers of a release's interpreter are found out where its env has one. Where this machine's GPU may be used, what was not launched
yet is launched now.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence

from attrs import evolve
from packaging.version import Version

from compat.bisect.criterion import Criterion
from compat.bisect.measured import IsSlower, IsWrong
from compat.execution.interpreting import interpret, interpretable
from compat.execution.run import RunContext
from compat.launch.building import was_built
from compat.launch.hosting import Gpu
from compat.launch.live import can_be_launched, launch_cells
from compat.launch.merging import told_of, with_launched
from compat.model import Cell, Check, Result, Specialization, Status, Target

HOW = (
    "`compat build --target TARGET --out DIR` builds the kernels that have a [problem], `python DIR/launch.py` launches them "
    "on a GPU host, and `compat matrix --launched DIR/results.jsonl` brings the results back; on a machine with a GPU, --launch "
    "does all of it"
)
"""How numbers of a GPU come to be known."""


def numbered(
    results: Sequence[Result],
    criterion: Criterion,
    context: RunContext,
    gpu: Gpu | None = None,
    on_launch: Callable[[str], None] = lambda words: None,
) -> tuple[Result, ...]:
    """The same results; with their numbers, where the criterion asks for them.

    What was not launched yet is launched on ``gpu``, if there is one; ``on_launch`` hears of that in words. Where a kernel's own
    interpreter tells something of the question, what was built is interpreted. Raises StoreError, SelectionError where the GPU
    cannot be used, and what :func:`compat.execution.interpreting.interpret` raises.
    """
    if not criterion.asks_launches:
        return tuple(results)
    checks = _interpreted(results, context) if isinstance(criterion.question, IsWrong) else {}
    told = tuple(
        evolve(result, numbers=evolve(result.numbers, interpreter=checks[result.cell])) if result.cell in checks else result
        for result in results
    )
    known = with_launched(told, context.store)
    waiting = to_launch(known, criterion, gpu, again=context.again) if gpu is not None else ()
    if gpu is None or not waiting:
        return known
    on_launch(f"launching {len(waiting):,} cells on the GPU of this machine")
    launched = launch_cells(waiting, context, gpu)
    on_launch(told_of([launched.merged]))
    for each in launched.left_out:
        on_launch(f"{each.cell.id} cannot be launched: {each.why}")
    return with_launched(told, context.store)


def to_launch(results: Sequence[Result], criterion: Criterion, gpu: Gpu, *, again: bool = False) -> tuple[Result, ...]:
    """Those that have to be launched to answer a question; latencies compare only within a run: a kernel's all or none."""
    fitting = [result for result in results if can_be_launched(result, gpu)]
    if again:
        return tuple(fitting)
    if not isinstance(criterion.question, IsSlower):
        return tuple(each for each in fitting if each.numbers.gpu is None)
    missing = {_series(each) for each in fitting if not _is_timed(each)}
    return tuple(each for each in fitting if _series(each) in missing)


def _series(result: Result) -> tuple[Specialization, Target]:
    return result.cell.spec, result.cell.target


def _is_timed(result: Result) -> bool:
    """Whether its latency is known, or it is known that it has none, not being right."""
    check = result.numbers.gpu
    return result.latency is not None or (check is not None and check.status is not Status.OK)


def _interpreted(results: Sequence[Result], context: RunContext) -> dict[Cell, Check]:
    built = [each.cell for each in results if was_built(each) and each.cell.env.name in context.envs]
    fitting = [cell for cell in built if interpretable(cell, context.envs[cell.env.name])]
    return interpret(fitting, evolve(context, stop=threading.Event())) if fitting else {}


def criteria(results: Sequence[Result], criterion: Criterion) -> dict[Cell, Criterion]:
    """The criterion for each cell, in the light of the other releases of its kernel among the results."""
    rows: dict[tuple[Specialization, Target], dict[Version, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        rows[result.cell.spec, result.cell.target][result.cell.env.release or Version("0")].append(result)
    return {
        result.cell: along
        for row in rows.values()
        for along in (criterion.along([row[release] for release in sorted(row)]),)
        for of_release in row.values()
        for result in of_release
    }
