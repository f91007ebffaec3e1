"""Reductions by numbers: launches in some releases must still differ from those in others.

In: results of a kernel whose launches are known. Out: the releases to compare, and a
:class:`NumbersQuestion` about built candidates.

The right results of a reduced kernel are unknown. The references of the original's problem no
longer apply, and if they did, an empty kernel would be the smallest wrong one. So a candidate is
compared with itself, built by a release in which the kernel is right (:class:`LaunchDifference`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum

from attrs import frozen
from packaging.version import Version

from compat.bisect.criterion import Criterion, IsSlower, IsUnstable
from compat.bisect.judging import with_numbers
from compat.bisect.measures import TakesLonger
from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.history.account import Judgement
from compat.launch.building import Launchable
from compat.launch.hosting import COMPARED, Behaviour, BuildComparison, Comparer, Gpu
from compat.model import Result, Specialization, Status
from compat.reduce.candidate import Candidate

ROUNDS = 30
"""Launches on each problem, for a candidate."""
CLOSELY = 120
"""Launches on each problem, for the original kernel and for a close test of a candidate."""
SHARE = 0.1
"""The minimum error of a candidate, as a part of the original kernel's error. A smaller one may be
rounding.
"""
_QUICKEST, _SLOWER = 5.0, 10.0
"""The minimum deadline of a candidate in seconds, and its deadline as a multiple of the kernel's
own time. A candidate that takes longer hangs.
"""


def refuse_latency(criterion: Criterion) -> None:
    """Refuse a judge that asks how long launches take, or compares compile times of releases.

    Raises SelectionError.
    """
    if isinstance(criterion.question, TakesLonger) and criterion.question.of == "previous":
        hint = f"'{criterion.question.what}>0.5*baseline' keeps half of what the kernel takes now."
        raise SelectionError(
            f"`{criterion.text}` cannot be preserved, because it compares releases",
            where="--judge",
            hint=hint,
        )
    if isinstance(criterion.question, IsSlower):
        hint = (
            "Metrics of the compiled code, such as --judge 'registers>128', need no launch and"
            " often explain a latency."
        )
        message = (
            f"`{criterion.text}` cannot be preserved, because a smaller kernel is faster in every"
            " release"
        )
        raise SelectionError(message, where="--judge", hint=hint)


@frozen(kw_only=True)
class Compare:
    """The releases whose launches are compared."""

    kind: DifferenceKind
    bad: tuple[Result, ...]
    good: tuple[Result, ...]

    @property
    def text(self) -> str:
        """The comparison, in words."""
        bad, good = (
            ", ".join(result.cell.env.name for result in several)
            for several in (self.bad, self.good)
        )
        how = "launches differ" if self.kind is DifferenceKind.UNSTABLE else "other numbers"
        return f"{how} on {bad}, compared with {good}"


def releases_to_compare(
    tested: Sequence[Result],
    good: Sequence[Result],
    rest: Sequence[Result],
    criterion: Criterion,
    context: RunContext,
    gpu: Gpu,
    *,
    on_launch: Callable[[str], None],
) -> Compare:
    """Return the tested releases in which the kernel is bad, and releases in which it is right.

    The right ones are ``good``, or else the nearest of all others. Cells that were not launched yet
    are launched. Raises SelectionError if the kernel is bad in none, or right in none, or not right
    in one of ``good``.
    """
    _refuse_unlaunchable(tested[0], gpu)
    several = tuple({result.cell.env.name: result for result in (*tested, *good, *rest)}.values())
    current = {
        result.cell.env.name: result
        for result in with_numbers(several, criterion, context, gpu, on_launch)
    }
    along = criterion.along([[result] for result in current.values()])

    kind = (
        DifferenceKind.UNSTABLE
        if isinstance(criterion.question, IsUnstable)
        else DifferenceKind.WRONG
    )
    # A kernel that was reduced before has a problem without references.
    unknown = kind is DifferenceKind.WRONG and all(
        _is_unknown(current[result.cell.env.name]) for result in tested
    )

    def with_judgement(results: Sequence[Result], judgement: Judgement) -> tuple[Result, ...]:
        return tuple(
            now
            for now in (current[result.cell.env.name] for result in results)
            if (_is_unknown(now) if unknown else along(now) is judgement)
        )

    if unknown and not good:
        message = (
            f"the problem of {tested[0].cell.id} has no references, so launches do not show which"
            " releases are right"
        )
        hint = "Name releases in which the kernel is right with --good."
        raise SelectionError(message, where="--judge", hint=hint)
    bad = with_judgement(tested, Judgement.BAD)
    if not bad:
        message = f"{tested[0].cell.id} is not `{criterion.text}`, so there is nothing to reduce"
        raise SelectionError(message, hint=_gpu_statuses(current, tested))
    for result in bad:
        _refuse_faults(result)
    right = [
        result
        for result in with_judgement([*good] or [*rest, *tested], Judgement.GOOD)
        if _is_right(result)
    ]
    if good and len(right) < len(good):
        raise SelectionError(
            "the kernel is not right there", where="--good", hint=_gpu_statuses(current, good)
        )
    if not right:
        hint = "Build another release with `compat envs build`, or name one with --good."
        message = (
            f"no built release computes {tested[0].cell.id} right, so there is nothing to compare"
            " with"
        )
        raise SelectionError(message, where="--judge", hint=hint)
    return Compare(kind=kind, bad=bad, good=tuple(right) if good else nearest(bad[0], right))


def nearest(bad: Result, right: Sequence[Result]) -> tuple[Result, ...]:
    """Return the nearest right results after and before the release of a bad one, if any."""
    place = bad.cell.env.release or Version("0")
    placed = sorted(
        ((result.cell.env.release or Version("0"), result) for result in right),
        key=lambda pair: pair[0],
    )
    after = [result for version, result in placed if version > place][:1]
    before = [result for version, result in placed if version <= place][-1:]
    return (*after, *before)


def _refuse_unlaunchable(result: Result, gpu: Gpu) -> None:
    cell = result.cell
    if cell.spec.problem is None:
        hint = "docs/problems.md describes it."
        raise SelectionError(
            f"the kernel file of {cell.id} has no [problem] to launch it with",
            where="--judge",
            hint=hint,
        )
    if cell.target != gpu.target:
        raise SelectionError(
            f"{cell.id} is for another GPU than that of this machine",
            where="--judge",
            hint=f"Choose its cell for {gpu.target.name}, or a machine with its GPU.",
        )
    if cell.spec.compile.launch:
        hint = (
            "Describe it with [signature], [constexprs] and [hints]; docs/kernel-files.md describes"
            " them."
        )
        message = (
            f"{cell.id} has a [launch], and only a kernel with a [signature] can be reduced by its"
            " numbers"
        )
        raise SelectionError(message, where="--judge", hint=hint)


def _refuse_faults(result: Result) -> None:
    check = result.numbers.gpu
    if check is None or check.status is Status.FAULTED:
        finding = (
            f"{check.status} ({check.reason})"
            if check is not None
            else "known only from an interpreter"
        )
        hint = (
            "A candidate must not fault, so a fault cannot be preserved. --judge run=COMMAND can"
            " launch the kernel itself."
        )
        raise SelectionError(f"{result.cell.id} is {finding}", where="--judge", hint=hint)


def _is_right(result: Result) -> bool:
    """Return whether launches here or elsewhere were right.

    If the right numbers are unknown, it is enough that all launches gave the same numbers.
    """
    check = result.numbers.gpu
    return check is not None and (check.status is Status.OK or _is_unknown(result))


def _is_unknown(result: Result) -> bool:
    """Return whether it was launched, and its problem has no references."""
    check = result.numbers.gpu
    return check is not None and check.status is Status.UNSUPPORTED and bool(check.launches)


def _gpu_statuses(current: Mapping[str, Result], results: Sequence[Result]) -> str:
    named = {result.cell.env.name: current[result.cell.env.name] for result in results}
    return "; ".join(f"{name}: {_gpu_status(result)}" for name, result in named.items()) + "."


def _gpu_status(result: Result) -> str:
    if check := result.numbers.gpu:
        return check.status
    return "not launched" if result.outcome.status is Status.OK else result.outcome.status


class NumbersQuestion:
    """The question whether the launches of candidates still differ, which the GPU answers.

    :meth:`begin` starts it after the build of the kernel itself, and :meth:`close` ends it.
    """

    def __init__(self, compare: Compare, gpu: Gpu) -> None:
        self.compare = compare
        self._gpu = gpu
        self._comparer: Comparer | None = None
        self._difference = LaunchDifference(kind=compare.kind)
        self._deadline = 60.0
        self.rounds = ROUNDS
        self.last: BuildComparison | None = None
        """The behaviour of the last interesting candidate, or else of the kernel itself."""

    @property
    def has_begun(self) -> bool:
        """Whether the kernel itself was launched, so that candidates can be compared with it."""
        return self.last is not None

    @property
    def envs(self) -> frozenset[str]:
        """The names of the envs in which a candidate must be built."""
        return frozenset(result.cell.env.name for result in (*self.compare.good, *self.compare.bad))

    def begin(self, built: Mapping[str, Launchable], stop: threading.Event) -> None:
        """Launch the kernel itself, with which candidates are compared.

        Raises SelectionError if its launches do not differ here.
        """
        if self._comparer is not None:
            return
        if missing := self.envs - built.keys():
            raise SelectionError(f"the build of {', '.join(sorted(missing))} cannot be launched")
        self._comparer = Comparer(next(iter(built.values())), self._gpu, stop)
        began = time.monotonic()
        compared = self._compare_builds(built, CLOSELY, stop)
        self._deadline = max(_QUICKEST, _SLOWER * (time.monotonic() - began))
        if not self._difference.is_in(compared):
            hint = (
                "The launches used the kernel alone in a module, without comments and annotations,"
                " in turn with the good releases."
            )
            message = (
                f"the kernel is not {self.compare.kind} when its launches are compared:"
                f" {self._difference.explain(compared)}"
            )
            raise SelectionError(message, hint=hint)
        self._difference = self._difference.like(compared)
        self.last = compared

    def __call__(
        self, built: Sequence[Mapping[str, Launchable]], stop: threading.Event
    ) -> list[bool]:
        """Whether each candidate was built in all envs, and its launches differ."""
        return [self._differs(launchables, stop) for launchables in built]

    def _differs(self, built: Mapping[str, Launchable], stop: threading.Event) -> bool:
        if self.envs - built.keys():
            return False
        compared = self._compare_builds(built, self.rounds, stop)
        differs = self._difference.is_in(compared)
        self.last = compared if differs else self.last
        return differs

    def _compare_builds(
        self, built: Mapping[str, Launchable], rounds: int, stop: threading.Event
    ) -> BuildComparison:
        assert self._comparer is not None
        good, bad = (
            [built[result.cell.env.name] for result in several]
            for several in (self.compare.good, self.compare.bad)
        )
        return self._comparer.ask(good, bad, rounds, self._deadline * rounds / ROUNDS, stop)

    @contextmanager
    def closely(self) -> Iterator[None]:
        """Launch candidates more often inside of a ``with`` block."""
        self.rounds = CLOSELY
        try:
            yield
        finally:
            self.rounds = ROUNDS

    def close(self) -> None:
        """End the process that launches."""
        if self._comparer is not None:
            self._comparer.close()
            self._comparer = None


def keeps_types(candidate: Candidate, original: Specialization) -> bool:
    """Return whether the arguments of the original's problem can be passed.

    They can if each parameter has the type that it had.
    """
    was = original.compile.signature
    return all(was.get(name) == kind for name, kind in candidate.compile.signature.items())


class DifferenceKind(StrEnum):
    """The kind of difference that candidates must keep."""

    WRONG = "wrong"
    """It computes other numbers than in a good release, beyond the tolerance of the problem."""
    UNSTABLE = "unstable"
    """Its launches differ, and those in a good release do not."""


@frozen(kw_only=True)
class LaunchDifference:
    """The difference that launches in a bad release must show from those in the good ones."""

    kind: DifferenceKind
    least: float = 0.0
    """The minimum distance, relative to the largest computed number."""

    def like(self, original: BuildComparison) -> LaunchDifference:
        """The difference that candidates of this original must show."""
        off = min(
            (behaviour.off for behaviour in original.behaviours if not behaviour.good), default=0.0
        )
        return LaunchDifference(kind=self.kind, least=SHARE * min(off, 1.0))

    def is_in(self, compared: BuildComparison) -> bool:
        """Whether a comparison of launches shows the difference."""
        good = [behaviour for behaviour in compared.behaviours if behaviour.good]
        bad = [behaviour for behaviour in compared.behaviours if not behaviour.good]
        if (
            compared.status != COMPARED
            or not good
            or not bad
            or any(behaviour.outside for behaviour in compared.behaviours)
        ):
            return False
        return (
            all(map(_is_sound, good))
            and any(behaviour.wrote for behaviour in good)
            and all(map(self._differs, bad))
        )

    def _differs(self, bad: Behaviour) -> bool:
        if self.kind is DifferenceKind.UNSTABLE:
            return bad.differing > 0
        return bad.off > 0 and bad.off >= self.least

    def explain(self, compared: BuildComparison) -> str:
        """Why a comparison of launches does not show the difference, in words."""
        if compared.status != COMPARED:
            return f"{compared.status}{f' ({compared.reason})' if compared.reason else ''}"
        for behaviour in compared.behaviours:
            if behaviour.outside:
                return behaviour.outside
            if behaviour.good and not _is_sound(behaviour):
                return _unsound(behaviour)
        return (
            "launches did not differ"
            if self.kind is DifferenceKind.UNSTABLE
            else "no output that the problem names differed beyond its tolerance"
        )


def _is_sound(good: Behaviour) -> bool:
    """Whether a good build can be a reference for others.

    Every launch computes the same bits, whatever the memory around the inputs contains. All values
    are finite, and within the tolerance of those of the first good release.
    """
    return good.differing == 0 and good.finite and good.off == 0 and not good.reads_outside


def _unsound(good: Behaviour) -> str:
    if good.differing:
        return "launches differ in a good release, too"
    if good.reads_outside:
        return "a good release reads outside of its inputs"
    return (
        "the good releases differ from each other"
        if good.finite
        else "a good release computes infinities or NaNs"
    )
