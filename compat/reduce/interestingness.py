"""The test whether candidates of a reduction are interesting, with real compilers.

It compiles many candidates at once, in warm workers, each in a child process.

A candidate must fulfil a list of requirements, one per env. It must fail as the kernel did (or as
the user's own criterion says), or be ok where the kernel is ok. A candidate that does not meet one
requirement is not tried in the next env.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

from attrs import evolve, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat import toolchains
from compat.bisect.criterion import Criterion, HasFingerprint, parse_criterion
from compat.bisect.measures import TakesLonger
from compat.engine.run import RunContext, outcome_of
from compat.errors import SelectionError
from compat.executors.executor import Batch, CellAttempts, Executor, LocalExecutor
from compat.files import Closing, TemporaryFolder
from compat.history.account import Judgement, is_good
from compat.launch.building import Launchable, launch_mode, launchable_of
from compat.model import (
    BuiltEnv,
    Cell,
    Expectation,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
)
from compat.processes.supervisor import AVAILABLE_CORES
from compat.reduce.candidate import Candidate
from compat.reduce.numbers import NumbersQuestion, keeps_types
from compat.workers.attempt import DIAGNOSTIC, PLAIN, Limits, timing_mode

_QUICKEST = 2.0
"""The minimum deadline of a candidate, in seconds."""
_SLOWER = 5.0
"""The deadline of a candidate as a multiple of the kernel's own time. A candidate is simpler, so
one that takes longer hangs.
"""
_PATIENCE = 20.0
"""The minimum deadline in seconds of a candidate whose CPU time is measured. A busy machine takes
longer, but measures the same CPU time.
"""


@frozen(kw_only=True)
class CandidateRequirement:
    """The requirement on candidates in one env."""

    built: BuiltEnv
    criterion: Criterion
    judgement: Judgement
    limits: Limits
    pass_: str | None = None
    """The pass that must fail, if the failure has no message of its own."""
    launched: bool = False
    """Whether the search also launches the build of this env."""

    @property
    def env(self) -> str:
        """The name of the env."""
        return self.built.env.name

    @property
    def hangs(self) -> bool:
        """Whether candidates are required to hang."""
        question = self.criterion.question
        return isinstance(question, HasFingerprint) and (question.fingerprint or "").startswith(
            "timeout:"
        )

    @property
    def description(self) -> str:
        """The preserved outcome, in words."""
        if self.judgement is Judgement.GOOD:
            return "ok"
        question = self.criterion.question
        return (
            (question.fingerprint or "")
            if isinstance(question, HasFingerprint)
            else self.criterion.text
        )

    @property
    def place(self) -> str:
        """The required pass, in words."""
        return f" in {self.pass_}" if self.pass_ else ""

    @property
    def text(self) -> str:
        """The whole requirement, in words for the user."""
        return f"{self.description} on {self.env}{self.place}"

    def accepts_outcome(self, cell: Cell, outcome: Outcome) -> bool:
        """Whether an outcome fulfils the requirement."""
        if self.pass_ is not None and (
            outcome.failure is None or outcome.failure.pass_ != self.pass_
        ):
            return False
        return (
            self.criterion(Result(cell=cell, built=self.built, outcome=outcome)) is self.judgement
        )


def requirement_of(result: Result, criterion: Criterion, limits: Limits) -> CandidateRequirement:
    """Return the requirement that candidates fail as this result does.

    Raises SelectionError if the result does not count as bad.
    """
    specific = criterion.about(result.outcome)
    if specific(result) is not Judgement.BAD:
        status = "flaky" if result.outcome.flaky else result.outcome.status
        raise SelectionError(
            f"{result.cell.id} is {status}, so there is nothing to reduce",
            hint=(
                f"See `compat explain {result.cell.id}`, or reduce something other than a failure"
                " with --judge."
            ),
        )
    failure = result.outcome.failure
    vague = (
        failure is not None
        and toolchains.known_class(failure).says_little
        and isinstance(specific.question, HasFingerprint)
    )
    return CandidateRequirement(
        built=result.built,
        criterion=specific,
        judgement=Judgement.BAD,
        limits=_candidate_limits(limits, result.outcome, specific),
        pass_=failure.pass_ if failure and vague else None,
    )


def requirement_to_be_ok(result: Result, limits: Limits) -> CandidateRequirement:
    """Return the requirement that candidates are ok in the env of this result.

    Raises SelectionError if the result itself is not good.
    """
    criterion = parse_criterion("ok")
    if criterion(result) is not Judgement.GOOD:
        raise SelectionError(
            f"{result.cell.id} is {result.outcome.status}, not good",
            where="--good",
            hint=f"Name another env or release. `compat explain {result.cell.id}` says more.",
        )
    limits = _candidate_limits(limits, result.outcome, criterion)
    return CandidateRequirement(
        built=result.built, criterion=criterion, judgement=Judgement.GOOD, limits=limits
    )


def requirement_to_stay(result: Result, limits: Limits) -> CandidateRequirement | None:
    """Return the requirement that candidates get the same outcome as this result.

    An ok result stays ok, and a failure stays that failure. Returns ``None`` if there is nothing to
    preserve, because the result is flaky or says nothing about the kernel.
    """
    if is_good(result.outcome) and not result.outcome.flaky:
        return requirement_to_be_ok(result, limits)
    criterion = parse_criterion("same-failure").about(result.outcome)
    return requirement_of(result, criterion, limits) if criterion(result) is Judgement.BAD else None


def same(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes are the same: both are good, or both fail the same way."""
    failures = [
        outcome.failure.fingerprint if outcome.failure else None for outcome in (one, other)
    ]
    return failures[0] == failures[1] and is_good(one) == is_good(other)


