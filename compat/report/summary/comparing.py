"""The changes from one report to another, cell by cell.

Cells are the same if kernel, variant, case, target and the name of the env are. Cells that only one
report has are listed, but are not a change. A cell without an answer (its env or source was broken,
its answer was lost, or it was flaky) is neither good nor bad: it becomes *inconclusive*, or is
*answered* again, and is never called broken or fixed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property

from attrs import field, frozen
from packaging.version import Version

from compat import toolchains
from compat.history.account import failure_of, is_deprecated, is_good
from compat.history.foresight import PACE
from compat.history.suspects import SlowSuspect, slow_suspects
from compat.model import BuiltEnv, Cell, Env, Failure, Latency, Result
from compat.pairs.records import Pair, PairProgram
from compat.report.summary.checks import check_text
from compat.report.summary.compact import FailurePlace, natural, numbers_of
from compat.report.summary.record import Report, came_out_as, expectation_words

# --- metrics --------------------------------------------------------------------------------------


TABLE = "code"
"""The metric with the table of instruction counts."""
_WANTED = ("ldmatrix", "wgmma", "tcgen05_mma", "cp_async", "tma_loads", "fence_proxy_async")
"""Instructions whose decrease may mean slower or wrong code. The counts of other instructions say
nothing.
"""
_FITS = "occupancy"
_MORE_IS_BETTER = (f"{TABLE}.", f"{_FITS}.")
THRESHOLD: float = 10
"""Percent by which a number may change unless the user says otherwise."""
LATENCY = "latency.us"
"""The name of the latency among the metrics. Two latencies of one GPU differ if the difference is
larger than their spread.
"""


@frozen(kw_only=True)
class Jump:
    """A number of one cell that changed by more than the threshold."""

    metric: str
    """The name in ``metrics``, with a dot for an entry of a table: ``artifacts.ptx``."""
    before: float
    after: float
    result: Result
    """The new result."""

    @property
    def rise(self) -> bool:
        """Whether a number rose that is worse if it is larger."""
        return self.after > self.before and not self.metric.startswith(_MORE_IS_BETTER)

    @property
    def percent(self) -> float | None:
        """The change in percent; ``None`` if the number was 0."""
        return (self.after - self.before) / self.before * 100 if self.before else None


@frozen(kw_only=True)
class JumpGroup:
    """The jumps of one metric of one variant in one direction."""

    largest: Jump
    jumps: tuple[Jump, ...]
    where: tuple[FailurePlace, ...]


def jumps_of(old: Result, new: Result, threshold: float) -> Iterator[Jump]:
    """The numbers that both results have and that changed by more than ``threshold`` percent.

    Any change of a number that was 0 counts.
    """
    before, after = dict(numbers_of(old.outcome.metrics)), dict(numbers_of(new.outcome.metrics))
    for metric in before.keys() & after.keys():
        one, other = before[metric], after[metric]
        if _is_jump(one, other, threshold) and _tells(metric, one, other):
            yield Jump(metric=metric, before=one, after=other, result=new)
    was, now = old.latency, new.latency
    if was and now and _is_slower_or_faster(was, now) and _is_jump(was.us, now.us, threshold):
        yield Jump(metric=LATENCY, before=was.us, after=now.us, result=new)


def _is_slower_or_faster(before: Latency, after: Latency) -> bool:
    return (
        before.device == after.device and abs(after.us - before.us) > before.spread + after.spread
    )


def _is_jump(before: float, after: float, threshold: float) -> bool:
    return before != after and abs(after - before) * 100 > abs(before) * threshold


def _tells(metric: str, before: float, after: float) -> bool:
    """Whether a change of a metric is reported by itself.

    Among the instructions, only a loss of more than half is, of one in :data:`_WANTED`. Among the
    facts about occupancy, only the number of blocks is. Facts about the pace lead to slow-suspects
    instead.
    """
    table, _, name = metric.partition(".")
    if table == TABLE:
        return name in _WANTED and 2 * after < before
    return table != PACE and (table != _FITS or name == "blocks")


def group_jumps(jumps: Iterable[Jump], report: Report) -> tuple[JumpGroup, ...]:
    """Jumps by variant, metric and direction, the largest first."""
    groups: dict[tuple[str, str, str, bool], list[Jump]] = defaultdict(list)
    for jump in jumps:
        spec = jump.result.cell.spec
        groups[spec.kernel, spec.variant, jump.metric, jump.rise].append(jump)
    ordered = (
        JumpGroup(
            largest=max(group, key=_size),
            jumps=tuple(group),
            where=report.where(jump.result for jump in group),
        )
        for group in groups.values()
    )
    return tuple(
        sorted(
            ordered,
            key=lambda group: (not group.largest.rise, -_size(group.largest), group.largest.metric),
        )
    )


def _size(jump: Jump) -> float:
    """The size of a jump in either direction: the ratio of the larger to the smaller number.

    A jump from or to zero is the largest.
    """
    smaller, larger = sorted((abs(jump.before), abs(jump.after)))
    return larger / smaller if smaller else float("inf")


# --- axes -----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class ChangedEnv:
    """An env that has the same name in both reports, and other contents."""

    name: str
    before: str
    after: str


def axes_of(report: Report) -> dict[str, tuple[str, ...]]:
    """Axis → its values, in natural order."""
    cells = [result.cell for result in report.ordered_results]
    values = {
        "kernels": {cell.spec.kernel for cell in cells},
        "variants": {f"{cell.spec.kernel}/{cell.spec.variant}" for cell in cells},
        "cases": {cell.spec.id for cell in cells},
        "targets": {cell.target.name for cell in cells},
        "envs": {cell.env.name for cell in cells},
    }
    return {axis: tuple(sorted(names, key=natural)) for axis, names in values.items()}


def without(
    these: Mapping[str, tuple[str, ...]], those: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """The values that are on the axes ``these`` and not on ``those``.

    If a kernel is missing, its variants and cases are not listed again.
    """
    missing = {
        axis: [value for value in values if value not in those[axis]]
        for axis, values in these.items()
    }
    for axis, above in (("cases", "variants"), ("variants", "kernels")):
        missing[axis] = [
            value for value in missing[axis] if value.rpartition("/")[0] not in missing[above]
        ]
    return {axis: tuple(values) for axis, values in missing.items() if values}


def changed_envs(old: Report, new: Report) -> tuple[ChangedEnv, ...]:
    """The envs whose toolchain, framework, Python or other packages changed, compared by name."""
    before = {built.env.name: built for built in old.envs}
    pairs = [(before[built.env.name], built) for built in new.envs if built.env.name in before]
    return tuple(
        ChangedEnv(
            name=other.env.name,
            before=_env_text(one),
            after=_env_text(other) + _packages(one, other),
        )
        for one, other in sorted(pairs, key=lambda pair: natural(pair[1].env.name))
        if _env_text(one) != _env_text(other) or _packages(one, other)
    )


def changed_arguments(old: Report, new: Report) -> tuple[str, ...]:
    """Each ``kernel/variant/case`` in both reports whose arguments or options changed.

    Both reports must have the arguments and options.
    """
    before = {spec.id: spec for spec in old.specs}
    return tuple(
        spec.id
        for spec in new.specs
        if (one := before.get(spec.id))
        and one.function
        and spec.function
        and one.compile != spec.compile
    )


def _env_text(built: BuiltEnv) -> str:
    """The facts of an env that decide its behaviour, in words.

    An env that could not be built is ``broken``.
    """
    if built.error is not None:
        return "broken"
    framework = (
        [f"{built.env.framework} {built.framework_release}"] if built.framework_release else []
    )
    return ", ".join(
        (f"{built.env.distribution} {built.release}", *framework, f"Python {built.python_version}")
    )


def _packages(one: BuiltEnv, other: BuiltEnv) -> str:
    """The other packages that changed, in words; empty if none did, or if an env is broken."""
    if one.error is not None or other.error is not None:
        return ""
    excluded = {env.distribution for env in (one.env, other.env)} | {
        env.framework for env in (one.env, other.env)
    }
    before, after = (
        {p.name: p.version for p in built.packages if p.name not in excluded}
        for built in (one, other)
    )
    changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    changes = [f"{name} {before.get(name, 'none')} → {after.get(name, 'none')}" for name in changed]
    return f" ({', '.join(changes)})" if changes else ""


# --- pairs ----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class PairChange:
    """A pair whose outcome changed between the reports."""

    name: str
    """``pair/2.9.1+3.6.0``"""
    before: str
    """``ok``, ``env broken``, or the failure: ``user_kernel (kernel-dropped)``."""
    after: str
    broken: tuple[str, ...]
    """Programs that worked and now fail; all that worked if the env does not work any more."""
    fixed: tuple[str, ...]
    """Programs that failed and now work; all that work if the env did not work before."""
    says: str
    """The message of the first broken program, or of the env."""


def changed_pairs(
    old: Sequence[Pair], new: Sequence[Pair], successors: Mapping[str, str]
) -> tuple[PairChange, ...]:
    """The pairs whose outcome changed, in the order of the new report.

    ``successors`` maps a new env to the earlier env that it is compared with. For such envs, the
    release that was installed with the new PyTorch is compared with the one that was installed with
    the earlier PyTorch.
    """
    before = {pair.name: pair for pair in old}
    own = {pair.env: pair for pair in old if pair.own}
    earlier = (
        (before.get(pair.name) or own.get(successors.get(pair.env, "") if pair.own else ""), pair)
        for pair in new
    )
    both = ((was, pair) for was, pair in earlier if was is not None)
    return tuple(_pair_change(was, is_) for was, is_ in both if _pairs_differ(was, is_))


def _pair_change(was: Pair, is_: Pair) -> PairChange:
    worked, works = _works_by_program(was), _works_by_program(is_)
    names = list(dict.fromkeys((*worked, *works)))
    broken = tuple(
        name for name in names if worked.get(name) and not works.get(name, is_.error is None)
    )
    message = next(
        (program.message for program in is_.failed_programs if program.name in broken), ""
    )
    return PairChange(
        name=is_.name,
        before=_pair_text(was),
        after=_pair_text(is_),
        broken=broken,
        fixed=tuple(
            name for name in names if works.get(name) and not worked.get(name, was.error is None)
        ),
        says=is_.error or message,
    )


def _works_by_program(pair: Pair) -> Mapping[str, bool]:
    return {program.name: program.ok for program in pair.programs}


def _pairs_differ(was: Pair, is_: Pair) -> bool:
    """Whether the outcome of the env, or of a program in both reports, changed."""
    if was.error is not None or is_.error is not None:
        return (was.error is None) is not (is_.error is None)
    before = {earlier.name: (earlier.status, earlier.failure_class) for earlier in was.programs}
    return any(
        before.get(program.name, (program.status, program.failure_class))
        != (program.status, program.failure_class)
        for program in is_.programs
    )


def _pair_text(pair: Pair) -> str:
    if pair.error is not None:
        return "env broken"
    return ", ".join(_failing(pair.failed_programs)) or ("ok" if pair.programs else "not tried")


def _failing(programs: Iterable[PairProgram]) -> Iterator[str]:
    for program in programs:
        yield f"{program.name} ({program.failure_class or program.status})"


# --- cells ----------------------------------------------------------------------------------------


class CellChangeKind(StrEnum):
    """How a cell changed, in the order of reporting."""

    BROKEN = "broken"
    """It worked, and now it does not compile, or a check of its numbers fails."""
    CHANGED = "changed"
    """It still fails, with another status, class or fingerprint."""
    INCONCLUSIVE = "inconclusive"
    """It had an answer, and now has none."""
    DEPRECATED = "deprecated"
    """It works as before, and the toolchain now gives a deprecation warning."""
    METRIC = "metric"
    """It works as before, and a number rose by more than the threshold."""
    FIXED = "fixed"
    """It failed, and now works."""
    ANSWERED = "answered"
    """It had no answer, and now has one."""
    DROPPED = "not-tested"
    """Only the old report has it."""
    ADDED = "new"
    """Only the new report has it."""


@frozen(kw_only=True)
class ReportSide:
    """One of two compared reports."""

    name: str
    """The user's name for it, such as a path."""
    report: Report

    @cached_property
    def cells(self) -> Mapping[str, Result]:
        """Cell id → result."""
        return {result.cell.id: result for result in self.report.ordered_results}


