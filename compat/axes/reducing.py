"""Judging candidates of a reduction with real compilers: many at once, in warm servers, several to a forked child.

What a candidate must come to is a list of wishes, one per env: fail as the kernel did (or as a judge of the user's says), or be ok
where the kernel is. A candidate that disappoints one env is not tried in the next.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from attrs import evolve, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.engine.flight import DIAGNOSTIC, PLAIN, Limits
from compat.engine.supervise import attempt
from compat.engine.workers import Workers
from compat.errors import SelectionError
from compat.evidence import classify
from compat.model import BuiltEnv, Cell, Evidence, Expectation, Outcome, Result, Specialization, Status, Target
from compat.reduce import Candidate
from compat.run import available_cores
from compat.search.bisect import Judgement
from compat.search.judge import HasFingerprint, Judge

_QUICKEST = 2.0
"""Seconds that a candidate may take at least."""
_SLOWER = 5.0
"""How many times longer than the kernel itself a candidate may take: it is simpler, so one that takes longer hangs."""
_SAYS_LITTLE = "unclassified"
"""A failure of this class is told by a signal at best: that its candidates fail in the same pass is asked for as well."""


@frozen(kw_only=True)
class Wish:
    """What a candidate must come to in one env."""

    built: BuiltEnv
    judge: Judge
    wanted: Judgement
    limits: Limits
    pass_: str | None = None
    """The pass that must fail, where the failure has no words of its own."""

    @property
    def hangs(self) -> bool:
        """Whether it is a hang that is to be kept."""
        question = self.judge.question
        return isinstance(question, HasFingerprint) and (question.fingerprint or "").startswith("timeout:")

    @property
    def text(self) -> str:
        """In words, for people."""
        if self.wanted is Judgement.GOOD:
            return f"ok on {self.built.env.name}"
        question = self.judge.question
        words = question.fingerprint if isinstance(question, HasFingerprint) else self.judge.text
        return f"{words} on {self.built.env.name}" + (f" in {self.pass_}" if self.pass_ else "")

    def fulfilled_by(self, cell: Cell, outcome: Outcome) -> bool:
        """Whether this outcome is what was wished for."""
        if self.pass_ is not None and (outcome.failure is None or outcome.failure.pass_ != self.pass_):
            return False
        return self.judge(Result(cell=cell, built=self.built, outcome=outcome)) is self.wanted


def wish_to_keep(result: Result, judge: Judge, limits: Limits) -> Wish:
    """The wish that candidates fail as this result does. Raises SelectionError where it is not bad: then nothing can be kept."""
    asked = judge.about(result.outcome)
    if asked(result) is not Judgement.BAD:
        status = "flaky" if result.outcome.flaky else result.outcome.status
        raise SelectionError(
            f"{result.cell.id} is {status}: there is nothing to reduce",
            hint=f"`compat explain {result.cell.id}` tells what is known of it; --judge asks for something else than a failure.",
        )
    failure = result.outcome.failure
    vague = failure is not None and failure.kind == _SAYS_LITTLE and isinstance(asked.question, HasFingerprint)
    return Wish(
        built=result.built,
        judge=asked,
        wanted=Judgement.BAD,
        limits=_scaled(limits, result.outcome, asked),
        pass_=failure.pass_ if failure and vague else None,
    )


def wish_for_ok(result: Result, judge: Judge, limits: Limits) -> Wish:
    """The wish that candidates are good where this result is. Raises SelectionError where it is not."""
    if judge(result) is not Judgement.GOOD:
        raise SelectionError(f"{result.cell.id} is {result.outcome.status}, not good", where="--good")
    return Wish(built=result.built, judge=judge, wanted=Judgement.GOOD, limits=_scaled(limits, result.outcome, judge))


def _scaled(limits: Limits, outcome: Outcome, judge: Judge) -> Limits:
    """The limits for candidates. Those of a kernel that hangs are stopped soon; whether the last one hangs is seen at the end."""
    if judge.asks_metric:
        return limits
    seconds = _QUICKEST if outcome.status is Status.TIMED_OUT else max(_QUICKEST, _SLOWER * outcome.seconds)
    return evolve(limits, deadline=min(limits.deadline, seconds))


def expectation_of(result: Result) -> Expectation:
    """The declaration that a result like this is to be expected, of its release and target alone."""
    outcome, failure = result.outcome, result.outcome.failure
    return Expectation(
        status=outcome.status,
        kind=failure.kind if failure else None,
        releases=_exactly(result.built),
        targets=(result.cell.target.name,),
        reason=failure.excerpt.splitlines()[-1] if failure and failure.excerpt else "",
    )


def _exactly(built: BuiltEnv) -> SpecifierSet:
    return SpecifierSet(f"=={Version(built.triton).public}") if built.triton else SpecifierSet()


class Jury:
    """Judges candidates; the ``Judge`` of a search. Its servers start with the first candidate and end with it."""

    def __init__(
        self,
        spec: Specialization,
        target: Target,
        wishes: Sequence[Wish],
        *,
        slots: int | None = None,
        stop: threading.Event | None = None,
        idle_timeout: float = 0.0,
    ) -> None:
        """``idle_timeout`` as in :class:`compat.run.Bench`."""
        self.spec, self.target, self.wishes = spec, target, tuple(wishes)
        self.slots = slots or available_cores()
        self.stop = stop or threading.Event()
        self._workers = Workers(idle_timeout=idle_timeout)
        self._numbers = itertools.count()
        self._folder = tempfile.TemporaryDirectory(prefix="compat-reduce-", ignore_cleanup_errors=True)
        self._executor = ThreadPoolExecutor(self.slots, thread_name_prefix="slot")

    def __call__(self, candidates: Sequence[Candidate]) -> list[bool]:
        """Whether each candidate fulfils every wish.

        Raises :class:`compat.engine.supervise.Stopped` once ``stop`` is set, and EnvError's kin where a server cannot be had.
        """
        specs = [self._written(candidate) for candidate in candidates]
        left = set(range(len(specs)))
        for wish in self.wishes:
            shares = [sorted(left)[slot :: self.slots] for slot in range(self.slots)]
            judged = self._executor.map(lambda share, wish=wish: self._fulfilled([(n, specs[n]) for n in share], wish), shares)
            left = self._gathered(judged)
        for spec in specs:
            Path(spec.source).unlink(missing_ok=True)
        return [number in left for number in range(len(specs))]

    def _gathered(self, judged: Iterator[set[int]]) -> set[int]:
        try:
            return set().union(*judged)
        except BaseException:  # Ctrl-C while waiting: what is in flight must not go on
            self.stop.set()
            raise

    def _fulfilled(self, share: Sequence[tuple[int, Specialization]], wish: Wish) -> set[int]:
        """The numbers of those that fulfil a wish."""
        cells = [Cell(env=wish.built.env, target=self.target, spec=spec) for _, spec in share]
        attempts = list(self._attempts(cells, wish)) if cells else []
        fine = (
            wish.fulfilled_by(cell, classify.classify([evidence], target=cell.target))
            for cell, (_, evidence) in zip(cells, attempts, strict=True)
        )
        return {number for (number, _), good in zip(share, fine, strict=True) if good}

    def _attempts(self, cells: Sequence[Cell], wish: Wish) -> Iterator[tuple[Cell, Evidence]]:
        if wish.pass_ is None:
            yield from attempt(self._workers.of(wish.built), cells, wish.limits, stop=self.stop, mode=PLAIN)
            return
        for cell in cells:  # the failing pass is told by a dump, which takes a process of its own
            yield from attempt(self._workers.of(wish.built), [cell], wish.limits, stop=self.stop, mode=DIAGNOSTIC)

    def _written(self, candidate: Candidate) -> Specialization:
        path = Path(self._folder.name, f"candidate_{next(self._numbers)}.py")
        path.write_text(candidate.text, encoding="utf-8")
        return candidate.specialize(self.spec, str(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._workers.close()
        self._folder.cleanup()


def confirmed(history: Sequence[Candidate], holds: Callable[[Candidate], bool]) -> int:
    """Position of the last of these candidates that ``holds``; the first is known to, and is not asked.

    ``holds`` looks closer than the judge of the search did (alone, with the whole deadline), so mostly the last one is it. Where it
    is not, the search goes by halves.
    """
    low, high = 0, len(history) - 1
    if high > 0 and holds(history[high]):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(history[middle]) else (low, middle)
    return low
