"""What a reduction preserves: the kernel's outcome in each release, and which of them every candidate is tested for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import define, evolve, field, frozen
from packaging.version import Version

from compat.bisect.criterion import Criterion, parse_criterion
from compat.bisect.search import Judgement
from compat.model import BuiltEnv, Env, Result
from compat.reduce.interestingness import CandidateRequirement, requirement_of, requirement_to_be_ok, requirement_to_stay, same
from compat.workers.attempt import Limits


@frozen(kw_only=True)
class ReleaseDifference:
    """A release in which a reduced kernel differs from the original."""

    before: Result
    after: Result

    @property
    def text(self) -> str:
        """In words: ``3.1.0: ok, the original is rejected (api-missing)``."""
        return f"{label(self.after.built)}: {_fate(self.after)}, the original {_fate(self.before)}"


def label(built: BuiltEnv) -> str:
    """What a reader knows an env by."""
    return built.release or built.env.name


def _fate(result: Result) -> str:
    outcome = result.outcome
    if outcome.flaky:
        return "flaky"
    return f"{outcome.status} ({outcome.failure.failure_class})" if outcome.failure else str(outcome.status)


def differences(before: Iterable[Result], after: Iterable[Result]) -> list[ReleaseDifference]:
    """Where the outcome of a kernel differs from that of another, of the envs that both were tried in and that give an answer."""
    reduced = {result.cell.env.name: result for result in after}
    pairs = ((one, reduced[one.cell.env.name]) for one in before if one.cell.env.name in reduced)
    answers = ((one, other) for one, other in pairs if one.outcome.status.is_answer and other.outcome.status.is_answer)
    return [
        ReleaseDifference(before=one, after=other)
        for one, other in answers
        if one.outcome.flaky or other.outcome.flaky or not same(one.outcome, other.outcome)
    ]


@define(kw_only=True)
class Goal:
    """The requirements of a reduction."""

    named: tuple[CandidateRequirement, ...]
    """The named requirements, the failure to preserve first; all are required."""
    others: list[CandidateRequirement]
    """That the outcome on all other releases stays the same."""
    tested: set[str] = field(factory=set)
    """Names of the envs that every candidate is tried in."""
    dropped: list[tuple[BuiltEnv, str]] = field(factory=list)
    """What is not preserved, and why."""

    @classmethod
    def of(
        cls, bad: Sequence[Result], good: Sequence[Result], rest: Sequence[Result], criterion: Criterion, limits: Limits
    ) -> Goal:
        """What is to stay of these results: ``bad`` and ``good`` were named, ``rest`` are those of other releases.

        Raises SelectionError where what was named is not as it was named.
        """
        named = [requirement_of(result, criterion, limits) for result in newest_first(bad)]
        named += [requirement_to_be_ok(result, parse_criterion("ok"), limits) for result in good]
        others = {result.cell.env.name: requirement_to_stay(result, limits) for result in reversed(newest_first(rest))}
        built = {result.cell.env.name: result.built for result in rest}
        goal = cls(named=tuple(named), others=[requirement for requirement in others.values() if requirement])
        goal.dropped += [(built[name], "no answer there, or flaky") for name, requirement in others.items() if requirement is None]
        first = named[:1] if bad else named
        goal.tested = {requirement.built.env.name for requirement in (*first, *(goal.neighbours() if bad else ()))}
        return goal

    @classmethod
    def of_launched(cls, bad: Sequence[Result], good: Sequence[Result], rest: Sequence[Result], limits: Limits) -> Goal:
        """The same where launches are compared: it has to compile in ``bad`` and in ``good``. Raises as the other does."""
        ok = parse_criterion("ok")
        goal = cls.of((), (*newest_first(bad), *good), rest, ok, limits)
        return evolve(goal, named=tuple(evolve(requirement, launched=True) for requirement in goal.named))

    @property
    def requirements(self) -> tuple[CandidateRequirement, ...]:
        """All of them, the failure to preserve first."""
        return (*self.named, *self.others)

    def neighbours(self) -> list[CandidateRequirement]:
        """The nearest releases before and after the failure that are good: changes that lose a regression mostly fail on these."""
        place = _version(self.named[0].built.env)
        good = [
            (_version(requirement.built.env), requirement)
            for requirement in self.requirements
            if requirement.wanted is Judgement.GOOD
        ]
        placed = [(version, requirement) for version, requirement in good if version is not None]
        if place is None:
            return [requirement for _, requirement in placed[:1]]
        before = max((pair for pair in placed if pair[0] < place), key=lambda pair: pair[0], default=None)
        after = min((pair for pair in placed if pair[0] > place), key=lambda pair: pair[0], default=None)
        return [pair[1] for pair in (before, after) if pair]

    def tiers(self, patience: float, whole: float) -> tuple[list[CandidateRequirement], list[CandidateRequirement]]:
        """The requirements that are asked of every candidate, and those for what is about to be accepted.

        Deadlines are ``patience`` times as long, up to the ``whole`` one. That other releases hang is looked at in the end alone,
        since it takes longer than anything else.
        """
        first = [requirement for requirement in self.requirements if requirement.built.env.name in self.tested]
        later = [
            requirement
            for requirement in self.requirements
            if requirement.built.env.name not in self.tested and not requirement.hangs
        ]
        return [_patient(requirement, patience, whole) for requirement in first], [
            _patient(requirement, patience, whole) for requirement in later
        ]

    def may_wait_longer(self, patience: float, whole: float) -> bool:
        """Whether a hang was waited for less than the ``whole`` deadline."""
        return any(requirement.hangs and patience * requirement.limits.deadline < whole for requirement in self.requirements)

    def drop(self, name: str, why: str) -> bool:
        """Stop preserving the outcome in an env; false if that was asked for."""
        dropped = [requirement for requirement in self.others if requirement.built.env.name == name]
        self.others = [requirement for requirement in self.others if requirement not in dropped]
        self.dropped += [(requirement.built, why) for requirement in dropped]
        return bool(dropped)

    def lines(self) -> list[str]:
        """What is preserved, in words: envs with the same outcome in one line."""
        by_words: dict[str, list[str]] = {}
        for requirement in self.requirements:
            by_words.setdefault(requirement.description, []).append(requirement.built.env.name + requirement.place)
        return [f"{text} on {', '.join(names)}" for text, names in by_words.items()]


def newest_first(results: Sequence[Result]) -> list[Result]:
    """Results by release; of envs that say none, last."""
    return sorted(results, key=lambda each: _version(each.cell.env) or Version("0"), reverse=True)


def _version(env: Env) -> Version | None:
    return env.release


def _patient(requirement: CandidateRequirement, patience: float, whole: float) -> CandidateRequirement:
    return evolve(requirement, limits=evolve(requirement.limits, deadline=min(whole, patience * requirement.limits.deadline)))
