"""Which numbers of a build jumped: registers, spills, shared memory, sizes, whatever a toolchain tells of both; and the latency."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from attrs import frozen

from compat.history.losses import TABLE, WANTED
from compat.model import Latency, Result
from compat.report.compact import Where
from compat.report.numbers import numbers_of
from compat.report.summary import Report

_FITS = "occupancy"
_MORE_IS_BETTER = (f"{TABLE}.", f"{_FITS}.")
THRESHOLD: float = 10
"""Percent by which a number may change unless the user says otherwise."""
LATENCY = "latency.us"
"""What the latency on a GPU is called among them: compared where both are of one GPU, and differ by more than they spread."""


@frozen(kw_only=True)
class Jump:
    """A number of one cell that changed by more than the threshold."""

    metric: str
    """Its name in ``metrics``; of what is in a table there, with a point: ``artifacts.ptx``."""
    before: float
    after: float
    result: Result
    """The new one."""

    @property
    def rise(self) -> bool:
        """Whether it rose, of a number of which more is worse."""
        return self.after > self.before and not self.metric.startswith(_MORE_IS_BETTER)

    @property
    def percent(self) -> float | None:
        """By how much; ``None`` from nothing."""
        return (self.after - self.before) / self.before * 100 if self.before else None


@frozen(kw_only=True)
class JumpGroup:
    """The jumps of one metric of one variant in one direction."""

    largest: Jump
    jumps: tuple[Jump, ...]
    where: tuple[Where, ...]


def jumps_of(old: Result, new: Result, threshold: float) -> Iterator[Jump]:
    """The numbers that both results have and that changed by more than ``threshold`` percent; from zero any change is one."""
    before, after = dict(numbers_of(old.outcome.metrics)), dict(numbers_of(new.outcome.metrics))
    for metric in before.keys() & after.keys():
        one, other = before[metric], after[metric]
        if _is_jump(one, other, threshold) and _tells(metric, one, other):
            yield Jump(metric=metric, before=one, after=other, result=new)
    was, takes = old.latency, new.latency
    if was and takes and _is_slower_or_faster(was, takes) and _is_jump(was.us, takes.us, threshold):
        yield Jump(metric=LATENCY, before=was.us, after=takes.us, result=new)


def _is_slower_or_faster(before: Latency, after: Latency) -> bool:
    return before.device == after.device and abs(after.us - before.us) > before.spread + after.spread


def _is_jump(before: float, after: float, threshold: float) -> bool:
    return before != after and abs(after - before) * 100 > abs(before) * threshold


def _tells(metric: str, before: float, after: float) -> bool:
    """Whether a change says something by itself: of instructions that they are lost, of what fits how many blocks do."""
    table, _, name = metric.partition(".")
    if table == TABLE:
        return name in WANTED and 2 * after < before
    return table != _FITS or name == "blocks"


def grouped(jumps: Iterable[Jump], report: Report) -> tuple[JumpGroup, ...]:
    """Jumps by variant, metric and direction, the largest first."""
    groups: dict[tuple[str, str, str, bool], list[Jump]] = defaultdict(list)
    for jump in jumps:
        spec = jump.result.cell.spec
        groups[spec.kernel, spec.variant, jump.metric, jump.rise].append(jump)
    found = (
        JumpGroup(
            largest=max(group, key=_size),
            jumps=tuple(group),
            where=report.where(jump.result for jump in group),
        )
        for group in groups.values()
    )
    return tuple(sorted(found, key=lambda group: (not group.largest.rise, -_size(group.largest), group.largest.metric)))


def _size(jump: Jump) -> float:
    """How large a jump is, up or down alike; what comes from nothing, or goes to nothing, is the largest."""
    smaller, larger = sorted((abs(jump.before), abs(jump.after)))
    return larger / smaller if smaller else float("inf")
