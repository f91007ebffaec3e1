"""A written guard beside a new report: what it says that is not so any more, and what it does not know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from functools import reduce
from operator import or_

from attrs import evolve, frozen

from compat.guard.facts import WORKS, Facts, States
from compat.guard.writing import Guard, is_intact, make_guard, read_guard
from compat.report.summary.record import Report


class Kind(StrEnum):
    """How a guard and a report can differ over a release."""

    BROKEN = "broken"
    """The guard has it as working, and it does not."""
    FIXED = "fixed"
    """The guard has it as not working, and it does."""
    NEW = "new"
    """Only the report knows of it."""
    GONE = "gone"
    """Only the guard knows of it, which is no fault of the guard's."""


@frozen(kw_only=True)
class Contradiction:
    """Releases and targets with which a guard and a report differ alike over a variant."""

    kind: Kind
    kernel: str
    variant: str
    targets: tuple[str, ...]
    releases: tuple[str, ...]
    reason: str
    """Why it does not work, as the one that knows of it says; empty where it works."""


@frozen(kw_only=True)
class OtherAnswer:
    """A release and a target for which a guard made anew would give a library something else."""

    kernel: str
    release: str
    target: str
    given: str | None
    """The variant that the guard has it launch; ``None`` for none."""
    wanted: str | None


@frozen(kw_only=True)
class Checked:
    """What came of a check."""

    guard: Guard
    intact: bool
    """Whether the file is what this version writes of its facts."""
    contradictions: tuple[Contradiction, ...]
    answers: tuple[OtherAnswer, ...]
    line: tuple[str, ...]
    """The releases that either of them knows, oldest first."""

    @property
    def agrees(self) -> bool:
        """Whether there is nothing to do."""
        return self.intact and not self.answers and all(contradiction.kind is Kind.GONE for contradiction in self.contradictions)


def check_guard(text: str, report: Report, where: str = "guard") -> Checked:
    """Make a guard again of a new report, and ask both for everything that is known.

    Raises StoreError for a text that is no guard, SelectionError where the report has nothing that it was made of.
    """
    guard = read_guard(text, where)
    new = make_guard(report, guard.request)
    both = _together(guard.facts, new.facts)
    return Checked(
        guard=guard,
        line=both.releases,
        intact=is_intact(text, guard),
        contradictions=tuple(_contradictions(guard.facts, new.facts)),
        answers=tuple(_answers(guard, evolve(new, facts=both))),
    )


def _contradictions(old: Facts, new: Facts) -> Iterator[Contradiction]:
    alike: dict[tuple[Kind, str, str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for kernel, variant, target in dict.fromkeys((*_places(new), *_places(old))):
        before, after = (facts.kernels.get(kernel, {}).get(variant, {}).get(target, {}) for facts in (old, new))
        groups: dict[tuple[Kind, str], list[str]] = defaultdict(list)
        for release in dict.fromkeys((*old.releases, *new.releases)):
            if kind := _kind(before.get(release), after.get(release)):
                groups[kind, (before if kind is Kind.GONE else after)[release]].append(release)
        for (kind, reason), releases in groups.items():
            alike[kind, kernel, variant, reason, tuple(releases)].append(target)
    for (kind, kernel, variant, reason, found), targets in alike.items():
        yield Contradiction(kind=kind, kernel=kernel, variant=variant, targets=tuple(targets), releases=found, reason=reason)


def _kind(before: str | None, after: str | None) -> Kind | None:
    """How two states differ; why something does not work is no difference."""
    if before is None or after is None:
        return None if before is after else Kind.NEW if before is None else Kind.GONE
    if (before == WORKS) is (after == WORKS):
        return None
    return Kind.BROKEN if before == WORKS else Kind.FIXED


def _places(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for kernel, variants in facts.kernels.items():
        for variant, places in variants.items():
            yield from ((kernel, variant, target) for target in places)


def _together(old: Facts, new: Facts) -> Facts:
    """What is known by both, in the order of the new ones, which count where they differ."""
    kernels: dict[str, dict[str, dict[str, States]]] = {}
    for kernel, variant, target in dict.fromkeys((*_places(new), *_places(old))):
        rows = (facts.kernels.get(kernel, {}).get(variant, {}).get(target, {}) for facts in (old, new))
        kernels.setdefault(kernel, {}).setdefault(variant, {})[target] = reduce(or_, map(dict, rows))
    return Facts(releases=_line(old.releases, new.releases), targets={**old.targets, **new.targets}, kernels=kernels)


def _line(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """The releases of both in order: both are in order already, so that each stands where the next one of the other does."""
    found = list(new)
    for release in reversed(old):
        if release not in found:
            later = [found.index(each) for each in old[old.index(release) + 1 :] if each in found]
            found.insert(min(later, default=len(found)), release)
    return tuple(found)


def _answers(guard: Guard, new: Guard) -> Iterator[OtherAnswer]:
    """Where they give other answers, of the kernels that the guard has."""
    for kernel in guard.facts.kernels:
        for target in new.facts.targets:
            for release in new.facts.releases:
                given, wanted = guard.answer(kernel, release, target), new.answer(kernel, release, target)
                if given != wanted:
                    yield OtherAnswer(kernel=kernel, release=release, target=target, given=given, wanted=wanted)
