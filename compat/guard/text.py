"""What is told of a guard, and of one that was checked: lines for people, and JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from compat.guard.checking import Checked, Contradiction, Kind, OtherAnswer
from compat.guard.facts import WORKS, Facts, is_fork
from compat.guard.writing import Guard, command_of
from compat.model.json_text import JsonObject
from compat.report.summary.compact import at_most, listed, spans

_TITLES: Mapping[Kind, str] = {
    Kind.BROKEN: "works in the guard, and not in the report:",
    Kind.FIXED: "works in the report, and not in the guard:",
    Kind.NEW: "only the report knows:",
}
_SHOWN = 20
"""Lines of one kind at most."""


def guard_lines(guard: Guard) -> Iterator[str]:
    """How much each variant works, in the order in which they are chosen."""
    facts = guard.facts
    yield f"policy {guard.policy}; {_runs(_known(facts), facts.releases) or 'no release'}, {' '.join(facts.targets) or 'no target'}"
    for kernel, variants in facts.kernels.items():
        yield kernel
        wide = max(map(len, variants), default=0)
        for variant, places in variants.items():
            alike: dict[str, list[str]] = defaultdict(list)
            for target, row in places.items():
                good = [release for release, reason in row.items() if reason == WORKS]
                alike[_runs(good, facts.releases) or "does not work"].append(target)
            yield from (f"  {variant:<{wide}}  {releases}, {' '.join(targets)}" for releases, targets in alike.items())


def checked_lines(checked: Checked, guard: str, report: str) -> Iterator[str]:
    """What a check found, the sum of it first; the two names are those of the files."""
    if checked.agrees:
        yield f"{guard} agrees with {report}"
    else:
        yield f"{guard} does not agree with {report}"
    if not checked.intact:
        yield "it is not what this version writes: it was edited, or made by another version"
    for kind, title in _TITLES.items():
        if found := [contradiction for contradiction in checked.contradictions if contradiction.kind is kind]:
            yield title
            yield from _listed(_words(each, checked) for each in found)
    if checked.answers:
        yield "made anew it would answer:"
        yield from _listed(_answer(answer, checked.guard) for answer in checked.answers)
    if gone := [contradiction for contradiction in checked.contradictions if contradiction.kind is Kind.GONE]:
        yield "note: only the guard knows, so that it was not compared:"
        yield from _listed(_words(each, checked) for each in gone)
    if not checked.agrees:
        yield f"make it again: {command_of(checked.guard.request, guard, report)}"


def checked_document(checked: Checked) -> JsonObject:
    """The same for programs."""
    return {
        "agrees": checked.agrees,
        "intact": checked.intact,
        "differences": [
            {
                "kind": str(contradiction.kind),
                "kernel": contradiction.kernel,
                "variant": contradiction.variant,
                "targets": list(contradiction.targets),
                "releases": list(contradiction.releases),
                "reason": contradiction.reason or None,
            }
            for contradiction in checked.contradictions
        ],
        "answers": [
            {
                "kernel": answer.kernel,
                "release": answer.release,
                "target": answer.target,
                "given": answer.given,
                "wanted": answer.wanted,
            }
            for answer in checked.answers
        ],
    }


def guard_document(guard: Guard) -> JsonObject:
    """What a guard says, for programs: kernel → variant → target → release → ``null`` where it works, else why not."""
    return {
        "policy": guard.policy,
        "releases": list(guard.facts.releases),
        "targets": list(guard.facts.targets),
        "kernels": {
            kernel: {
                variant: {target: {release: reason or None for release, reason in row.items()} for target, row in places.items()}
                for variant, places in variants.items()
            }
            for kernel, variants in guard.facts.kernels.items()
        },
    }


def _words(each: Contradiction, checked: Checked) -> str:
    releases = _runs(each.releases, checked.line)
    return f"{each.kernel}/{each.variant}: {releases}, {' '.join(each.targets)} ({each.reason or 'works'})"


def _answer(each: OtherAnswer, guard: Guard) -> str:
    place = f"{each.kernel} with {guard.toolchain.title} {each.release} on {each.target}"
    return f"{place}: {each.wanted or 'none'} in the place of {each.given or 'none'}"


def _known(facts: Facts) -> set[str]:
    rows = (row for variants in facts.kernels.values() for places in variants.values() for row in places.values())
    return {release for row in rows for release in row}


def _runs(chosen: Collection[str], line: Sequence[str]) -> str:
    """Releases as runs, which never cross one that is not chosen; a fork is part of none."""
    plain = [release for release in line if not is_fork(release)]
    return ", ".join(part for part in (spans(chosen, plain), *(each for each in line if is_fork(each) and each in chosen)) if part)


def _listed(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in at_most(_SHOWN, lines))


def written_line(guard: Guard, path: str) -> str:
    """That a guard was written, and for which kernels."""
    return f"wrote {path}: {listed(list(guard.facts.kernels))}"
