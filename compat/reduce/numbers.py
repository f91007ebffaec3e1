"""Reductions by numbers: launches in some releases must go on to differ from those in others.

In: results of a kernel whose launches are known. Out: which releases are compared, and a
:class:`NumbersQuestion` about candidates that were built.

Nobody knows what a reduced kernel has to compute. The references of the original's problem no
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
from compat.bisect.judging import numbered
from compat.bisect.measures import TakesLonger
from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.history.account import Judgement
from compat.launch.building import Launchable
from compat.launch.hosting import COMPARED, ELSEWHERE, Behaviour, BuildComparison, Comparer, Gpu
from compat.model import Result, Specialization, Status
from compat.reduce.candidate import Candidate

ROUNDS = 30
"""Launches of each problem, for a candidate."""
CLOSELY = 120
"""The same for the final candidate."""
SHARE = 0.1
"""The part of the original kernel's error that a candidate must have at least, because less may be
rounding.
"""
_QUICKEST, _SLOWER = 5.0, 10.0
"""Seconds that a candidate may take at least, and how many times longer than the kernel itself: one
that takes longer hangs.
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
        """In words."""
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

    The right ones are ``good``, or else the nearest of ``rest``. Results that were not launched yet
    are launched. Raises SelectionError if the kernel is bad in none, or right in none, or not right
    in one of ``good``.
    """
    _refuse_unlaunchable(tested[0], gpu)
    several = tuple({result.cell.env.name: result for result in (*tested, *good, *rest)}.values())
    current = {
        result.cell.env.name: result
        for result in numbered(several, criterion, context, gpu, on_launch)
    }
    along = criterion.along([[result] for result in current.values()])

    def judged(results: Sequence[Result], judgement: Judgement) -> tuple[Result, ...]:
        return tuple(
            now for result in results if along(now := current[result.cell.env.name]) is judgement
        )

    kind = (
        DifferenceKind.UNSTABLE
        if isinstance(criterion.question, IsUnstable)
        else DifferenceKind.WRONG
    )
    bad = judged(tested, Judgement.BAD)
    if not bad:
        message = f"{tested[0].cell.id} is not `{criterion.text}`, so there is nothing to reduce"
        raise SelectionError(message, hint=_said(current, tested))
    for result in bad:
        _refuse_faults(result)
    right = [
        result
        for result in judged([*good] or [*rest, *tested], Judgement.GOOD)
        if _is_right(result)
    ]
    if good and len(right) < len(good):
        raise SelectionError(
            "the kernel is not right there", where="--good", hint=_said(current, good)
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
        hint = f"Choose its cell for {gpu.target.name}. {ELSEWHERE}"
        raise SelectionError(
            f"{cell.id} is for another GPU than that of this machine", where="--judge", hint=hint
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

    If nobody knows what is right, it is enough that launches gave the same numbers every time.
    """
    check, problem = result.numbers.gpu, result.cell.spec.problem
    return check is not None and (
        check.status is Status.OK or (problem is not None and check.status is Status.UNSUPPORTED)
    )


def _said(current: Mapping[str, Result], results: Sequence[Result]) -> str:
    pairs = ((result.cell.env.name, current[result.cell.env.name]) for result in results)
    return (
        "; ".join(
            f"{name}: {check.status if (check := result.numbers.gpu) else 'not launched'}"
            for name, result in pairs
        )
        + "."
    )


class NumbersQuestion:
    """The question whether candidates still differ, asked of the GPU.

    It serves from when the kernel itself was built until it is closed.
    """

    def __init__(self, compare: Compare, gpu: Gpu) -> None:
        self.compare = compare
        self._gpu = gpu
        self._comparer: Comparer | None = None
        self._difference = LaunchDifference(kind=compare.kind)
        self._deadline = 60.0
        self.rounds = ROUNDS
        self.last: BuildComparison | None = None
        """How the last candidate behaved that was interesting."""

    @property
    def has_begun(self) -> bool:
        """Whether the kernel itself was launched, so that candidates can be compared with it."""
        return self.last is not None

    @property
    def envs(self) -> frozenset[str]:
        """The names of the envs that a candidate has to be built in."""
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
        compared = self._asked(built, CLOSELY, stop)
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
        """Whether each candidate differs, of those that were built in all envs."""
        return [self._differs(launchables, stop) for launchables in built]

    def _differs(self, built: Mapping[str, Launchable], stop: threading.Event) -> bool:
        if self.envs - built.keys():
            return False
        compared = self._asked(built, self.rounds, stop)
        differs = self._difference.is_in(compared)
        self.last = compared if differs else self.last
        return differs

    def _asked(
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
        """For as long as it is entered, candidates are launched more often."""
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
    """What is to stay."""

    WRONG = "wrong"
    """It computes other numbers than in a good release, beyond the tolerance of the problem."""
    UNSTABLE = "unstable"
    """Its launches differ, and those in a good release do not."""


@frozen(kw_only=True)
class LaunchDifference:
    """How a release has to differ from the good ones."""

    kind: DifferenceKind
    least: float = 0.0
    """How far off it has to be, by the largest number that comes out."""

    def like(self, original: BuildComparison) -> LaunchDifference:
        """The same, of candidates of this original."""
        off = min(
            (behaviour.off for behaviour in original.behaviours if not behaviour.good), default=0.0
        )
        return LaunchDifference(kind=self.kind, least=SHARE * min(off, 1.0))

    def is_in(self, compared: BuildComparison) -> bool:
        """Whether launches showed it."""
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
        """Why launches did not show it."""
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
            else "the numbers did not differ beyond the tolerance"
        )


def _is_sound(good: Behaviour) -> bool:
    """Whether others can be held to it.

    Every launch is the same, whatever lies around its inputs; all are numbers, and those of the
    first good release.
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