def _candidate_limits(limits: Limits, outcome: Outcome, criterion: Criterion) -> Limits:
    """Return the limits for candidates.

    Candidates of a kernel that hangs are stopped soon. Whether the last one hangs is tested at the
    end.
    """
    # A candidate that takes longer than the criterion asks for is slow enough.
    if isinstance(criterion.question, TakesLonger):
        inside = sum(outcome.stages.values()) - outcome.stages.get(outcome.stage, 0.0)
        seconds = max(
            _PATIENCE, _SLOWER * (criterion.question.number + min(inside, outcome.seconds))
        )
        return evolve(limits, deadline=min(limits.deadline, seconds))
    if criterion.asks_metric:
        return limits
    seconds = (
        _QUICKEST
        if outcome.status is Status.TIMED_OUT
        else max(_QUICKEST, _SLOWER * outcome.seconds)
    )
    return evolve(limits, deadline=min(limits.deadline, seconds))


def expectations_of(results: Sequence[Result]) -> list[Expectation]:
    """Return expectations that declare the failures in results, for their releases and target.

    ``results`` are those of a kernel for one target, including good ones. Consecutive releases with
    the same outcome share an expectation.
    """
    placed = sorted(
        (result for result in results if result.built.release),
        key=lambda result: Version(str(result.built.release)),
    )
    declared = []
    for _, run in groupby(
        placed,
        key=lambda result: (
            result.outcome.status,
            result.outcome.failure and result.outcome.failure.fingerprint,
        ),
    ):
        steady = [
            result for result in run if not result.outcome.flaky and result.outcome.status.is_answer
        ]
        if steady and (failure := steady[0].outcome.failure):
            declared.append(
                Expectation(
                    status=steady[0].outcome.status,
                    failure_class=failure.failure_class,
                    releases=_from_to(steady[0].built, steady[-1].built),
                    targets=(steady[0].cell.target.name,),
                    reason=(failure.excerpt.splitlines() or [""])[-1],
                )
            )
    return declared


def _from_to(first: BuiltEnv, last: BuiltEnv) -> SpecifierSet:
    low, high = (Version(str(env.release)).public for env in (first, last))
    return SpecifierSet(f"=={low}" if low == high else f">={low},<={high}")