@frozen(kw_only=True)
class CellChange:
    """Cells of one variant that changed in the same way."""

    kind: CellChangeKind
    """How they changed."""
    before: str | None
    """The old outcome: ``ok`` or ``rejected (api-removed)``.

    ``None``: only the new report has these cells.
    """
    after: str | None
    """The new outcome. ``None``: only the old report has these cells."""
    declared: bool
    """Whether the kernel file declares the new failure as expected."""
    declaration: str
    """The declaration in words."""
    failure: Failure | None
    """The new failure, or else the old one."""
    says: str
    """The compiler's message in the new report: excerpt of the failure or deprecation warning.

    It is empty if there is none.
    """
    results: tuple[Result, ...]
    """Results of the new report, or else of the old one."""
    where: tuple[FailurePlace, ...]
    """Targets, cases and releases of these cells."""

    @property
    def gated_count(self) -> int:
        """Number of these cells that count for ``--fail-on``. Declared failures do not count."""
        meant = self.declared and self.kind in (CellChangeKind.BROKEN, CellChangeKind.CHANGED)
        return 0 if meant else len(self.results)


@frozen(kw_only=True)
class Comparison:
    """Two reports and the changes between them."""

    old: ReportSide
    """The earlier report."""
    new: ReportSide
    """The later report."""
    threshold: float
    """The percentage of change from which a number counts as a jump."""
    differences: tuple[CellChange, ...]
    """Changes of outcomes, in the order of :class:`CellChangeKind`."""
    jumps: tuple[JumpGroup, ...]
    """Numbers that changed by more than ``threshold``."""
    compared: int
    """Number of cells that both reports have."""
    same: int
    """Number of these cells without a change."""
    envs: tuple[ChangedEnv, ...]
    """Environments whose toolchain, framework, Python or packages changed."""
    pairs: tuple[PairChange, ...]
    """Pairs of a PyTorch and a Triton release whose outcome changed."""
    arguments: tuple[str, ...]
    """``kernel/variant/case`` that has other arguments or options in the new report."""
    suspects: tuple[SlowSuspect, ...] = ()
    """Cells whose release changed and that are likely slower, the slowest first."""
    successors: Mapping[str, str] = field(factory=dict)
    """Name of an env that only the new report has → the old report's env that it is compared
    with.
    """

    def of(self, kind: CellChangeKind) -> tuple[CellChange, ...]:
        """Return the differences of a kind."""
        return tuple(difference for difference in self.differences if difference.kind is kind)

    @cached_property
    def counts(self) -> Mapping[CellChangeKind, int]:
        """Kind → number of cells, for kinds that occur.

        ``metric`` counts cells in which a number rose.
        """
        counts = {
            kind: sum(len(difference.results) for difference in self.of(kind))
            for kind in CellChangeKind
        }
        counts[CellChangeKind.METRIC] = len(
            {jump.result.cell.id for group in self.jumps for jump in group.jumps if jump.rise}
        )
        return {kind: number for kind, number in counts.items() if number}

    def count_gated(self, kinds: Collection[CellChangeKind]) -> int:
        """Return the number of cells and pairs with such changes, without declared failures."""
        rises = self.counts.get(CellChangeKind.METRIC, 0) if CellChangeKind.METRIC in kinds else 0
        cells = sum(change.gated_count for change in self.differences if change.kind in kinds)
        return rises + cells + sum(kind_of_pair(change) in kinds for change in self.pairs)

    @cached_property
    def only(self) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
        """Axis → names that only the old report has, and names that only the new one has."""
        old, new = axes_of(self.old.report), axes_of(self.new.report)
        only_new = without(new, {**old, "envs": (*old["envs"], *self.successors)})
        return without(old, new), only_new

    @property
    def versions(self) -> tuple[str, str] | None:
        """The two versions of triton-compat, if they differ.

        Names of failures may differ with them.
        """
        old, new = self.old.report.version, self.new.report.version
        return (old, new) if old != new else None


