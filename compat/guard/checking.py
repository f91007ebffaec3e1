"""The check of a guard against a new report: outdated and missing facts, as lines and JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from attrs import evolve, field, frozen

from compat.guard.facts import WORKS, GuardFacts, States, convert_rows, is_fork
from compat.guard.writing import Guard, command_of, is_intact, make_guard, read_guard
from compat.history.account import spans
from compat.model.codec import unstructure
from compat.model.fields import KEY
from compat.report.summary.compact import at_most
from compat.report.summary.record import Report
from compat.text import JsonObject, join_words


class Kind(StrEnum):
    """A kind of difference between a guard and a report, for a variant on a release."""

    BROKEN = "broken"
    """The variant works in the guard, but not in the report."""
    FIXED = "fixed"
    """The variant works in the report, but not in the guard."""
    NEW = "new"
    """Only the report has the release."""
    GONE = "gone"
    """Only the guard has the release. This is no fault of the guard."""


@frozen(kw_only=True)
class Contradiction:
    """Releases and targets for which a guard and a report differ in the same way over a variant."""

    kind: Kind
    kernel: str
    variant: str
    targets: tuple[str, ...]
    releases: tuple[str, ...]
    reason: str
    """Why the variant does not work in the report, or for ``GONE`` in the guard; empty if it works.
    """


@frozen(kw_only=True)
class OtherAnswer:
    """A release and a target for which a new guard would choose another variant."""

    kernel: str
    release: str
    target: str
    current_variant: str | None = field(metadata={KEY: "given"})
    """The variant that the existing guard chooses; ``None`` for none."""
    new_variant: str | None = field(metadata={KEY: "wanted"})
    """The variant that a new guard would choose; ``None`` for none."""


@frozen(kw_only=True)
class GuardCheck:
    """The result of a check."""

    guard: Guard
    intact: bool
    """Whether this version of triton-compat would write the same file from its facts."""
    contradictions: tuple[Contradiction, ...]
    answers: tuple[OtherAnswer, ...]
    line: tuple[str, ...]
    """The releases of the guard or the report, oldest first."""

    @property
    def agrees(self) -> bool:
        """Whether the guard needs no change."""
        return (
            self.intact
            and not self.answers
            and all(contradiction.kind is Kind.GONE for contradiction in self.contradictions)
        )


def check_guard(text: str, report: Report, where: str = "guard") -> GuardCheck:
    """Make a guard again from a new report, and compare its answers with those of an existing one.

    Args:
        text: The text of the existing guard.
        report: The new report.
        where: Name of the file in errors.

    Raises:
        StoreError: The text is not a guard.
        SelectionError: The report has none of the kernels of the guard.
    """
    guard = read_guard(text, where)
    new = make_guard(report, guard.request)
    both = _together(guard.facts, new.facts)
    return GuardCheck(
        guard=guard,
        line=both.releases,
        intact=is_intact(text, guard),
        contradictions=tuple(_contradictions(guard.facts, new.facts)),
        answers=tuple(_answers(guard, evolve(new, facts=both))),
    )


def _contradictions(old: GuardFacts, new: GuardFacts) -> Iterator[Contradiction]:
    alike: dict[tuple[Kind, str, str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for kernel, variant, target in dict.fromkeys((*_places(new), *_places(old))):
        before, after = (facts.row(kernel, variant, target) for facts in (old, new))
        groups: dict[tuple[Kind, str], list[str]] = defaultdict(list)
        for release in dict.fromkeys((*old.releases, *new.releases)):
            if kind := _kind(before.get(release), after.get(release)):
                groups[kind, (before if kind is Kind.GONE else after)[release]].append(release)
        for (kind, reason), releases in groups.items():
            alike[kind, kernel, variant, reason, tuple(releases)].append(target)
    for (kind, kernel, variant, reason, contradicted_releases), targets in alike.items():
        yield Contradiction(
            kind=kind,
            kernel=kernel,
            variant=variant,
            targets=tuple(targets),
            releases=contradicted_releases,
            reason=reason,
        )


def _kind(before: str | None, after: str | None) -> Kind | None:
    """Return the kind of difference between two states; ``None`` without one.

    Different reasons for a failure are no difference.
    """
    if before is None or after is None:
        return None if before is after else Kind.NEW if before is None else Kind.GONE
    if (before == WORKS) is (after == WORKS):
        return None
    return Kind.BROKEN if before == WORKS else Kind.FIXED


def _places(facts: GuardFacts) -> Iterator[tuple[str, str, str]]:
    for kernel, variants in facts.kernels.items():
        for variant, places in variants.items():
            yield from ((kernel, variant, target) for target in places)


def _together(old: GuardFacts, new: GuardFacts) -> GuardFacts:
    """Return the facts of both. If they differ, the new ones count. Their order comes first."""
    kernels: dict[str, dict[str, dict[str, States]]] = {}
    for kernel, variant, target in dict.fromkeys((*_places(new), *_places(old))):
        before, after = (facts.row(kernel, variant, target) for facts in (old, new))
        kernels.setdefault(kernel, {}).setdefault(variant, {})[target] = {**before, **after}
    return GuardFacts(
        releases=_line(old.releases, new.releases),
        targets={**old.targets, **new.targets},
        kernels=kernels,
    )


def _line(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Merge two ordered sequences of releases into one.

    An old release goes before the first later old release that is already in the result.
    """
    releases = list(new)
    for release in reversed(old):
        if release not in releases:
            later = [
                releases.index(later_release)
                for later_release in old[old.index(release) + 1 :]
                if later_release in releases
            ]
            releases.insert(min(later, default=len(releases)), release)
    return tuple(releases)


