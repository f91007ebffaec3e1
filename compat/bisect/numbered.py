"""Results with what is known of their numbers and of their latency: what launches on a GPU host came to, as it was brought back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from packaging.version import Version

from compat.bisect.criterion import Criterion
from compat.execution.run import RunContext
from compat.launch.merging import with_launched
from compat.model import Cell, Result, Specialization, Target

HOW = (
    "`compat build --target TARGET --out DIR` builds the kernels that have a [problem], `python DIR/launch.py` launches them "
    "on a GPU host, and `compat matrix --launched DIR/results.jsonl` brings the results back"
)
"""How numbers of a GPU come to be known."""


def numbered(results: Sequence[Result], criterion: Criterion, context: RunContext) -> tuple[Result, ...]:
    """The same results; with their numbers, where the criterion asks for them. Nothing is launched. Raises StoreError."""
    return with_launched(results, context.store) if criterion.asks_launches else tuple(results)


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
