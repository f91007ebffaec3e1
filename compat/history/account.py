"""The account of a history: one word for the outcomes of all releases, and the change behind it.

The verdicts of a matrix, the answers of a bisection and the text of an issue use the same account.
It has one :class:`Entry` per existing release, oldest first. It makes no statement about a release
that was not tested: a change is a :class:`Bracket` of the two releases around it and the
inconclusive ones between them.

The word depends on the releases with an answer:

- ``unknown``: there are none. ``unsupported``: none can build for the target. ``works`` and ``never
  worked``: all are good, or all are bad.
- The oldest releases may *lack* a feature that the kernel needs: the failure class says so, or they
  do not support the target. This is not a failure of the kernel. If the kernel is good afterwards,
  it ``needs ≥`` a release. If it broke later, the word is about the later change, and
  :attr:`Account.since` has the earlier one.
- ``removed in``: good, then lacking up to the newest. ``regressed in``: good, then bad. ``fixed
  in``: bad, then good.
- ``intermittent``: good and bad alternate more often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Generic, TypeVar

from attrs import field, frozen

from compat import toolchains
from compat.model import Outcome, Status
from compat.model.fields import KEY, Text

T = TypeVar("T")


@frozen(kw_only=True)
class Run(Generic[T]):
    """Neighbouring releases with the same value, ends included."""

    releases: tuple[str, ...]
    value: T

    @property
    def first(self) -> str:
        """The oldest release."""
        return self.releases[0]

    @property
    def last(self) -> str:
        """The newest release."""
        return self.releases[-1]


def runs(line: Iterable[tuple[str, T | None]]) -> tuple[Run[T], ...]:
    """Return the runs of neighbouring releases with the same value, in their order.

    A release with the value ``None`` is unknown, and belongs to no run.
    """
    groups: list[tuple[T | None, list[str]]] = []
    for release, value in line:
        if groups and groups[-1][0] == value:
            groups[-1][1].append(release)
        else:
            groups.append((value, [release]))
    return tuple(
        Run(releases=tuple(releases), value=value)
        for value, releases in groups
        if value is not None
    )


def spans(chosen: Collection[str], line: Sequence[str]) -> str:
    """``chosen`` releases as runs of neighbours in ``line``: ``3.0.0–3.1.0, 3.3.0``.

    ``line`` has the existing releases in order. A run never crosses a release that was not chosen.
    """
    return ", ".join(
        map(extent_of, runs((release, True if release in chosen else None) for release in line))
    )


def extent_of(run: Interval | Run[bool]) -> str:
    """A run as text: ``3.0.0–3.1.0``, or ``3.0.0`` if it has one release."""
    return run.first if run.first == run.last else f"{run.first}–{run.last}"


class Judgement(StrEnum):
    """The judgement of a release."""

    GOOD = "good"
    BAD = "bad"
    UNKNOWN = "unknown"
    """Inconclusive: not tested, not installable, no answer, flaky."""


class Word(StrEnum):
    """The word for a history."""

    WORKS = "works"
    REGRESSED = "regressed in"
    FIXED = "fixed in"
    NEEDS = "needs ≥"
    REMOVED = "removed in"
    NEVER = "never worked"
    INTERMITTENT = "intermittent"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Entry:
    """The facts about one release."""

    release: str
    judgement: Judgement = Judgement.UNKNOWN
    """Whether it is good or bad."""
    outcome: Outcome | None = None
    """The kernel's outcome. ``None``: inconclusive."""
    tested: bool = True
    """Whether it was tested."""
    unsteady: bool = False
    """Whether its attempts or environments gave different answers."""
    remembered: bool = False
    """Whether only an earlier run tested it."""

    @property
    def is_known(self) -> bool:
        """Whether it is known to be good or bad."""
        return self.judgement is not Judgement.UNKNOWN

    @property
    def good(self) -> bool:
        """Whether it is known to be good."""
        return self.judgement is Judgement.GOOD

    @property
    def failure_class(self) -> str:
        """The failure's class, or the status if there is no failure."""
        return class_of(self.outcome) if self.outcome else ""

    @property
    def failure(self) -> tuple[str | None, str | None]:
        """Class and fingerprint of the failure."""
        return failure_of(self.outcome) if self.outcome else (None, None)

    @property
    def behaviour(self) -> tuple[Status, str | None, str | None] | None:
        """Status, class and fingerprint. ``None``: inconclusive."""
        return (self.outcome.status, *self.failure) if self.outcome else None

    @property
    def unsupported(self) -> bool:
        """Whether this release cannot build for the target, which says nothing about the kernel."""
        return self.outcome is not None and self.outcome.status is Status.UNSUPPORTED

    @property
    def lacks_feature(self) -> bool:
        """Whether this release lacks a feature of the kernel, or cannot build for the target."""
        return self.outcome is not None and lacks_feature(self.outcome)


