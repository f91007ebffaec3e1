"""Records of what bisections find. :mod:`compat.bisect` makes them and reports show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum

from attrs import frozen

from compat.bisect.criterion import Criterion
from compat.history.account import Account, Bracket, Judgement, Word, class_of, failure_of
from compat.history.growth import SettingGrowth
from compat.interruption import Budget, is_requested
from compat.model import Cell, Failure, Result, Specialization, Status, Target
from compat.text import group_by_key


class PartName(StrEnum):
    """Parts that every toolchain has. A toolchain names its others."""

    FRONT_END = "front end"
    """From the kernel's source to the first IR."""
    LAUNCH = "launch"
    """Nothing broke while compiling; the limits of the GPU are exceeded."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Part:
    """The part of the toolchain that contains a change between two releases."""

    name: str
    """A :class:`PartName`, or the toolchain's name for its passes, back end or assembler
    (:class:`compat.toolchains.base.CompilerParts`).
    """
    sentence: str
    """The answer as one sentence."""
    steps: tuple[str, ...] = ()
    """The experiments and their results, one sentence each."""


@frozen(kw_only=True)
class PassAnswer:
    """The compiler pass that causes a failure or a difference."""

    pass_: str | None = None
    """Name of the pass, as ``mlir-opt`` spells it. ``None``: no pass is to blame."""
    stage: str | None = None
    """The stage that runs the pass."""
    sentence: str
    """The answer as one sentence."""
    folder: str | None = None
    """Folder with the IR before every pass, one file each. ``None``: no pass started."""
    diff: str = ""
    """For two pipelines: the IR difference after the first pass that makes one, with names
    ignored.
    """


@frozen(kw_only=True)
class SettingNeed:
    """A constexpr, option or hint that a failure depends on."""

    setting: str
    """Its name, such as ``BLOCK_L``, ``num_warps`` or ``divisible_by_16: K_ptr``.

    It is ``hints`` for several hints together.
    """
    value: str
    """Its value in the failing cell."""
    ok: tuple[str, ...]
    """Values that make the cell ok if nothing else changes."""
    fails: tuple[str, ...]
    """Other values with which the cell fails in the same way."""
    sentence: str
    """A sentence such as ``fails with num_warps = 8 and 16, ok with 4``. Every value in it was
    compiled.
    """


class SearchEnd(StrEnum):
    """Why a search for settings ended."""

    DONE = "done"
    BUDGET = "budget"
    """Its time was over before every change was tried."""
    INTERRUPTED = "interrupted"

    @property
    def early(self) -> str:
        """The start of a sentence about an early end; empty after a complete search."""
        return {
            SearchEnd.DONE: "",
            SearchEnd.BUDGET: "Stopped at the end of the time budget",
            SearchEnd.INTERRUPTED: "Interrupted",
        }[self]

    @classmethod
    def of(cls, budget: Budget) -> SearchEnd:
        """Why a search with this budget ended early."""
        early = is_requested() or budget.remaining_seconds
        return cls.INTERRUPTED if early else cls.BUDGET


@frozen(kw_only=True)
class ConfigAnswer:
    """The settings that a failure needs."""

    sentence: str
    """The answer as one sentence."""
    needs: tuple[SettingNeed, ...] = ()
    """One entry per setting."""
    compiled: int = 0
    """Number of changed specializations that were compiled."""
    left_out: int = 0
    """Upper bound of the specializations that an early end left out."""
    end: SearchEnd = SearchEnd.DONE
    """Why the search ended."""

    @property
    def conclusive(self) -> bool:
        """Whether the search is complete, or has found a change that helps."""
        return self.end is SearchEnd.DONE or bool(self.needs)


@frozen(kw_only=True)
class GrowthAnswer:
    """How compile time grows with settings."""

    sentence: str
    """The answer as one sentence."""
    growths: tuple[SettingGrowth, ...] = ()
    """One entry per setting."""
    end: SearchEnd = SearchEnd.DONE
    """Why the search ended."""

    @property
    def conclusive(self) -> bool:
        """Whether compile time grows with one of the settings."""
        return any(growth.grows for growth in self.growths)


@frozen(kw_only=True)
class CellAnswer:
    """The result of a search inside the failure of one cell."""

    cell: Cell
    answer: Part | PassAnswer | ConfigAnswer | GrowthAnswer | None
    """The answer. ``None``: the cell works."""

    @property
    def conclusive(self) -> bool:
        """Whether the question is answered."""
        return (
            self.answer.conclusive
            if isinstance(self.answer, ConfigAnswer | GrowthAnswer)
            else self.answer is not None
        )


class Effect(StrEnum):
    """The effect of a change on a cell's failure."""

    OK = "ok"
    SAME = "same"
    """It fails in the same way."""
    UNKNOWN = "inconclusive"
    """It fails in another way, or there is no answer."""


