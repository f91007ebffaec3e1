"""Verdicts: one account of all releases for each (kernel, variant, case, target).

A *row* has the outcomes of one coordinate, release by release, oldest first.
:mod:`compat.history.account` makes the account of it. The releases of a row follow these rules:

- All envs of one Triton version are one release, with or without PyTorch. If there are several, the
  env without PyTorch represents them. If one env compiles a kernel and another does not, the
  release is *divided*. It leads to no conclusion, is listed with the flaky releases, and
  :func:`disagreements` names the envs. That function also names envs that fail in different ways.
- A release without an answer (broken env, lost answer) is *untested*. It belongs to no interval,
  and is never the release of a change. The same holds for flaky releases, and for existing releases
  that were not tested.
- Results of earlier runs count for releases without an answer in this run.
- A fork (another distribution, or a local version such as ``3.1.0+ours``) is not part of the
  history of releases, because a patched build does not say when Triton broke. If all envs are
  forks, they form a history of their own.

Good means ``ok`` without any failure. A kernel that compiles but could not be launched (a
*predicted* failure) is bad.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from attrs import fields, frozen
from packaging.version import Version

from compat import toolchains
from compat.history.account import (
    Account,
    Entry,
    Judgement,
    account,
    class_of,
    failure_of,
    is_good,
    spans,
)
from compat.history.running import FastReleases, RightReleases, fast, right
from compat.model import (
    BuiltEnv,
    Env,
    Failure,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
    ToolchainWarning,
)
from compat.text import group_by_key

Coordinate = tuple[str, str, str, str]
"""Kernel, variant, case, target."""
_Kernel = tuple[Specialization, Target]
Existing = Mapping[str, Collection[Version]]
"""Toolchain → its existing releases."""
NONE_KNOWN: Existing = MappingProxyType({})


@frozen(kw_only=True)
class Verdict(Account):
    """The account of one (kernel, variant, case, target).

    The outcomes of its entries only have the parts that an account needs: status, stage, failure
    and warnings. Measurements are left out.
    """

    kernel: str
    variant: str
    case: str
    target: str
    toolchain: str
    """The title of the toolchain."""
    right: RightReleases | None = None
    """The verdict on its numbers; ``None`` without a run."""
    fast: FastReleases | None = None
    """The verdict on its latency; ``None`` without a measurement."""

    @property
    def coordinate(self) -> Coordinate:
        """Its kernel, variant, case and target."""
        return self.kernel, self.variant, self.case, self.target


@frozen(kw_only=True)
class Release:
    """A version of a toolchain with its place in the order: releases by age, then forks."""

    label: str
    """The name for readers: ``3.1.0``, ``3.1.0+ours``, ``ours-triton 3.1.0``, or the env's name if
    the version is unknown.
    """
    version: Version | None
    fork: bool

    @property
    def order(self) -> tuple[bool, bool, Version, str]:
        """The key to sort releases by."""
        return self.fork, self.version is None, self.version or Version("0"), self.label


@frozen(kw_only=True)
class Point:
    """One release of a row, with the results of its envs."""

    release: Release
    results: tuple[Result, ...]

    @property
    def answers(self) -> tuple[Result, ...]:
        """The results that say something about the kernel, those of envs without PyTorch first."""
        return tuple(r for r in self.results if r.outcome.status.is_answer)

    @property
    def untested(self) -> bool:
        """Whether this release has no answer."""
        return not self.answers

    @property
    def unsteady(self) -> bool:
        """Whether a result is flaky, or the envs disagree on whether the release is good."""
        answers = self.answers
        return (
            any(r.outcome.flaky for r in answers) or len({is_good(r.outcome) for r in answers}) > 1
        )

    @property
    def representative(self) -> Outcome | None:
        """The outcome that stands for the release; ``None`` if it is untested or unsteady."""
        return None if self.untested or self.unsteady else self.answers[0].outcome


@frozen(kw_only=True)
class Disagreement:
    """Envs with the same Triton release and different outcomes."""

    coordinate: Coordinate
    release: str
    answers: tuple[tuple[str, str], ...]
    """Env name and failure class of each; the status without a failure."""


def verdicts(
    results: Sequence[Result], *, remembered: Iterable[Result] = (), existing: Existing = NONE_KNOWN
) -> tuple[Verdict, ...]:
    """Return one verdict per specialization and target, in the order of their names.

    Args:
        results: Results of this run.
        remembered: Results of earlier runs, used for releases without an answer in ``results``.
        existing: Existing releases, tested or not.
    """
    earlier = _by_kernel(remembered)
    return tuple(
        _verdict(kernel, points, earlier.get(kernel, ()), existing)
        for kernel, points in _rows(results)
    )


def _rows(results: Iterable[Result]) -> Iterator[tuple[_Kernel, tuple[Point, ...]]]:
    """Yield the points of each specialization and target, one row after the other.

    All rows together take as much memory as the results.
    """
    groups = _by_kernel(results)
    for kernel in sorted(groups, key=lambda kernel: coordinate_of(*kernel)):
        yield kernel, _timeline(groups.pop(kernel))


def _by_kernel(results: Iterable[Result]) -> dict[_Kernel, tuple[Result, ...]]:
    return group_by_key(((result.cell.spec, result.cell.target), result) for result in results)


def entries_of(
    points: Sequence[Point], earlier: Iterable[Result] = (), existing: Collection[Version] = ()
) -> tuple[Entry, ...]:
    """Return the entry of each release, oldest first, then forks.

    It comes from a row's ``points``, else from an ``earlier`` result of the same coordinate. An
    ``existing`` release without either has an entry that says that it was not tried. If a point is
    a fork, only ``points`` count.
    """
    answered = {point.release.version for point in points if point.answers}
    entries = {point.release.order: _entry(point) for point in points}
    if not any(point.release.fork for point in points):
        for point in points_of(earlier):
            if not point.release.fork and point.answers and point.release.version not in answered:
                entries = {
                    order: entry
                    for order, entry in entries.items()
                    if order[2] != point.release.version
                }
                entries[point.release.order] = _entry(point, remembered=True)
        listed_versions = {order[2] for order in entries}
        for version in existing:
            if version not in listed_versions:
                release = Release(label=str(version), version=version, fork=False)
                entries[release.order] = Entry(release=release.label, tested=False)
    return tuple(entry for _, entry in sorted(entries.items(), key=lambda item: item[0]))


def disagreements(results: Iterable[Result]) -> tuple[Disagreement, ...]:
    """Return every release and coordinate for which envs have different outcomes.

    Outcomes differ if status, failure class or fingerprint differ.
    """
    return tuple(
        Disagreement(
            coordinate=coordinate_of(*kernel),
            release=point.release.label,
            answers=tuple((r.cell.env.name, class_of(r.outcome)) for r in point.answers),
        )
        for kernel, points in _rows(results)
        for point in points
        if len({(r.outcome.status, *failure_of(r.outcome)) for r in point.answers}) > 1
    )


# --- releases -------------------------------------------------------------------------------------


def coordinate_of(spec: Specialization, target: Target) -> Coordinate:
    """Return the coordinate of a specialization for a target."""
    return spec.kernel, spec.variant, spec.case, target.name


def release_of(built: BuiltEnv) -> Release:
    """Return the release that an env has."""
    return _release(built.env, built.release)


def releases_of(envs: Iterable[BuiltEnv]) -> dict[str, Release]:
    """Return env name → its release."""
    return {built.env.name: release_of(built) for built in envs}


def runs_of(
    some: Collection[str], releases: Mapping[str, Release], existing: Iterable[Version]
) -> str:
    """The releases of ``some`` envs as runs, and forks one by one.

    ``releases`` has these envs, and the others that were tried. A run crosses no existing release
    that is not in ``some``. An env is named instead of its release if another env of that release
    is not in ``some``.
    """
    divided = {release.label for name, release in releases.items() if name not in some}
    here = {name: release for name, release in releases.items() if name in some}
    undivided = [item for item in here.values() if not item.fork and item.label not in divided]
    alone = [
        item.label if item.label not in divided else name
        for name, item in here.items()
        if item not in undivided
    ]
    line = {version: str(version) for version in existing} | {
        item.version: item.label for item in undivided if item.version
    }
    runs = spans({item.label for item in undivided}, [line[version] for version in sorted(line)])
    return ", ".join(dict.fromkeys(filter(None, (runs, *alone))))


@lru_cache(maxsize=1024)
def _release(env: Env, text: str | None) -> Release:
    if text is None:
        return Release(label=env.name, version=None, fork=True)
    own = env.distribution == toolchains.of(env).distribution
    label = text if own else f"{env.distribution} {text}"
    return Release(label=label, version=_version(text), fork=toolchains.is_fork(env, text))


def points_of(results: Iterable[Result]) -> tuple[Point, ...]:
    """Return the points of one coordinate's results, oldest release first, forks last."""
    groups: dict[tuple[object, ...], list[tuple[Release, Result]]] = defaultdict(list)
    for result in results:
        release = release_of(result.built)
        # Versions are compared, not labels, so 3.1 and 3.1.0 are one release. Two forks of one
        # version are still two toolchains.
        groups[release.version, release.label if release.fork else ""].append((release, result))
    rows = sorted(
        (sorted(group, key=lambda pair: _purity(pair[1])) for group in groups.values()),
        key=lambda row: row[0][0].order,
    )
    return tuple(
        Point(release=row[0][0], results=tuple(result for _, result in row)) for row in rows
    )


