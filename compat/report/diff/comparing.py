"""What changed from one report to another, cell by cell.

Cells are the same if kernel, variant, case, target and the name of the env are. What only one report has is said and is no change.
A cell without an answer (its env or source was broken, its answer was lost, or it was flaky) is neither good nor bad: it
becomes *inconclusive*, or is *answered* again, and is never called broken or fixed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import cached_property

from attrs import frozen

from compat.history.verdict import is_deprecated, is_good
from compat.model import Failure, Result
from compat.report.checks import check_words
from compat.report.compact import Where, natural
from compat.report.diff.axes import ChangedEnv, axes_of, changed_arguments, changed_envs, without
from compat.report.diff.metrics import THRESHOLD, Jump, JumpGroup, grouped, jumps_of
from compat.report.diff.pairs import PairChange, changed_pairs
from compat.report.summary import Report, came_out_as, declared_as


class Kind(StrEnum):
    """What became of a cell, in the order in which it is told."""

    BROKEN = "broken"
    """It worked, and does not: it does not compile, or its numbers are not right any more."""
    CHANGED = "changed"
    """It fails, and failed otherwise: another status, class or fingerprint."""
    INCONCLUSIVE = "inconclusive"
    """There was an answer, and there is none."""
    DEPRECATED = "deprecated"
    """It works as before, and the toolchain now warns that it will not stay so."""
    METRIC = "metric"
    """It works as before, and a number rose by more than the threshold."""
    FIXED = "fixed"
    """It did not work, and does."""
    ANSWERED = "answered"
    """There was no answer, and there is one."""
    DROPPED = "not-tested"
    """Only the old report has it."""
    ADDED = "new"
    """Only the new report has it."""


@frozen(kw_only=True)
class Side:
    """One of the two reports, and what the user calls it."""

    name: str
    report: Report

    @cached_property
    def cells(self) -> Mapping[str, Result]:
        """Id → result."""
        return {result.cell.id: result for result in self.report.ordered}


@frozen(kw_only=True)
class Difference:
    """Cells of one variant that changed alike."""

    kind: Kind
    before: str | None
    """What it was: ``ok``, ``rejected (api-removed)``; ``None`` for what only the new report has."""
    after: str | None
    declared: bool
    """Whether the new report has it as expected: its kernel file declares this failure."""
    declaration: str
    """What that declares, in words."""
    failure: Failure | None
    """The new one, or else the old one."""
    says: str
    """What the compiler says of it now: the failure's excerpt, or the deprecation warning; empty where it says nothing."""
    results: tuple[Result, ...]
    """Of the new report, or else of the old one."""
    where: tuple[Where, ...]

    @property
    def gated(self) -> int:
        """How many of the cells count where a user gates on this kind: a failure that is declared is meant to be there."""
        meant = self.declared and self.kind in (Kind.BROKEN, Kind.CHANGED)
        return 0 if meant else len(self.results)


@frozen(kw_only=True)
class Comparison:
    """Two reports, and what changed between them."""

    old: Side
    new: Side
    threshold: float
    """Percent by which a number has to change to be a jump."""
    differences: tuple[Difference, ...]
    jumps: tuple[JumpGroup, ...]
    compared: int
    """Cells that both reports have."""
    same: int
    """Those of them of which nothing is told."""
    envs: tuple[ChangedEnv, ...]
    pairs: tuple[PairChange, ...]
    """The pairs of a PyTorch and a release that came out differently."""
    arguments: tuple[str, ...]
    """``kernel/variant/case`` of those that both have with other arguments or options; a file of an older schema does not say."""

    def of(self, kind: Kind) -> tuple[Difference, ...]:
        """The differences of a kind."""
        return tuple(each for each in self.differences if each.kind is kind)

    @cached_property
    def counts(self) -> Mapping[Kind, int]:
        """Kind → cells, of those that occur, in their order. Of ``metric`` those in which a number rose."""
        found = {kind: sum(len(each.results) for each in self.of(kind)) for kind in Kind}
        found[Kind.METRIC] = len({jump.result.cell.id for group in self.jumps for jump in group.jumps if jump.rise})
        return {kind: number for kind, number in found.items() if number}

    def gated(self, kinds: Collection[Kind]) -> int:
        """How many cells and pairs changed in one of these ways, without failures that are declared."""
        rises = self.counts.get(Kind.METRIC, 0) if Kind.METRIC in kinds else 0
        return rises + sum(each.gated for each in self.differences if each.kind in kinds) + self._gated_pairs(kinds)

    def _gated_pairs(self, kinds: Collection[Kind]) -> int:
        return sum(kind_of_pair(change) in kinds for change in self.pairs)

    @cached_property
    def only(self) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
        """Axis → what only the old report has of it, and what only the new one has."""
        old, new = axes_of(self.old.report), axes_of(self.new.report)
        return without(old, new), without(new, old)

    @property
    def versions(self) -> tuple[str, str] | None:
        """The versions of the tool, where two wrote the reports: what failures are called may have changed with them."""
        old, new = self.old.report.version, self.new.report.version
        return (old, new) if old != new else None


