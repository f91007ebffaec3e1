"""What the searches inside one failure find: the records that :mod:`compat.bisect` makes and that reports show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum

from attrs import frozen

from compat.bisect.criterion import Criterion
from compat.history.account import Account, Bracket, Judgement, Word, class_of
from compat.history.growth import SettingGrowth
from compat.model import Cell, Failure, Result, Specialization, Status, Target


class PartName(StrEnum):
    """The parts that every toolchain has; the others are called what the toolchain calls them."""

    FRONT_END = "front end"
    """From the kernel's source to the first IR."""
    LAUNCH = "launch"
    """Nothing broke while compiling; the limits of the GPU are exceeded."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Part:
    """Which part of the toolchain a change between two releases is in."""

    name: str
    """One of :class:`PartName`, or what the toolchain calls its passes, its back end or its assembler
    (:class:`compat.toolchains.CompilerParts`)."""
    sentence: str
    """The answer as one sentence."""
    steps: tuple[str, ...] = ()
    """The experiments and their results, one sentence each."""


@frozen(kw_only=True)
class PassAnswer:
    """Which compiler pass it is."""

    pass_: str | None
    """As ``mlir-opt`` names it; ``None`` where no pass is to blame."""
    stage: str | None
    sentence: str
    folder: str | None = None
    """The folder with the IR before every pass, one file each; ``None`` where no pass began."""
    diff: str = ""
    """Of two pipelines: how their IR differs after the first pass after which it does, ignoring names."""


@frozen(kw_only=True)
class SettingNeed:
    """A constexpr, option or hint that the failure depends on."""

    setting: str
    """Its name: ``BLOCK_L``, ``num_warps``, ``divisible_by_16: K_ptr``; ``hints`` where it is about several of them."""
    value: str
    """As it is where the cell fails."""
    ok: tuple[str, ...]
    """Values with which, all else unchanged, the cell is ok."""
    fails: tuple[str, ...]
    """Other values with which it still fails the same way."""
    sentence: str
    """``fails with num_warps = 8 and 16, ok with 4``: all that it speaks of was compiled."""


class SearchEnd(StrEnum):
    """How a search for settings ended."""

    DONE = "done"
    BUDGET = "budget"
    """Its time was over before every change was tried."""
    INTERRUPTED = "interrupted"


@frozen(kw_only=True)
class ConfigAnswer:
    """Which part of a specialization the failure needs."""

    sentence: str
    needs: tuple[SettingNeed, ...] = ()
    tried: int = 0
    """How many changed specializations were compiled."""
    untried: int = 0
    """How many more there would have been at most, where the search ended early."""
    ended: SearchEnd = SearchEnd.DONE

    @property
    def conclusive(self) -> bool:
        """Whether it is the whole answer, or has found a change that helps."""
        return self.ended is SearchEnd.DONE or bool(self.needs)


@frozen(kw_only=True)
class GrowthAnswer:
    """How the time of a compile grows with its settings."""

    sentence: str
    growths: tuple[SettingGrowth, ...] = ()
    ended: SearchEnd = SearchEnd.DONE

    @property
    def conclusive(self) -> bool:
        """Whether it grows with one of them."""
        return any(growth.grows for growth in self.growths)


@frozen(kw_only=True)
class CellAnswer:
    """What a search inside the failure of one cell found."""

    cell: Cell
    answer: Part | PassAnswer | ConfigAnswer | GrowthAnswer | None
    """``None`` if the cell works."""

    @property
    def conclusive(self) -> bool:
        """Whether it answers the question."""
        return self.answer.conclusive if isinstance(self.answer, ConfigAnswer | GrowthAnswer) else self.answer is not None


class Effect(StrEnum):
    """What a change of a cell does to its failure."""

    OK = "ok"
    SAME = "same"
    """It fails the same way."""
    UNKNOWN = "inconclusive"
    """It fails differently, or there is no answer: inconclusive."""


def listed(words: Iterable[str]) -> str:
    """Words as a sentence lists them: ``4, 8 and 16``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


@frozen(kw_only=True)
class ReleaseProbe:
    """One release, tried."""

    release: str
    result: Result
    """The result that represents it."""
    judgement: Judgement
    others: tuple[Result, ...] = ()
    """Of further envs of the same release."""
    unsteady: bool = False
    """Its answers differ: between attempts, or between envs of this release."""
    remembered: bool = False
    """Not tried by this search: an earlier run left the result."""

    @property
    def results(self) -> tuple[Result, ...]:
        """Of every env of this release that was tried."""
        return self.result, *self.others

    @property
    def released(self) -> date | None:
        """The day on which the release was published, where its env says."""
        return self.result.cell.env.released

    @property
    def answered(self) -> bool:
        """Whether any of its envs said something of the kernel."""
        return any(result.outcome.status.is_answer for result in self.results)

    @property
    def divided(self) -> bool:
        """Whether its envs disagree, each of them being steady."""
        return self.unsteady and not any(result.outcome.flaky for result in self.results)

    @property
    def behaviour(self) -> tuple[Judgement, str | None, str | None]:
        """What has to be equal for two releases to behave the same; how a process ended is not part of it."""
        failure = self.result.outcome.failure
        return self.judgement, failure.failure_class if failure else None, failure.fingerprint if failure else None

    @property
    def summary(self) -> str:
        """The failure's class, or the status; of a release whose envs disagree, what each says."""
        if not self.divided:
            return class_of(self.result.outcome)
        return ", ".join(f"{result.cell.env.name} {class_of(result.outcome)}" for result in self.results)