class Points(Mapping[Coordinate, tuple[Point, ...]]):
    """Coordinate → its points, made on request.

    All points together would take as much memory as the results.
    """

    def __init__(self, results: Mapping[Coordinate, Sequence[Result]]) -> None:
        self._results = results

    def __getitem__(self, coordinate: Coordinate) -> tuple[Point, ...]:
        return points_of(self._results[coordinate])

    def __iter__(self) -> Iterator[Coordinate]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)


# --- the row of releases --------------------------------------------------------------------------


def _timeline(results: Iterable[Result]) -> tuple[Point, ...]:
    """Return the points of a history. It has forks only if there is nothing else."""
    points = points_of(results)
    return tuple(p for p in points if not p.release.fork) or points


def _purity(result: Result) -> tuple[bool, str]:
    """Return a key that sorts envs without PyTorch first.

    There only the compiler can be at fault.
    """
    return result.built.framework_release is not None, result.cell.env.name


def _verdict(
    of: _Kernel, points: Sequence[Point], earlier: Iterable[Result], existing: Existing
) -> Verdict:
    kernel, variant, case, target = coordinate_of(*of)
    toolchain = points[0].results[0].cell.env.toolchain
    entries = entries_of(points, earlier, existing.get(toolchain, ()))
    summary = account(entries)
    facts = {field.name: getattr(summary, field.name) for field in fields(Account)}
    results = {point.release.label: point.results for point in points}
    was_run = any(
        result.numbers.checks or result.latency
        for release_results in results.values()
        for result in release_results
    )
    return Verdict(
        kernel=kernel,
        variant=variant,
        case=case,
        target=target,
        toolchain=toolchains.look_up(toolchain).title,
        right=right(results, entries) if was_run else None,
        fast=fast(results, entries) if was_run else None,
        **facts,
    )


def _entry(point: Point, *, remembered: bool = False) -> Entry:
    outcome = point.representative
    facts = (outcome.status, outcome.stage, outcome.failure, outcome.warnings) if outcome else None
    return _shared_entry(point.release.label, facts, point.unsteady, remembered)


@lru_cache(maxsize=4096)
def _shared_entry(
    release: str,
    facts: tuple[Status, str, Failure | None, tuple[ToolchainWarning, ...]] | None,
    unsteady: bool,
    remembered: bool,
) -> Entry:
    """Return one shared entry for equal facts, because there are as many entries as cells."""
    if facts is None:
        return Entry(release=release, unsteady=unsteady, remembered=remembered)
    status, stage, failure, warnings = facts
    outcome = Outcome(status=status, stage=stage, failure=failure, warnings=warnings)
    judgement = Judgement.GOOD if is_good(outcome) else Judgement.BAD
    return Entry(
        release=release,
        judgement=judgement,
        outcome=outcome,
        unsteady=unsteady,
        remembered=remembered,
    )


@lru_cache(maxsize=1024)
def _version(text: str) -> Version:
    return Version(text)