@frozen(kw_only=True)
class ReleaseProbe:
    """One release that a bisection tried."""

    release: str
    result: Result
    """The result that represents it."""
    judgement: Judgement
    """Whether the release is good or bad."""
    others: tuple[Result, ...] = ()
    """Results of further environments with the same release."""
    unsteady: bool = False
    """Whether attempts or environments gave different answers."""
    remembered: bool = False
    """Whether the result is from an earlier run."""

    @property
    def results(self) -> tuple[Result, ...]:
        """Results of all environments with this release."""
        return self.result, *self.others

    @property
    def release_date(self) -> date | None:
        """The day of its publication, if the environment knows it."""
        return self.result.cell.env.released

    @property
    def answered(self) -> bool:
        """Whether one of its environments gave an answer about the kernel."""
        return any(result.outcome.status.is_answer for result in self.results)

    @property
    def envs_disagree(self) -> bool:
        """Whether its environments disagree although each is steady."""
        return self.unsteady and not any(result.outcome.flaky for result in self.results)

    @property
    def behaviour(self) -> tuple[Judgement, str | None, str | None]:
        """The facts that two releases must share to count as equal.

        The way in which a process ended is not one of them.
        """
        return self.judgement, *failure_of(self.result.outcome)

    @property
    def summary(self) -> str:
        """The failure's class or the status. If environments disagree: the summary of each."""
        if not self.envs_disagree:
            return class_of(self.result.outcome)
        return ", ".join(
            f"{result.cell.env.name} {class_of(result.outcome)}" for result in self.results
        )


@frozen(kw_only=True)
class Span:
    """Neighbouring probes that behave alike, oldest first.

    Inconclusive probes form spans of their own.
    """

    probes: tuple[ReleaseProbe, ...]

    @property
    def first(self) -> ReleaseProbe:
        """The oldest probe."""
        return self.probes[0]

    @property
    def last(self) -> ReleaseProbe:
        """The newest probe."""
        return self.probes[-1]

    @property
    def statuses(self) -> tuple[Status, ...]:
        """Their statuses, each once."""
        return tuple(dict.fromkeys(probe.result.outcome.status for probe in self.probes))


@frozen(kw_only=True)
class Transition:
    """A change between two neighbouring conclusive releases."""

    before: ReleaseProbe
    """The older one."""
    after: ReleaseProbe
    """The newer one."""
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
        """The change as a bracket, with the names of the releases."""
        return Bracket(
            before=self.before.release,
            after=self.after.release,
            is_fix=self.is_fix,
            between=self.untested,
        )

    @property
    def failure(self) -> Failure | None:
        """The failure on its bad side. If both sides are bad: the later one."""
        return (self.before if self.is_fix else self.after).result.outcome.failure


@frozen(kw_only=True)
class ReleaseAnswer:
    """The history of one specialization on one target, and the change that was searched for."""

    spec: Specialization
    """The kernel, variant and case."""
    target: Target
    criterion: Criterion
    """The definition of good."""
    account: Account
    """The account of the releases."""
    searched: tuple[str, ...]
    """The candidates, oldest first, tried or not."""
    probes: tuple[ReleaseProbe, ...]
    """The probes, oldest first, including results of earlier runs on releases between them."""
    bracket: Transition | None = None
    """The change that was searched for: the account's, or with ``fixed`` the newest fix."""
    transitions: tuple[Transition, ...] = ()
    """Every change, oldest first."""
    assumed: tuple[tuple[str, str], ...] = ()
    """Spans of candidates, ends included, that were not tried and count as equal to their
    neighbours.
    """
    elsewhere: frozenset[str] = frozenset()
    """Releases outside of the search that earlier runs tested."""
    otherwise: tuple[ReleaseProbe, ...] = ()
    """Ends that the user named and whose outcome is the opposite."""
    part: Part | None = None
    """The part of the toolchain that contains the change, if it was searched for."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """The probes as runs that behave alike."""
        runs: list[list[ReleaseProbe]] = []
        for probe in self.probes:
            if (
                runs
                and runs[-1][-1].behaviour == probe.behaviour
                and not probe.unsteady
                and not runs[-1][-1].unsteady
            ):
                runs[-1].append(probe)
            else:
                runs.append([probe])
        return tuple(Span(probes=tuple(probes)) for probes in runs)

    @property
    def unsteady(self) -> tuple[ReleaseProbe, ...]:
        """Probes whose attempts or environments disagree."""
        return tuple(probe for probe in self.probes if probe.unsteady)

    @property
    def inconclusive_probes(self) -> tuple[ReleaseProbe, ...]:
        """Inconclusive probes, without unsteady ones."""
        return tuple(p for p in self.probes if p.judgement is Judgement.UNKNOWN and not p.unsteady)

    @property
    def not_tried(self) -> tuple[str, ...]:
        """Existing releases that no run tested and that are not in :attr:`assumed` either."""
        places = [
            (self.account.line.index(first), self.account.line.index(last))
            for first, last in self.assumed
        ]
        return tuple(
            release
            for place, release in enumerate(self.account.line)
            if release in self.account.not_tried
            and release not in self.elsewhere
            and not any(first <= place <= last for first, last in places)
        )

    @property
    def needs(self) -> str | None:
        """The first release with everything that the kernel needs.

        It is ``None`` unless an API or the target is missing in all earlier releases.
        """
        if self.account.word is Word.NEEDS:
            return self.account.release
        return self.account.since.after if self.account.since else None


def group_alike(answers: Sequence[ReleaseAnswer]) -> tuple[tuple[ReleaseAnswer, ...], ...]:
    """Group answers of one variant that differ only in case and target, in order of appearance."""
    return tuple(group_by_key((_sameness(answer), answer) for answer in answers).values())


def _sameness(answer: ReleaseAnswer) -> object:
    account = answer.account
    spans = tuple(
        (span.first.release, span.last.release, span.first.behaviour, span.statuses)
        for span in answer.spans
    )
    otherwise = tuple(probe.release for probe in answer.otherwise)
    facts = (account.word, account.bracket, account.since, account.not_tried, account.flaky)
    # Each case and target has its own numbers from launches.
    place = (answer.spec.case, answer.target.name) if answer.criterion.asks_launches else ()
    return answer.spec.kernel, answer.spec.variant, facts, answer.criterion, spans, otherwise, place
