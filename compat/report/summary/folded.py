"""A report of more cells than anybody reads row by row: counts per kernel, each failure in a line, and what is unexpected. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeVar

from attrs import frozen

from compat.model import Status
from compat.report.summary.compact import listed, natural
from compat.report.summary.grid import MARKS
from compat.report.summary.record import DistinctFailure, Report, Surprise

MANY = 100_000
"""Cells from which on a report is folded, however small it would be."""
LARGE = 1_000_000
"""Bytes of Markdown from which on it is: code forges show none of a larger file."""
_KERNELS = 2_000
_LINES = 300
"""Lines of a list; with :data:`_KERNELS` and :data:`_WIDTH` they keep a folded report below :data:`LARGE`."""
_WIDTH = 120
"""Characters of what others have written in a line."""
_FEW = 5

_T = TypeVar("_T")


@frozen(kw_only=True)
class KernelCounts:
    """All cells of a kernel."""

    kernel: str
    cells: int
    good: int
    bad: tuple[tuple[str, int], ...]
    """The marks of what is not ok, with numbers, as words of the grid."""
    unexpected: int
    failures: tuple[str, ...]
    """The ids of the failures that most cells have; at most a few."""

    @property
    def told(self) -> str:
        """What is not ok, in words."""
        return listed([f"{number:,} {word}" for word, number in self.bad])


@frozen(kw_only=True)
class Folded:
    """What is told in the place of the grid, the failures and the unexpected cells; of each list the beginning."""

    kernels: tuple[KernelCounts, ...]
    more_kernels: int
    """How many kernels there are besides: those of which least is to be told."""
    failures: tuple[DistinctFailure, ...]
    more_failures: int
    surprises: tuple[Surprise, ...]
    more_surprises: int
    statements: int
    """How many sentences there would be."""


def folded(report: Report, statements: int) -> Folded:
    """What is told of a large report; of so many ``statements`` none."""
    kernels = sorted(_kernels(report), key=lambda each: (not each.unexpected, not each.bad, natural(each.kernel)))
    failures = sorted(report.failures, key=lambda each: -len(each.results))
    return Folded(
        kernels=tuple(kernels[:_KERNELS]),
        more_kernels=max(0, len(kernels) - _KERNELS),
        failures=tuple(failures[:_LINES]),
        more_failures=max(0, len(failures) - _LINES),
        surprises=_first(report.surprises),
        more_surprises=max(0, len(report.surprises) - _LINES),
        statements=statements,
    )


def last_line(text: str) -> str:
    """The last line of a text, which says most, as far as there is room for it."""
    return short("\n".join(reversed(text.splitlines())))


def kernels_of(distinct: DistinctFailure) -> int:
    """How many kernels have a failure."""
    return len({result.cell.spec.kernel for result in distinct.results})


def short(text: str) -> str:
    """The first line of a text, as far as there is room for it."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _first(items: Sequence[_T]) -> tuple[_T, ...]:
    return tuple(items[:_LINES])


def _kernels(report: Report) -> list[KernelCounts]:
    statuses: dict[str, Counter[Status]] = defaultdict(Counter)
    failures: dict[str, Counter[str]] = defaultdict(Counter)
    unexpected: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for result in report.ordered:
        kernel, outcome = result.cell.spec.kernel, result.outcome
        statuses[kernel][outcome.status] += 1
        unexpected[kernel] += not result.expected
        if outcome.failure:
            predicted[kernel] += outcome.failure.prediction and outcome.status is Status.OK
            failures[kernel][report.failure_ids.get(outcome.failure.fingerprint, "")] += 1
    return [_counts(kernel, counts, predicted[kernel], unexpected[kernel], failures[kernel]) for kernel, counts in statuses.items()]


def _counts(kernel: str, statuses: Counter[Status], predicted: int, unexpected: int, failures: Counter[str]) -> KernelCounts:
    bad = [(MARKS[status], statuses[status]) for status in Status if statuses[status] and status is not Status.OK]
    return KernelCounts(
        kernel=kernel,
        cells=statuses.total(),
        good=statuses[Status.OK] - predicted,
        bad=(*([("pred", predicted)] if predicted else []), *bad),
        unexpected=unexpected,
        failures=tuple(name for name, _ in failures.most_common(_FEW) if name),
    )