def _answers(guard: Guard, new: Guard) -> Iterator[OtherAnswer]:
    """Yield the answers that differ, for the kernels of the existing guard."""
    for kernel in guard.facts.kernels:
        for target in new.facts.targets:
            for release in new.facts.releases:
                current_answer = guard.answer(kernel, release, target)
                new_answer = new.answer(kernel, release, target)
                if current_answer != new_answer:
                    yield OtherAnswer(
                        kernel=kernel,
                        release=release,
                        target=target,
                        current_variant=current_answer,
                        new_variant=new_answer,
                    )


# --- as lines and JSON ----------------------------------------------------------------------------


_TITLES: Mapping[Kind, str] = {
    Kind.BROKEN: "works in the guard, but not in the report:",
    Kind.FIXED: "works in the report, but not in the guard:",
    Kind.NEW: "only in the report:",
}
_SHOWN = 20
"""The most lines of one kind."""


def guard_lines(guard: Guard) -> Iterator[str]:
    """Yield lines with the releases and targets on which each variant works.

    The variants are in order of preference.
    """
    facts = guard.facts
    known_releases = {release for row in facts.rows for release in row}
    yield (
        f"policy {guard.policy}; {_runs(known_releases, facts.releases) or 'no release'},"
        f" {' '.join(facts.targets) or 'no target'}"
    )
    for kernel, variants in facts.kernels.items():
        yield kernel
        wide = max(map(len, variants), default=0)
        for variant, places in variants.items():
            alike: dict[str, list[str]] = defaultdict(list)
            for target, row in places.items():
                good = [release for release, reason in row.items() if reason == WORKS]
                alike[_runs(good, facts.releases) or "does not work"].append(target)
            yield from (
                f"  {variant:<{wide}}  {releases}, {' '.join(targets)}"
                for releases, targets in alike.items()
            )


def guard_check_lines(checked: GuardCheck, guard: str, report: str) -> Iterator[str]:
    """Yield the result of a check as lines, the summary first.

    ``guard`` and ``report`` are the names of the files.
    """
    if checked.agrees:
        yield f"{guard} agrees with {report}"
    else:
        yield f"{guard} does not agree with {report}"
    if not checked.intact:
        yield (
            "the file differs from what this version writes: it was edited, or another version"
            " wrote it"
        )
    for kind, title in _TITLES.items():
        if alike := [
            contradiction for contradiction in checked.contradictions if contradiction.kind is kind
        ]:
            yield title
            yield from _indented_lines(
                _contradiction_words(contradiction, checked) for contradiction in alike
            )
    if checked.answers:
        yield "a new guard would answer:"
        yield from _indented_lines(_answer(answer, checked.guard) for answer in checked.answers)
    if missing := [
        contradiction for contradiction in checked.contradictions if contradiction.kind is Kind.GONE
    ]:
        yield "note: only in the guard, and therefore not compared:"
        yield from _indented_lines(
            _contradiction_words(contradiction, checked) for contradiction in missing
        )
    if not checked.agrees:
        yield f"write it again: {command_of(checked.guard, guard, report)}"


def guard_check_document(checked: GuardCheck) -> JsonObject:
    """Return the result of a check as JSON data."""
    return {
        "agrees": checked.agrees,
        "intact": checked.intact,
        "differences": [
            {**unstructure(contradiction), "reason": contradiction.reason or None}
            for contradiction in checked.contradictions
        ],
        "answers": unstructure(checked.answers),
    }


def guard_document(guard: Guard) -> JsonObject:
    """Return a guard's facts as JSON data.

    ``kernels`` maps kernel → variant → target → release → ``null`` or a reason. ``null`` means that
    the variant works. A reason says why it does not.
    """
    return {
        "policy": guard.policy,
        "releases": list(guard.facts.releases),
        "targets": list(guard.facts.targets),
        "kernels": convert_rows(
            guard.facts.kernels,
            lambda row: {release: reason or None for release, reason in row.items()},
        ),
        "configs": guard.configs,
    }


def _contradiction_words(contradiction: Contradiction, checked: GuardCheck) -> str:
    releases, targets = _runs(contradiction.releases, checked.line), " ".join(contradiction.targets)
    return (
        f"{contradiction.kernel}/{contradiction.variant}: {releases}, {targets}"
        f" ({contradiction.reason or 'works'})"
    )


def _answer(answer: OtherAnswer, guard: Guard) -> str:
    place = f"{answer.kernel} with {guard.toolchain.title} {answer.release} on {answer.target}"
    return f"{place}: {answer.new_variant or 'none'} instead of {answer.current_variant or 'none'}"


def _runs(chosen: Collection[str], line: Sequence[str]) -> str:
    """Return the chosen releases as ranges, in words.

    A range never crosses a release that is not chosen. Forks are listed separately.
    """
    plain = [release for release in line if not is_fork(release)]
    forks = (release for release in line if is_fork(release) and release in chosen)
    return ", ".join(part for part in (spans(chosen, plain), *forks) if part)


def _indented_lines(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in at_most(_SHOWN, lines))


def writing_line(guard: Guard, path: str) -> str:
    """Return a line that says that a guard was written, and for which kernels."""
    return f"wrote {path}: {join_words(list(guard.facts.kernels))}"
