"""What all the releases together say of a kernel: one verdict per (kernel, variant, case, target).

A *history* is the row of releases one coordinate was tried on, oldest first. How a release comes to stand on it:

- The envs of one Triton version are one release, whether or not PyTorch is beside it. They speak with one voice, that of the env
  without PyTorch where there are several. If one env builds what another does not, the release is *divided*: nothing is concluded
  from it, it is listed with the flaky ones, and :func:`disagreements` names the envs. (So it does where both fail, differently.)
- A release of which nothing is known (env broken, answer lost) is *untested*. It belongs to no interval and is never blamed or
  praised; the same holds for flaky releases.
- A fork (another distribution, or a local version such as ``3.1.0+ours``) stands beside the history of releases, not on it: what
  somebody patched says nothing of when Triton broke. Only where there is nothing but forks do they form a history of their own.

Good means ``ok`` with no failure at all; what builds but could not be launched (a *predicted* failure) is bad.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from attrs import frozen
from packaging.version import Version

from compat.model import BuiltEnv, Change, Interval, Outcome, Result, Status, Verdict, Word

TOO_OLD = frozenset({"api-missing", "target-unknown", "toolchain-missing"})
"""Failure classes that a newer toolchain cures by itself."""

Coordinate = tuple[str, str, str, str]
"""Kernel, variant, case, target."""


@frozen(kw_only=True)
class Release:
    """A version of Triton as a place in an order: releases first, oldest to newest, then forks."""

    label: str
    """What a reader knows it by: ``3.1.0``, ``3.1.0+ours``, ``ours-triton 3.1.0``, or the env's name where no version is known."""
    version: Version | None
    fork: bool

    @property
    def order(self) -> tuple[bool, bool, Version, str]:
        """The key to sort releases by."""
        return self.fork, self.version is None, self.version or Version("0"), self.label


@frozen(kw_only=True)
class Point:
    """One release on a history, with what each of its envs answered."""

    release: Release
    results: tuple[Result, ...]

    @property
    def answers(self) -> tuple[Result, ...]:
        """The results that say something of the kernel, the purest env's first."""
        return tuple(r for r in self.results if r.outcome.status.is_answer)

    @property
    def untested(self) -> bool:
        """Whether nothing at all is known of this release."""
        return not self.answers

    @property
    def unsteady(self) -> bool:
        """Whether it answered, but not with one voice: flaky, or divided between envs."""
        answers = self.answers
        return any(r.outcome.flaky for r in answers) or len({is_good(r.outcome) for r in answers}) > 1

    @property
    def voice(self) -> Outcome | None:
        """The outcome to conclude from, or ``None`` where none may be."""
        return None if self.untested or self.unsteady else self.answers[0].outcome


@frozen(kw_only=True)
class History:
    """What became of one coordinate, release by release, oldest first."""

    kernel: str
    variant: str
    case: str
    target: str
    points: tuple[Point, ...]


@frozen(kw_only=True)
class Disagreement:
    """Envs with the same Triton that answered differently."""

    coordinate: Coordinate
    release: str
    answers: tuple[tuple[str, str], ...]
    """Env name and what it said (a class, or a status where there is no failure)."""


def verdicts(results: Sequence[Result]) -> tuple[Verdict, ...]:
    """One verdict per (kernel, variant, case, target) found in ``results``, in that order; every coordinate gets one."""
    return tuple(judge(history) for history in histories(results))


def histories(results: Iterable[Result]) -> tuple[History, ...]:
    """``results`` sorted into histories, whatever their order."""
    groups: dict[Coordinate, list[Result]] = defaultdict(list)
    for result in results:
        groups[coordinate_of(result)].append(result)
    return tuple(
        History(kernel=kernel, variant=variant, case=case, target=target, points=_timeline(groups[kernel, variant, case, target]))
        for kernel, variant, case, target in sorted(groups)
    )


def judge(history: History) -> Verdict:
    """The verdict on one history."""
    known = [(point.release.label, outcome) for point in history.points if (outcome := point.voice)]
    word, turn = _word([outcome for _, outcome in known])
    return Verdict(
        kernel=history.kernel,
        variant=history.variant,
        case=history.case,
        target=history.target,
        word=word,
        release=known[turn][0] if turn is not None else None,
        intervals=_intervals(history.points),
        changes=_changes(known),
        untested=tuple(p.release.label for p in history.points if p.untested),
        flaky=tuple(p.release.label for p in history.points if p.unsteady),
        deprecated=tuple(release for release, outcome in known if is_deprecated(outcome)),
    )


def disagreements(results: Iterable[Result]) -> tuple[Disagreement, ...]:
    """Every release whose envs do not all say the same of a kernel."""
    return tuple(
        Disagreement(
            coordinate=(history.kernel, history.variant, history.case, history.target),
            release=point.release.label,
            answers=tuple((r.cell.env.name, kind_of(r.outcome)) for r in point.answers),
        )
        for history in histories(results)
        for point in history.points
        if len({_behaviour(r.outcome) for r in point.answers}) > 1
    )


# --- the words -----------------------------------------------------------------------------------------------------------


def is_good(outcome: Outcome) -> bool:
    """Whether the kernel can be used there: it built, and nothing speaks against a launch."""
    return outcome.status is Status.OK and outcome.failure is None


