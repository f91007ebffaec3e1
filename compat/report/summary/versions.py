"""Versions of libraries side by side: how many of their kernels compile on which release, and what fails."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from attrs import Factory, frozen
from packaging.version import InvalidVersion, Version

from compat.history.verdict import class_of, is_good, release_of
from compat.model import Result, Status
from compat.report.summary.record import Report


@frozen(kw_only=True)
class Tally:
    """What became of the kernels of one version on one release."""

    compile: int = 0
    fail: int = 0
    unknown: int = 0
    """Of how many nothing is known there."""
    classes: Mapping[str, int] = Factory(dict)
    """Failure class → kernels that show it, the most frequent first; of those of which nothing is known, too."""

    @property
    def tried(self) -> int:
        """All of them; those whose target the release cannot build for are not among them."""
        return self.compile + self.fail + self.unknown

    @property
    def mark(self) -> str:
        """How many compile, with a question mark where of some nothing is known."""
        return f"{self.compile:,}{'?' if self.unknown else ''}" if self.tried else "-"


@frozen(kw_only=True)
class LibraryVersion:
    """One version of a library."""

    name: str
    version: str
    kernels: int
    releases: Mapping[str, Tally]
    """By the label of the release, in order."""

    def mark(self, label: str) -> str:
        """What stands in the column of a release."""
        return self.releases[label].mark if label in self.releases else "-"


def library_versions(report: Report) -> tuple[LibraryVersion, ...]:
    """The libraries whose kernels were compiled, each in the order of its versions."""
    by_requirement: dict[str, list[Result]] = defaultdict(list)
    for result in report.ordered:
        if result.cell.spec.package:
            by_requirement[result.cell.spec.package].append(result)
    versions = [_version(requirement, results, report) for requirement, results in by_requirement.items()]
    return tuple(sorted(versions, key=lambda each: (each.name, _order(each.version))))


def libraries(report: Report) -> tuple[tuple[str, tuple[LibraryVersion, ...], tuple[str, ...]], ...]:
    """Libraries by name, with their versions and the releases that any of these was tried on."""
    groups = [(name, tuple(versions)) for name, versions in groupby(library_versions(report), key=lambda each: each.name)]
    labels = [release.label for release in report.releases]
    return tuple(
        (name, versions, tuple(label for label in labels if any(label in version.releases for version in versions)))
        for name, versions in groups
    )


def failing(found: LibraryVersion, report: Report) -> Iterator[str]:
    """What fails in a version, a line for all releases on which the same number does: ``3.9.0: 25 of 28 fail: …``."""
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for release, tally in found.releases.items():
        if tally.fail or tally.unknown:
            groups[tally.fail, tally.unknown, tally.tried, tuple(tally.classes.items())].append(release)
    for releases in groups.values():
        yield f"{report.spans(releases)}: {_said(found.releases[releases[0]])}"


def _said(tally: Tally) -> str:
    parts = [f"{tally.fail:,} of {tally.tried:,} fail" if tally.fail else ""]
    parts.append(f"nothing is known of {tally.unknown:,} of {tally.tried:,}" if tally.unknown else "")
    classes = ", ".join(f"{name} {number:,}" for name, number in tally.classes.items())
    return f"{' and '.join(filter(None, parts))}: {classes}"


def _version(requirement: str, results: Iterable[Result], report: Report) -> LibraryVersion:
    by_release: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    kernels: set[str] = set()
    for result in results:
        kernels.add(result.cell.spec.kernel)
        by_release[release_of(result.built).label][result.cell.spec.kernel].append(result)
    name, _, version = requirement.partition("==")
    order = [release.label for release in report.releases if release.label in by_release]
    releases = {label: _tally(by_release[label].values()) for label in order}
    return LibraryVersion(name=name, version=version, kernels=len(kernels), releases=releases)


def _tally(kernels: Iterable[Iterable[Result]]) -> Tally:
    compiling = failing = unknown = 0
    classes: Counter[str] = Counter()
    for results in kernels:
        outcomes = [result.outcome for result in results if result.outcome.status is not Status.UNSUPPORTED]
        bad = [outcome for outcome in outcomes if not is_good(outcome)]
        if any(outcome.status.is_answer for outcome in bad):
            failing += 1
        elif bad:
            unknown += 1
        elif outcomes:
            compiling += 1
        classes.update({class_of(outcome) for outcome in bad})
    by_number = sorted(classes.items(), key=lambda each: (-each[1], each[0]))
    return Tally(compile=compiling, fail=failing, unknown=unknown, classes=dict(by_number))


def _order(version: str) -> tuple[bool, Version | str]:
    try:
        return False, Version(version)
    except InvalidVersion:
        return True, version