def compare(
    old: ReportSide, new: ReportSide, threshold: float = THRESHOLD, *, new_releases: bool = False
) -> Comparison:
    """Compare two reports.

    Args:
        old: The earlier report.
        new: The later report.
        threshold: Percent. A number that changes by at most this much counts as unchanged.
        new_releases: Compare a release that only the new report has with the newest release before
            it in the old one.
    """
    successors = _successors(old.report, new.report) if new_releases else {}
    both = [(before, new.cells[name]) for name, before in old.cells.items() if name in new.cells]
    followed = {
        name: (before, after)
        for name, after in new.cells.items()
        if (before := old.cells.get(_id_in(after.cell, successors)))
    }
    both += followed.values()
    kinds = [(_kind(before, after), before, after) for before, after in both]
    jumps = [jump for _, before, after in kinds for jump in _jumps(before, after, threshold)]
    jumped = {jump.result.cell.id for jump in jumps}
    changed = [(kind, before, after) for kind, before, after in kinds if kind is not None]
    dropped = [
        (CellChangeKind.DROPPED, before, None)
        for name, before in old.cells.items()
        if name not in new.cells
    ]
    added = [
        (CellChangeKind.ADDED, None, after)
        for name, after in new.cells.items()
        if name not in old.cells and name not in followed
    ]
    return Comparison(
        old=old,
        new=new,
        threshold=threshold,
        differences=_differences((*changed, *dropped, *added), old.report, new.report),
        jumps=group_jumps(jumps, new.report),
        compared=len(both),
        same=sum(kind is None and after.cell.id not in jumped for kind, _, after in kinds),
        envs=changed_envs(old.report, new.report),
        pairs=changed_pairs(old.report.pairs, new.report.pairs, successors),
        arguments=changed_arguments(old.report, new.report),
        suspects=slow_suspects(both),
        successors=successors,
    )