@frozen(kw_only=True)
class Span:
    """Neighbouring probes that behave the same, first to last; what cannot be told has spans of its own."""

    probes: tuple[ReleaseProbe, ...]

    @property
    def first(self) -> ReleaseProbe:
        return self.probes[0]

    @property
    def last(self) -> ReleaseProbe:
        return self.probes[-1]

    @property
    def statuses(self) -> tuple[Status, ...]:
        """How these ended, without repetitions."""
        return tuple(dict.fromkeys(probe.result.outcome.status for probe in self.probes))


@frozen(kw_only=True)
class Transition:
    """One change between releases that follow each other among those that could be told."""

    before: ReleaseProbe
    after: ReleaseProbe
    untested: tuple[str, ...] = ()
    """Inconclusive releases between the two: not tested, no answer, or flaky."""

    @property
    def crosses(self) -> bool:
        """Whether it leads from good to bad or back, and not from one failure to another."""
        return self.before.judgement is not self.after.judgement

    @property
    def is_fix(self) -> bool:
        """Whether it leads from bad to good."""
        return self.crosses and self.after.judgement is Judgement.GOOD

    @property
    def bracket(self) -> Bracket:
        """The same by the names of the releases."""
        return Bracket(before=self.before.release, after=self.after.release, is_fix=self.is_fix, between=self.untested)

    @property
    def failure(self) -> Failure | None:
        """The failure that it is about: that of the bad side, of the later one where both are bad."""
        return (self.before if self.is_fix else self.after).result.outcome.failure


@frozen(kw_only=True)
class ReleaseAnswer:
    """Since when, for one kernel variant and case on one target."""

    spec: Specialization
    target: Target
    criterion: Criterion
    account: Account
    """The account of the releases."""
    searched: tuple[str, ...]
    """The candidates that the search was over, oldest first, whether they were tried or not."""
    probes: tuple[ReleaseProbe, ...]
    """What is known, oldest first: the candidates that were tried, and what earlier runs found of releases between them."""
    bracket: Transition | None = None
    """The change that was looked for: the account's, or with ``fixed`` the newest fix."""
    transitions: tuple[Transition, ...] = ()
    assumed: tuple[tuple[str, str], ...] = ()
    """Spans of candidates, ends included, that were not tried and are taken to be like their neighbours."""
    otherwise: tuple[ReleaseProbe, ...] = ()
    """Given endpoints that turned out differently."""
    part: Part | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """The probes as runs that behave the same."""
        runs: list[list[ReleaseProbe]] = []
        for probe in self.probes:
            if runs and runs[-1][-1].behaviour == probe.behaviour and not probe.unsteady and not runs[-1][-1].unsteady:
                runs[-1].append(probe)
            else:
                runs.append([probe])
        return tuple(Span(probes=tuple(probes)) for probes in runs)

    @property
    def unsteady(self) -> tuple[ReleaseProbe, ...]:
        """Probes whose attempts or envs disagree."""
        return tuple(probe for probe in self.probes if probe.unsteady)

    @property
    def untold(self) -> tuple[ReleaseProbe, ...]:
        """Probes that could not be told, unsteady ones aside."""
        return tuple(p for p in self.probes if p.judgement is Judgement.UNKNOWN and not p.unsteady)

    @property
    def not_tried(self) -> tuple[str, ...]:
        """Releases that exist, that nothing is known of, and that are not assumed to be anything either."""
        places = [(self.account.line.index(first), self.account.line.index(last)) for first, last in self.assumed]
        return tuple(
            release
            for place, release in enumerate(self.account.line)
            if release in self.account.not_tried and not any(first <= place <= last for first, last in places)
        )

    @property
    def needs(self) -> str | None:
        """The first release known to have what the kernel asks for, where all before lack the API or the target."""
        if self.account.word is Word.NEEDS:
            return self.account.release
        return self.account.since.after if self.account.since else None


def group_alike(answers: Sequence[ReleaseAnswer]) -> tuple[tuple[ReleaseAnswer, ...], ...]:
    """Answers of one variant that are the same but for case and target, together, in the order in which they first appear."""
    groups: dict[object, list[ReleaseAnswer]] = defaultdict(list)
    for answer in answers:
        groups[_sameness(answer)].append(answer)
    return tuple(tuple(members) for members in groups.values())


def _sameness(answer: ReleaseAnswer) -> object:
    account = answer.account
    spans = tuple((span.first.release, span.last.release, span.first.behaviour, span.statuses) for span in answer.spans)
    otherwise = tuple(probe.release for probe in answer.otherwise)
    facts = (account.word, account.bracket, account.since, account.not_tried, account.flaky)
    place = (answer.spec.case, answer.target.name) if answer.criterion.asks_launches else ()  # each has numbers of its own
    return answer.spec.kernel, answer.spec.variant, facts, answer.criterion, spans, otherwise, place
