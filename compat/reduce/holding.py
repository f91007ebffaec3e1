"""What a reduction preserves: the kernel's outcome in each release, and which of them every candidate is tested for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import define, evolve, field, frozen
from packaging.version import Version

from compat.bisect.criterion import Criterion, parse_criterion
from compat.bisect.search import Judgement
from compat.execution.flight import Limits
from compat.model import BuiltEnv, Env, Result
from compat.reduce.interestingness import Requirement, requirement_of, requirement_to_be_ok, requirement_to_stay, same


@frozen(kw_only=True)
class Difference:
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


def differences(before: Iterable[Result], after: Iterable[Result]) -> list[Difference]:
    """Where the outcome of a kernel differs from that of another, of the envs that both were tried in and that give an answer."""
    reduced = {each.cell.env.name: each for each in after}
    pairs = ((one, reduced[one.cell.env.name]) for one in before if one.cell.env.name in reduced)
    answers = ((one, other) for one, other in pairs if one.outcome.status.is_answer and other.outcome.status.is_answer)
    return [
        Difference(before=one, after=other)
        for one, other in answers
        if one.outcome.flaky or other.outcome.flaky or not same(one.outcome, other.outcome)
    ]


@define(kw_only=True)
class Holding:
    """The requirements of a reduction."""

    named: tuple[Requirement, ...]
    """The named requirements, the failure to preserve first; all are required."""
    others: list[Requirement]
    """That the outcome on all other releases stays the same."""
    asked: set[str] = field(factory=set)
    """Names of the envs that every candidate is tried in."""
    let_go: list[tuple[BuiltEnv, str]] = field(factory=list)
    """What is not preserved, and why."""

    @classmethod
    def of(
        cls, bad: Sequence[Result], good: Sequence[Result], rest: Sequence[Result], criterion: Criterion, limits: Limits
    ) -> Holding:
        """What is to stay of these results: ``bad`` and ``good`` were named, ``rest`` are those of other releases.

        Raises SelectionError where what was named is not as it was named.
        """
        named = [requirement_of(each, criterion, limits) for each in newest_first(bad)]
        named += [requirement_to_be_ok(each, parse_criterion("ok"), limits) for each in good]
        others = {each.cell.env.name: requirement_to_stay(each, limits) for each in reversed(newest_first(rest))}
        built = {each.cell.env.name: each.built for each in rest}
        holding = cls(named=tuple(named), others=[requirement for requirement in others.values() if requirement])
        holding.let_go += [
            (built[name], "no answer there, or flaky") for name, requirement in others.items() if requirement is None
        ]
        first = named[:1] if bad else named
        holding.asked = {requirement.built.env.name for requirement in (*first, *(holding.neighbours() if bad else ()))}
        return holding

    @classmethod
    def of_launched(cls, bad: Sequence[Result], good: Sequence[Result], rest: Sequence[Result], limits: Limits) -> Holding:
        """The same where launches are compared: it has to compile in ``bad`` and in ``good``. Raises as the other does."""
        ok = parse_criterion("ok")
        holding = cls.of((), (*newest_first(bad), *good), rest, ok, limits)
        return evolve(holding, named=tuple(evolve(requirement, launched=True) for requirement in holding.named))

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """All of them, the failure to preserve first."""
        return (*self.named, *self.others)

    def neighbours(self) -> list[Requirement]:
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

    def tiers(self, patience: float, whole: float) -> tuple[list[Requirement], list[Requirement]]:
        """The requirements that are asked of every candidate, and those for what is about to be accepted.

        Deadlines are ``patience`` times as long, up to the ``whole`` one. That other releases hang is looked at in the end alone,
        since it takes longer than anything else.
        """
        first = [requirement for requirement in self.requirements if requirement.built.env.name in self.asked]
        later = [
            requirement
            for requirement in self.requirements
            if requirement.built.env.name not in self.asked and not requirement.hangs
        ]
        return [_patient(requirement, patience, whole) for requirement in first], [
            _patient(requirement, patience, whole) for requirement in later
        ]

    def may_wait_longer(self, patience: float, whole: float) -> bool:
        """Whether a hang was waited for less than the ``whole`` deadline."""
        return any(requirement.hangs and patience * requirement.limits.deadline < whole for requirement in self.requirements)

    def let(self, name: str, why: str) -> bool:
        """Stop preserving the outcome in an env; false if that was asked for."""
        gone = [requirement for requirement in self.others if requirement.built.env.name == name]
        self.others = [requirement for requirement in self.others if requirement not in gone]
        self.let_go += [(requirement.built, why) for requirement in gone]
        return bool(gone)

    def lines(self) -> list[str]:
        """What is preserved, in words: envs with the same outcome in one line."""
        by_words: dict[str, list[str]] = {}
        for requirement in self.requirements:
            by_words.setdefault(requirement.words, []).append(requirement.built.env.name + requirement.place)
        return [f"{words} on {', '.join(names)}" for words, names in by_words.items()]


def newest_first(results: Sequence[Result]) -> list[Result]:
    """Results by release; of envs that say none, last."""
    return sorted(results, key=lambda each: _version(each.cell.env) or Version("0"), reverse=True)


def _version(env: Env) -> Version | None:
    return env.release


def _patient(requirement: Requirement, patience: float, whole: float) -> Requirement:
    return evolve(requirement, limits=evolve(requirement.limits, deadline=min(whole, patience * requirement.limits.deadline)))