class InterestingnessTest(Closing):
    """The interestingness test.

    Its workers start with the first candidate and end when the test is closed.

    Most candidates already fail the one requirement for the failure. So the requirements for a
    dozen other releases apply only to candidates that a search is about to accept (:meth:`verify`).
    A requirement that refuses such a candidate applies to every candidate from then on, because
    similar candidates will fail there, too.
    """

    def __init__(
        self,
        spec: Specialization,
        target: Target,
        requirements: Sequence[CandidateRequirement],
        *,
        later: Sequence[CandidateRequirement] = (),
        slots: int | None = None,
        stop: threading.Event | None = None,
        context: RunContext | None = None,
        question: NumbersQuestion | None = None,
    ) -> None:
        """Prepare a test of candidates.

        ``later`` are the requirements for :meth:`verify`. ``context`` has the executor that
        compiles candidates, by default this machine. ``question`` is asked about candidates that
        fulfil all requirements but the later ones.
        """
        self.spec, self.target, self.requirements, self.later = (
            spec,
            target,
            list(requirements),
            list(later),
        )
        self.stop = stop or threading.Event()
        self.compiled = 0
        """The number of compiles of a candidate in an env."""
        self._executor: Executor = (
            context.open_executor(self.stop) if context else LocalExecutor(stop=self.stop)
        )
        self.slots = self._executor.slots or slots or AVAILABLE_CORES
        self._numbers = itertools.count()
        self._folder = TemporaryFolder("compat-reduce-")
        self._tested_requirements: dict[str, int] = {}
        """Candidate that passed → how many of the first requirements it was tested with."""
        self._threads = ThreadPoolExecutor(self.slots, thread_name_prefix="slot")
        self._question = question
        self._launchable: dict[tuple[str, str], Launchable] = {}
        """Source and env → the build of a current candidate."""

    def __call__(self, candidates: Sequence[Candidate]) -> list[bool]:
        """Whether each candidate fulfils every requirement but those for later.

        Raises :class:`compat.interruption.Stopped` once ``stop`` is set, and EnvError if a worker
        cannot be started.
        """
        specs = [self._write_candidate(candidate) for candidate in candidates]
        # Launches pass the arguments of the original, so no other types need a compile.
        passing = {
            number
            for number, candidate in enumerate(candidates)
            if self._question is None or keeps_types(candidate, self.spec)
        }
        for requirement in self.requirements:
            shares = [sorted(passing)[slot :: self.slots] for slot in range(self.slots)]
            judged = self._threads.map(
                lambda share, requirement=requirement: self._test_share(
                    [(n, specs[n]) for n in share], requirement
                ),
                shares,
            )
            self.compiled += len(passing)
            passing = set().union(*self._gather(judged))
        passing = self._differing(sorted(passing), specs)
        for spec in specs:
            Path(spec.source).unlink(missing_ok=True)
        self._tested_requirements |= {
            candidates[number].key: len(self.requirements) for number in passing
        }
        return [number in passing for number in range(len(specs))]

    def begin(self, candidate: Candidate) -> None:
        """Ask the question about the kernel itself. Candidates are compared with the answer.

        Raises SelectionError if the question does not hold for the kernel.
        """
        if self._question is None:
            return
        spec = self._write_candidate(candidate)
        for requirement in self.requirements:
            self._test_share([(0, spec)], requirement)
        Path(spec.source).unlink(missing_ok=True)
        self._question.begin(self._builds_by_env(spec), self.stop)

    def _differing(self, numbers: Sequence[int], specs: Sequence[Specialization]) -> set[int]:
        """The candidates for which the question holds; all of them without a question."""
        if self._question is None:
            return set(numbers)
        answers = self._question(
            [self._builds_by_env(specs[number]) for number in numbers], self.stop
        )
        self._launchable.clear()
        return {number for number, answer in zip(numbers, answers, strict=True) if answer}

    def _builds_by_env(self, spec: Specialization) -> dict[str, Launchable]:
        """Env → the build of a candidate."""
        return {
            env: launchable
            for (source, env), launchable in self._launchable.items()
            if source == spec.source
        }

    def verify(self, candidate: Candidate) -> bool:
        """Whether a candidate fulfils all requirements that it was not tested with yet.

        Raises as a call of this object does.
        """
        return self.refusing(candidate) is None

    def refusing(self, candidate: Candidate) -> CandidateRequirement | None:
        """Return the first requirement that a candidate does not fulfil.

        Requirements that the candidate has passed already are left out.
        """
        waiting = [
            *self.requirements[self._tested_requirements.get(candidate.key, 0) :],
            *self.later,
        ]
        spec = self._write_candidate(candidate)
        refused = None
        while waiting and refused is None:
            some, waiting = waiting[: self.slots], waiting[self.slots :]
            self.compiled += len(some)
            judged = self._gather(
                self._threads.map(
                    lambda requirement: self._test_share([(0, spec)], requirement), some
                )
            )
            refused = next(
                (
                    requirement
                    for requirement, fulfilled in zip(some, judged, strict=True)
                    if not fulfilled
                ),
                None,
            )
        Path(spec.source).unlink(missing_ok=True)
        if refused in self.later:
            self.later.remove(refused)
            self.requirements.append(refused)
        return refused

    def _gather(self, judged: Iterator[set[int]]) -> list[set[int]]:
        try:
            return list(judged)
        except BaseException:  # Ctrl-C while waiting: the running batches must stop
            self.stop.set()
            raise

    def _test_share(
        self, share: Sequence[tuple[int, Specialization]], requirement: CandidateRequirement
    ) -> set[int]:
        """Compile candidates, and return the numbers of those that fulfil a requirement."""
        cells = [
            Cell(env=requirement.built.env, target=self.target, spec=spec) for _, spec in share
        ]
        if not cells:
            return set()
        # A dump shows the failing pass.
        mode = PLAIN if requirement.pass_ is None else DIAGNOSTIC
        if requirement.criterion.asks_passes:
            mode = timing_mode(toolchains.of(requirement.built.env)) or PLAIN
        if requirement.launched:
            mode = launch_mode(cells[0])
        batch = Batch(
            cells, requirement.built, requirement.limits, mode=mode, keep=requirement.launched
        )
        outcomes: dict[int, Outcome] = {}
        for answer in self._executor.submit(batch):
            cell = cells[answer.position]
            outcomes[answer.position] = outcome_of(cell, answer.attempts)
            if requirement.launched and answer.attempts[0].has_binary:
                self._keep(cell, requirement.built, answer)
        return {
            number
            for position, (number, _) in enumerate(share)
            if requirement.accepts_outcome(cells[position], outcomes[position])
        }

    def _keep(self, cell: Cell, built: BuiltEnv, answer: CellAttempts) -> None:
        launchable = launchable_of(cell, built, answer.attempts[0], answer.artifacts.get)
        if isinstance(launchable, Launchable):
            self._launchable[cell.spec.source, cell.env.name] = launchable

    def _write_candidate(self, candidate: Candidate) -> Specialization:
        path = Path(self._folder.path, f"candidate_{next(self._numbers)}.py")
        path.write_text(candidate.text, encoding="utf-8")
        return candidate.specialize(self.spec, str(path))

    def close(self) -> None:
        """End all tests, and remove the candidates."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._executor.close()
        self._folder.close()


def confirmed_positions(
    history: Sequence[Candidate], holds: Callable[[Candidate], bool]
) -> Iterator[int]:
    """Yield positions in ``history``. Each is a better answer than the one before.

    The last position is that of the last candidate that ``holds``. ``holds`` tests more closely
    than the search did: alone, and with the whole deadline. The last candidate mostly holds. If it
    does not, a binary search follows. The first candidate is known to hold, and is not tested.
    """
    low, high = 0, len(history) - 1
    if high == 0 or holds(history[high]):
        yield high
        return
    yield low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(history[middle]) else (low, middle)
        yield low