def _successors(old: Report, new: Report) -> dict[str, str]:
    """Map each env that only the new report has to the env of the newest release before it.

    That env is one of the old report, and has a framework if the new env has one.
    """
    before = {built.env.name: built.env for built in old.envs}
    successors = {}
    for env in (built.env for built in new.envs if built.env.name not in before):
        alike = [one for one in before.values() if _is_earlier(one, env)]
        if alike:
            successors[env.name] = max(alike, key=_order).name
    return successors


def _is_earlier(one: Env, other: Env) -> bool:
    """Whether both are envs of one kind, and the first one has the earlier release."""
    kinds = ((env.toolchain, env.has_framework, toolchains.is_release(env)) for env in (one, other))
    return next(kinds) == next(kinds) and toolchains.is_release(one) and _order(one) < _order(other)


def _order(env: Env) -> tuple[Version, Version]:
    release = env.release or Version("0")
    return release, env.framework_release or release


def _id_in(cell: Cell, envs: Mapping[str, str]) -> str:
    """The id of the cell in the env that its own env is compared with; empty if there is none."""
    name = envs.get(cell.env.name)
    return f"{cell.id.removesuffix(cell.env.name)}{name}" if name else ""


def kind_of_pair(change: PairChange) -> CellChangeKind:
    """The kind of a pair's change: ``broken`` if any of its programs broke."""
    if change.broken:
        return CellChangeKind.BROKEN
    return CellChangeKind.FIXED if change.fixed else CellChangeKind.CHANGED