@frozen(kw_only=True)
class Interval:
    """Neighbouring releases, ends included, that behave the same. All of them are known."""

    first: Text = field(metadata={KEY: "from"})
    last: Text = field(metadata={KEY: "to"})
    status: Status
    failure_class: str | None = field(default=None, metadata={KEY: "class"})
    fingerprint: str | None = None


@frozen(kw_only=True)
class Change:
    """A failure that became another failure."""

    release: Text
    before: Text
    after: Text
    """Failure classes; when both are the same class, the fingerprints differ."""


@frozen(kw_only=True)
class Bracket:
    """A change between good and bad: the two known releases around it, and those between them."""

    before: str
    after: str
    is_fix: bool
    """Whether it leads from bad to good."""
    between: tuple[str, ...] = ()
    """Inconclusive releases between the two. Each may be the place of the change."""


@frozen(kw_only=True)
class Account:
    """The account of a history with its entries."""

    word: Word
    """The word for the history."""
    entries: tuple[Entry, ...]
    """One per existing release, oldest first, tried or not."""
    bracket: Bracket | None = None
    """The change that the word is about. If there are several: the newest regression."""
    since: Bracket | None = None
    """The earlier change from releases that lack a feature of the kernel. ``None``: there is none,
    or it is ``bracket``.
    """
    brackets: tuple[Bracket, ...] = ()
    """Every change between good and bad, oldest first."""

    @property
    def release(self) -> str | None:
        """The first release that is *known* to have the state of the word.

        It is ``None`` if the word is not about one release.
        """
        return self.bracket.after if self.bracket and self.word is not Word.INTERMITTENT else None

    @property
    def phrase(self) -> str:
        """The account in a few words.

        Examples: ``regressed in 3.9.0``; ``regressed after 3.6.0, by 3.9.0`` if a release between
        the two may be the one; ``failed in 3 of 13, rest unknown`` if not all were tested; ``works
        in 4 of 5, rest unknown`` if a tried release gave no answer.
        """
        return ", ".join(self.phrases)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases to report.

        If the word is about a later change than :attr:`since`, the phrase ``needs ≥ …`` comes
        first.
        """
        needs = (_phrase(Word.NEEDS, self.since),) if self.since else ()
        if self.bracket and self.word is not Word.INTERMITTENT:
            return *needs, _phrase(self.word, self.bracket)
        if self.word is Word.NEVER and not self.complete:
            unsupported = sum(entry.unsupported for entry in self.known_entries)
            without = f", unsupported in {unsupported}" if unsupported else ""
            return (
                (
                    f"failed in {len(self.known_entries) - unsupported} of {len(self.entries)}"
                    f"{without}, rest unknown"
                ),
            )
        if self.word is Word.WORKS and (self.untested_releases or self.flaky):
            tested_count = len(self.entries) - len(self.not_tried)
            return (f"works in {len(self.known_entries)} of {tested_count}, rest unknown",)
        return *needs, str(self.word)

    @property
    def complete(self) -> bool:
        """Whether every existing release is known to be good or bad."""
        return len(self.known_entries) == len(self.entries)

    @property
    def line(self) -> tuple[str, ...]:
        """Every existing release, oldest first."""
        return tuple(entry.release for entry in self.entries)

    @property
    def known_entries(self) -> tuple[Entry, ...]:
        """Entries that are known to be good or bad."""
        return tuple(entry for entry in self.entries if entry.is_known)

    @property
    def not_tried(self) -> tuple[str, ...]:
        """Existing releases that were not tested."""
        return self._releases(lambda entry: not entry.tested)

    @property
    def untested_releases(self) -> tuple[str, ...]:
        """Tried releases without an answer: a broken env or source, or a lost answer."""
        return self._releases(
            lambda entry: entry.tested and not entry.is_known and not entry.unsteady
        )

    @property
    def flaky(self) -> tuple[str, ...]:
        """Releases whose attempts or environments gave different answers."""
        return self._releases(lambda entry: entry.unsteady)

    @property
    def remembered_releases(self) -> tuple[str, ...]:
        """Releases that only earlier runs tested."""
        return self._releases(lambda entry: entry.remembered)

    @property
    def deprecating_releases(self) -> tuple[str, ...]:
        """Releases that compiled it with a deprecation warning."""
        return self._releases(
            lambda entry: entry.outcome is not None and is_deprecated(entry.outcome)
        )

    @property
    def unsettled(self) -> bool:
        """Whether an unsteady release leaves the word or the change open."""
        return bool(self.flaky) and (
            not self.brackets
            or any(set(self.flaky) & set(bracket.between) for bracket in self.brackets)
        )

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """Runs of neighbouring releases that behave alike. An inconclusive release ends a run."""
        return tuple(
            Interval(
                first=run.first,
                last=run.last,
                status=status,
                failure_class=failure_class,
                fingerprint=fingerprint,
            )
            for run in runs((entry.release, entry.behaviour) for entry in self.entries)
            for status, failure_class, fingerprint in (run.value,)
        )

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changes from one failure to another, between neighbouring conclusive releases."""
        return tuple(
            Change(release=after.release, before=before.failure_class, after=after.failure_class)
            for before, after in pairwise(self.known_entries)
            if not before.good and not after.good and before.failure != after.failure
        )

    def _releases(self, which: Callable[[Entry], bool]) -> tuple[str, ...]:
        return tuple(entry.release for entry in self.entries if which(entry))