def is_deprecated(outcome: Outcome) -> bool:
    """Whether it can be used, but the toolchain warned that it will not stay so."""
    return is_good(outcome) and any("deprecat" in f"{w.type} {w.message}".lower() for w in outcome.warnings)


def kind_of(outcome: Outcome) -> str:
    """The failure's class; the status itself where there is no failure."""
    return outcome.failure.kind if outcome.failure else str(outcome.status)


def coordinate_of(result: Result) -> Coordinate:
    """The history a result belongs to."""
    spec = result.cell.spec
    return spec.kernel, spec.variant, spec.case, result.cell.target.name


def release_of(built: BuiltEnv) -> Release:
    """The release an env stands for."""
    distribution = built.env.distribution
    if (text := built.triton) is None:
        return Release(label=built.env.name, version=None, fork=True)
    version = _version(text)
    fork = distribution != "triton" or version.local is not None
    return Release(label=text if distribution == "triton" else f"{distribution} {text}", version=version, fork=fork)


def points_of(results: Iterable[Result]) -> tuple[Point, ...]:
    """The releases that ``results`` of one coordinate speak of, in order, forks included and last."""
    groups: dict[tuple[object, ...], list[tuple[Release, Result]]] = defaultdict(list)
    for result in results:
        release = release_of(result.built)
        # Versions, not labels, are compared: 3.1 and 3.1.0 are one release. Forks of one version are still two toolchains.
        groups[release.version, release.label if release.fork else ""].append((release, result))
    rows = sorted((sorted(group, key=lambda pair: _purity(pair[1])) for group in groups.values()), key=lambda row: row[0][0].order)
    return tuple(Point(release=row[0][0], results=tuple(result for _, result in row)) for row in rows)


def _word(known: Sequence[Outcome]) -> tuple[Word, int | None]:
    """The word for a row of outcomes, and the index of the release it speaks of."""
    if not known:
        return Word.UNKNOWN, None
    if all(outcome.status is Status.UNSUPPORTED for outcome in known):
        return Word.UNSUPPORTED, None
    good = [is_good(outcome) for outcome in known]
    turns = [i for i in range(1, len(good)) if good[i] != good[i - 1]]
    if len(turns) > 1 and all(outcome.status is Status.UNSUPPORTED for outcome in known[: turns[0]]):
        turns = turns[1:]  # before its target was there at all, nothing could be said of the kernel
    if not turns:
        return (Word.WORKS if good[0] else Word.NEVER), None
    if len(turns) > 1:
        return Word.NON_MONOTONIC, None
    turn = turns[0]
    if good[turn]:
        return (Word.NEEDS if all(map(_is_too_old, known[:turn])) else Word.FIXED), turn
    return (Word.REMOVED if all(map(_is_withdrawn, known[turn:])) else Word.REGRESSED), turn


def _is_too_old(outcome: Outcome) -> bool:
    return outcome.status is Status.UNSUPPORTED or kind_of(outcome) in TOO_OLD


def _is_withdrawn(outcome: Outcome) -> bool:
    """The API or the target was taken away: a decision of Triton's, where a regression is an accident."""
    return outcome.status is Status.UNSUPPORTED or kind_of(outcome) == "api-removed"


# --- the row of releases -------------------------------------------------------------------------------------------------


def _timeline(results: Iterable[Result]) -> tuple[Point, ...]:
    """The history's points; forks only where there is nothing else."""
    points = points_of(results)
    return tuple(p for p in points if not p.release.fork) or points


def _purity(result: Result) -> tuple[bool, str]:
    """Sorts envs without PyTorch first: there nothing but the compiler can be to blame."""
    return result.built.torch is not None, result.cell.env.name


def _behaviour(outcome: Outcome) -> tuple[Status, str | None, str | None]:
    failure = outcome.failure
    return outcome.status, failure.kind if failure else None, failure.fingerprint if failure else None


def _intervals(points: Iterable[Point]) -> tuple[Interval, ...]:
    """Runs of neighbouring releases that behave the same. A release of which nothing is concluded ends a run."""
    runs: list[tuple[tuple[Status, str | None, str | None] | None, list[str]]] = []
    for point in points:
        behaviour = _behaviour(outcome) if (outcome := point.voice) else None
        if runs and runs[-1][0] == behaviour:
            runs[-1][1].append(point.release.label)
        else:
            runs.append((behaviour, [point.release.label]))
    return tuple(
        Interval(first=releases[0], last=releases[-1], status=behaviour[0], kind=behaviour[1], fingerprint=behaviour[2])
        for behaviour, releases in runs
        if behaviour is not None
    )


def _changes(known: Sequence[tuple[str, Outcome]]) -> tuple[Change, ...]:
    """Where one failure gave way to another, between releases that follow each other among the known ones."""
    return tuple(
        Change(release=release, before=kind_of(before), after=kind_of(after))
        for (_, before), (release, after) in pairwise(known)
        if not is_good(before) and not is_good(after) and _behaviour(before)[1:] != _behaviour(after)[1:]
    )


@lru_cache(maxsize=1024)
def _version(text: str) -> Version:
    return Version(text)
