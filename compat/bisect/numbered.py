"""Results with what is known of their numbers and of their latency: what launches on a GPU host came to, as it was brought back.

Numbers of a release's interpreter are found out where its env has one.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence

from attrs import evolve
from packaging.version import Version

from compat.bisect.criterion import Criterion
from compat.bisect.measured import IsWrong
from compat.execution.interpreting import interpret, interpretable
from compat.execution.run import RunContext
from compat.launch.building import was_built
from compat.launch.merging import with_launched
from compat.model import Cell, Check, Result, Specialization, Target

HOW = (
    "`compat build --target TARGET --out DIR` builds the kernels that have a [problem], `python DIR/launch.py` launches them "
    "on a GPU host, and `compat matrix --launched DIR/results.jsonl` brings the results back"
)
"""How numbers of a GPU come to be known."""


def numbered(results: Sequence[Result], criterion: Criterion, context: RunContext) -> tuple[Result, ...]:
    """The same results; with their numbers, where the criterion asks for them.

    Nothing is launched; where a kernel's own interpreter tells something of the question, what was built is interpreted. Raises
    StoreError, and what :func:`compat.execution.interpreting.interpret` raises.
    """
    if not criterion.asks_launches:
        return tuple(results)
    checks = _interpreted(results, context) if isinstance(criterion.question, IsWrong) else {}
    told = (
        evolve(result, numbers=evolve(result.numbers, interpreter=checks[result.cell])) if result.cell in checks else result
        for result in results
    )
    return with_launched(tuple(told), context.store)


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
