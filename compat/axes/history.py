"""What a search along releases finds out: probes, the changes between them, and what they come to."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from compat.answers import Part
from compat.model import Failure, Result, Specialization, Status, Target
from compat.search.bisect import Judgement
from compat.search.judge import Judge
from compat.search.verdict import TOO_OLD, kind_of


class Answer(StrEnum):
    """What a history of releases comes to."""

    REGRESSED = "regressed"
    FIXED = "fixed"
    NEVER = "never-worked"
    ALWAYS = "always-worked"
    NON_MONOTONIC = "non-monotonic"
    FLAKY = "flaky"
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Probe:
    """One release, tried."""

    release: str
    result: Result
    judgement: Judgement

    @property
    def behaviour(self) -> tuple[Judgement, str | None, str | None]:
        """What has to be equal for two releases to behave the same; how a process ended is not part of it."""
        failure = self.result.outcome.failure
        return self.judgement, failure.kind if failure else None, failure.fingerprint if failure else None


@frozen(kw_only=True)
class Span:
    """Neighbouring probes that behave the same, first to last; what cannot be told has spans of its own."""

    probes: tuple[Probe, ...]

    @property
    def first(self) -> Probe:
        return self.probes[0]

    @property
    def last(self) -> Probe:
        return self.probes[-1]

    @property
    def statuses(self) -> tuple[Status, ...]:
        """How these ended, without repetitions."""
        return tuple(dict.fromkeys(probe.result.outcome.status for probe in self.probes))


@frozen(kw_only=True)
class Transition:
    """One change between releases that follow each other among those that could be told."""

    before: Probe
    after: Probe
    untested: tuple[str, ...] = ()
    """Releases between the two that could not be told, or were not tried."""

    @property
    def crosses(self) -> bool:
        """Whether it leads from good to bad or back, and not from one failure to another."""
        return self.before.judgement is not self.after.judgement

    @property
    def is_fix(self) -> bool:
        """Whether it leads from bad to good."""
        return self.crosses and self.after.judgement is Judgement.GOOD

    @property
    def failure(self) -> Failure | None:
        """The failure that it is about: that of the bad side, of the later one where both are bad."""
        return (self.before if self.is_fix else self.after).result.outcome.failure


@frozen(kw_only=True)
class ReleaseAnswer:
    """Since when, for one kernel variant and case on one target."""

    spec: Specialization
    target: Target
    judge: Judge
    answer: Answer
    searched: tuple[str, ...]
    """The candidates that the search was over, oldest first, whether they were tried or not."""
    probes: tuple[Probe, ...]
    """What was tried, oldest first."""
    bracket: Transition | None = None
    """The change that was looked for: the newest regression, or with ``fixed`` the newest fix, or the only change there is."""
    transitions: tuple[Transition, ...] = ()
    assumed: tuple[tuple[str, str], ...] = ()
    """Spans of releases, ends included, that were not tried and are taken to be like their neighbours."""
    otherwise: tuple[Probe, ...] = ()
    """Given ends that turned out other than they were given."""
    part: Part | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """The probes as runs that behave the same."""
        runs: list[list[Probe]] = []
        for probe in self.probes:
            if runs and runs[-1][-1].behaviour == probe.behaviour:
                runs[-1].append(probe)
            else:
                runs.append([probe])
        return tuple(Span(probes=tuple(probes)) for probes in runs)

    @property
    def flaky(self) -> tuple[str, ...]:
        """Releases whose attempts differ."""
        return tuple(probe.release for probe in self.probes if probe.result.outcome.flaky)

    @property
    def untold(self) -> tuple[Probe, ...]:
        """Probes that could not be told, flaky ones aside."""
        return tuple(p for p in self.probes if p.judgement is Judgement.UNKNOWN and not p.result.outcome.flaky)

    @property
    def needs(self) -> str | None:
        """The first release with what the kernel asks for, where all before lack the API or the target."""
        if self.answer is not Answer.FIXED or self.bracket is None:
            return None
        before = [probe.result.outcome for probe in self.probes if probe.judgement is Judgement.BAD]
        lacking = all(outcome.status is Status.UNSUPPORTED or kind_of(outcome) in TOO_OLD for outcome in before)
        return self.bracket.after.release if lacking else None