_Change = tuple[CellChangeKind, Result | None, Result | None]
"""The old and the new result of a cell; one may be missing."""


# --- cells ----------------------------------------------------------------------------------------


def _kind(before: Result, after: Result) -> CellChangeKind | None:
    """The kind of a change of a cell that both reports have; ``None`` if nothing changed."""
    match _has_answer(before), _has_answer(after):
        case False, False:
            return None
        case True, False:
            return CellChangeKind.INCONCLUSIVE
        case False, True:
            return CellChangeKind.ANSWERED
    if _lacks_numbers(after) and not _lacks_numbers(before):
        return CellChangeKind.INCONCLUSIVE
    was, is_ = _works(before), _works(after)
    if was is not is_:
        # The numbers were wrong before, and were not checked again.
        if is_ and after.numbers.right is None and is_good(before.outcome):
            return CellChangeKind.INCONCLUSIVE
        return CellChangeKind.FIXED if is_ else CellChangeKind.BROKEN
    if is_:
        if _lacks_numbers(before) and not _lacks_numbers(after) and after.numbers.right:
            return CellChangeKind.ANSWERED
        return (
            CellChangeKind.DEPRECATED
            if is_deprecated(after.outcome) and not is_deprecated(before.outcome)
            else None
        )
    return CellChangeKind.CHANGED if _face(before) != _face(after) else None