# --- one outcome ----------------------------------------------------------------------------------


def is_good(outcome: Outcome) -> bool:
    """Whether the kernel can be used: it compiles, and no failure of a launch is predicted."""
    return outcome.status is Status.OK and outcome.failure is None


def is_deprecated(outcome: Outcome) -> bool:
    """Whether the kernel can be used, but a warning of the toolchain mentions a deprecation."""
    return is_good(outcome) and any(
        "deprecat" in f"{w.type} {w.message}".lower() for w in outcome.warnings
    )


def class_of(outcome: Outcome) -> str:
    """The failure's class, or the status itself without a failure."""
    return outcome.failure.failure_class if outcome.failure else str(outcome.status)


def failure_of(outcome: Outcome) -> tuple[str | None, str | None]:
    """Class and fingerprint of the failure; ``None`` and ``None`` without one."""
    failure = outcome.failure
    return (failure.failure_class, failure.fingerprint) if failure else (None, None)


def lacks_feature(outcome: Outcome) -> bool:
    """Whether an outcome means that the release lacks the target or a feature of the kernel.

    The release does not have it yet, or no longer.
    """
    failure_class = toolchains.failure_class(outcome.failure) if outcome.failure else None
    return outcome.status is Status.UNSUPPORTED or (
        failure_class is not None and failure_class.missing_feature
    )


# --- the decision ---------------------------------------------------------------------------------


def account(entries: Iterable[Entry], *, by_class: bool = True) -> Account:
    """Return the account of all existing releases; ``entries`` has the oldest first.

    With ``by_class``, bad releases are those that fail, and failure classes say whether a release
    lacks a feature. Without it, the caller decides what is bad, and the words only depend on good
    and bad.
    """
    line = tuple(entries)
    conclusive_places = [place for place, entry in enumerate(line) if entry.is_known]
    brackets = tuple(
        _bracket(line, one, other)
        for one, other in pairwise(conclusive_places)
        if line[one].good is not line[other].good
    )
    word, since = _word([line[place] for place in conclusive_places], by_class=by_class)
    later = brackets[1:] if since else brackets
    candidates = (
        [bracket for bracket in later if not bracket.is_fix] if word is Word.INTERMITTENT else later
    )
    return Account(
        word=word,
        entries=line,
        bracket=candidates[-1] if candidates else None,
        since=brackets[0] if since else None,
        brackets=brackets,
    )


def _word(entries: Sequence[Entry], *, by_class: bool) -> tuple[Word, bool]:
    """Return the word for known releases, oldest first.

    The second value says whether the word is about a later change than that from lacking to good.
    """
    if not entries:
        return Word.UNKNOWN, False
    if by_class and all(entry.unsupported for entry in entries):
        return Word.UNSUPPORTED, False
    first = next(
        (place for place, entry in enumerate(entries) if not (by_class and entry.lacks_feature)),
        len(entries),
    )
    rest = entries[first:]
    turns = [place for place in range(1, len(rest)) if rest[place].good is not rest[place - 1].good]
    since = first > 0 and bool(rest) and rest[0].good
    if not turns:
        works = bool(rest) and rest[0].good
        return Word.NEEDS if since else Word.WORKS if works else Word.NEVER, False
    if len(turns) > 1:
        return Word.INTERMITTENT, since
    if rest[-1].good:
        return Word.FIXED, False
    is_removed = by_class and all(entry.lacks_feature for entry in rest[turns[0] :])
    return Word.REMOVED if is_removed else Word.REGRESSED, since


def _bracket(line: Sequence[Entry], one: int, other: int) -> Bracket:
    return Bracket(
        before=line[one].release,
        after=line[other].release,
        is_fix=line[other].good,
        between=tuple(entry.release for entry in line[one + 1 : other]),
    )


_EXACT = {
    Word.REGRESSED: "regressed in {after}",
    Word.FIXED: "fixed in {after}",
    Word.NEEDS: "needs ≥ {after}",
    Word.REMOVED: "removed in {after}",
}
_OPEN = {
    Word.REGRESSED: "regressed after {before}, by {after}",
    Word.FIXED: "fixed after {before}, by {after}",
    Word.NEEDS: "needs > {before}, works in {after}",
    Word.REMOVED: "removed after {before}, by {after}",
}
"""The phrases if releases between the two are unknown. Each of them may be the first."""


def _phrase(word: Word, bracket: Bracket) -> str:
    return (_OPEN if bracket.between else _EXACT)[word].format(
        before=bracket.before, after=bracket.after
    )