def compare(old: Side, new: Side, threshold: float = THRESHOLD) -> Comparison:
    """What changed from the old report to the new one; numbers that changed by up to ``threshold`` percent are the same."""
    both = [(before, new.cells[name]) for name, before in old.cells.items() if name in new.cells]
    kinds = [(_kind(before, after), before, after) for before, after in both]
    jumps = [jump for _, before, after in kinds for jump in _jumps(before, after, threshold)]
    jumped = {jump.result.cell.id for jump in jumps}
    changed = [(kind, before, after) for kind, before, after in kinds if kind is not None]
    dropped = [(Kind.DROPPED, before, None) for name, before in old.cells.items() if name not in new.cells]
    added = [(Kind.ADDED, None, after) for name, after in new.cells.items() if name not in old.cells]
    return Comparison(
        old=old,
        new=new,
        threshold=threshold,
        differences=_differences((*changed, *dropped, *added), old.report, new.report),
        jumps=grouped(jumps, new.report),
        compared=len(both),
        same=sum(kind is None and after.cell.id not in jumped for kind, _, after in kinds),
        envs=changed_envs(old.report, new.report),
        pairs=changed_pairs(old.report.pairs, new.report.pairs),
        arguments=changed_arguments(old.report, new.report),
    )


def kind_of_pair(change: PairChange) -> Kind:
    """What became of a pair: ``broken`` if anything in it is."""
    if change.broken:
        return Kind.BROKEN
    return Kind.FIXED if change.fixed else Kind.CHANGED


_Change = tuple[Kind, Result | None, Result | None]
"""What became of a cell, the old result and the new one, of which one may be missing."""


# --- cells -----------------------------------------------------------------------------------------------------------------------


def _kind(before: Result, after: Result) -> Kind | None:
    """What became of a cell that both reports have; ``None`` for the same as before."""
    match _answered(before), _answered(after):
        case False, False:
            return None
        case True, False:
            return Kind.INCONCLUSIVE
        case False, True:
            return Kind.ANSWERED
    was, is_ = _works(before), _works(after)
    if was is not is_:
        if is_ and after.numbers.right is None and is_good(before.outcome):  # it was wrong, and was not run again
            return Kind.INCONCLUSIVE
        return Kind.FIXED if is_ else Kind.BROKEN
    if is_:
        return Kind.DEPRECATED if is_deprecated(after.outcome) and not is_deprecated(before.outcome) else None
    return Kind.CHANGED if _face(before) != _face(after) else None


def _works(result: Result) -> bool:
    """Whether it compiles, and no check says that its numbers are not right."""
    return is_good(result.outcome) and result.numbers.right is not False


def _answered(result: Result) -> bool:
    return result.outcome.status.is_answer and not result.outcome.flaky


def _face(result: Result) -> tuple[str, ...]:
    failure = result.outcome.failure
    check = result.numbers.trouble
    return result.outcome.status, *((failure.failure_class, failure.fingerprint) if failure else ()), check.status if check else ""


def _jumps(before: Result, after: Result, threshold: float) -> Iterable[Jump]:
    good = is_good(before.outcome) and is_good(after.outcome) and _answered(before) and _answered(after)
    return jumps_of(before, after, threshold) if good else ()


def _differences(found: Iterable[_Change], old: Report, new: Report) -> tuple[Difference, ...]:
    groups: dict[tuple[object, ...], list[_Change]] = defaultdict(list)
    for kind, before, after in found:
        told = after or before
        assert told
        declared = _is_declared(told), declared_as(told.expectation)
        groups[kind, told.cell.spec.kernel, told.cell.spec.variant, _said(before), _said(after), *declared].append(
            (kind, before, after)
        )
    differences = (_difference(group, old, new) for group in groups.values())
    order = list(Kind)
    return tuple(sorted(differences, key=lambda each: (order.index(each.kind), each.declared, natural(each.where[0].subject))))


def _said(result: Result | None) -> tuple[str, str | None] | None:
    """What results have in common that are told together: words, and the fingerprint."""
    if result is None:
        return None
    failure = result.outcome.failure
    return came_out_as(result), failure.fingerprint if failure else None


def _difference(group: list[_Change], old: Report, new: Report) -> Difference:
    kind, before, after = group[0]
    report = new if after else old
    results = tuple(result for _, one, other in group if (result := other or one))
    told = after or before
    assert told
    return Difference(
        kind=kind,
        before=came_out_as(before) if before else None,
        after=came_out_as(after) if after else None,
        declared=after is not None and _is_declared(after),
        declaration=declared_as(told.expectation),
        failure=told.outcome.failure or (before.outcome.failure if before else None),
        says=_says(after) if after else "",
        results=results,
        where=report.where(results),
    )


def _says(result: Result) -> str:
    outcome, check = result.outcome, result.numbers.trouble
    if outcome.failure:
        return outcome.failure.excerpt
    if check:
        return check_words(check)
    return "\n".join(warning.message for warning in outcome.warnings) if is_deprecated(outcome) else ""


def _is_declared(result: Result) -> bool:
    """Whether it fails, as its declaration says."""
    expectation, status = result.expectation, result.outcome.status
    if expectation is None or not result.expected or _works(result):
        return False
    return status is expectation.status or result.numbers.trouble is not None