def _works(result: Result) -> bool:
    """Whether a cell compiles and no check of its numbers failed."""
    return is_good(result.outcome) and result.numbers.right is not False


def _lacks_numbers(result: Result) -> bool:
    """Whether a cell compiles, no check of its numbers failed, and the answer of one was lost."""
    return _works(result) and result.numbers.trouble is not None


def _has_answer(result: Result) -> bool:
    return result.outcome.status.is_answer and not result.outcome.flaky


def _face(result: Result) -> tuple[str | None, ...]:
    check = result.numbers.trouble
    return result.outcome.status, *failure_of(result.outcome), check.status if check else ""


def _jumps(before: Result, after: Result, threshold: float) -> Iterable[Jump]:
    good = all(is_good(result.outcome) and _has_answer(result) for result in (before, after))
    return jumps_of(before, after, threshold) if good else ()


def _differences(changes: Iterable[_Change], old: Report, new: Report) -> tuple[CellChange, ...]:
    groups: dict[tuple[object, ...], list[_Change]] = defaultdict(list)
    for kind, before, after in changes:
        shown = after or before
        assert shown
        declared = _is_declared(shown), expectation_words(shown.expectation)
        groups[
            kind,
            shown.cell.spec.kernel,
            shown.cell.spec.variant,
            _outcome_key(before),
            _outcome_key(after),
            *declared,
        ].append((kind, before, after))
    differences = (_difference(group, old, new) for group in groups.values())
    order = list(CellChangeKind)
    return tuple(
        sorted(
            differences,
            key=lambda difference: (
                order.index(difference.kind),
                difference.declared,
                natural(difference.where[0].subject),
            ),
        )
    )


def _outcome_key(result: Result | None) -> tuple[str, str | None] | None:
    """The outcome in words and the fingerprint, which results that are listed together share."""
    if result is None:
        return None
    failure = result.outcome.failure
    return came_out_as(result), failure.fingerprint if failure else None


def _difference(group: list[_Change], old: Report, new: Report) -> CellChange:
    kind, before, after = group[0]
    report = new if after else old
    results = tuple(result for _, one, other in group if (result := other or one))
    shown = after or before
    assert shown
    return CellChange(
        kind=kind,
        before=came_out_as(before) if before else None,
        after=came_out_as(after) if after else None,
        declared=after is not None and _is_declared(after),
        declaration=expectation_words(shown.expectation),
        failure=shown.outcome.failure or (before.outcome.failure if before else None),
        says=_says(after) if after else "",
        results=results,
        where=report.where(results),
    )


def _says(result: Result) -> str:
    outcome, check = result.outcome, result.numbers.trouble
    if outcome.failure:
        return outcome.failure.excerpt
    if check:
        return check_text(check)
    return (
        "\n".join(warning.message for warning in outcome.warnings) if is_deprecated(outcome) else ""
    )


def _is_declared(result: Result) -> bool:
    """Whether a cell fails as declared."""
    expectation, status = result.expectation, result.outcome.status
    if expectation is None or not result.expected:
        return False
    return status is expectation.status or result.numbers.trouble is not None
