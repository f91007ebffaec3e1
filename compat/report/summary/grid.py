"""The tables with a column per release.

The grid has one row for all coordinates of a kernel with the same outcomes, and a mark per release.
The other table shows versions of a library, with the number of kernels that compile.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated

from attrs import Factory, frozen
from packaging.version import InvalidVersion, Version

from compat.history.account import Entry, Word, class_of, extent_of, is_deprecated, is_good, runs
from compat.history.verdict import Coordinate, Point, Verdict, release_of
from compat.model import BAD_NUMBERS, Outcome, Result, Status
from compat.model.fields import Count, Text, rules
from compat.report.summary.compact import natural, rectangles
from compat.report.summary.record import Report

MARKS = {
    Status.OK: "ok",
    Status.REJECTED: "rej",
    Status.CRASHED: "CRASH",
    Status.TIMED_OUT: "time",
    Status.OUT_OF_MEMORY: "mem",
    Status.UNSUPPORTED: "n/a",
    Status.WRONG: "WRONG",
    Status.UNSTABLE: "UNSTABLE",
    Status.FAULTED: "FAULT",
    Status.LAUNCH_REFUSED: "refused",
    Status.ENV_BROKEN: "env",
    Status.SOURCE_BROKEN: "source",
    Status.LOST: "lost",
}

STOPPED = "stopped"
"""The mark of a cell that compiles and whose run has no numbers: it crashed, raised an error,
exceeded a limit, or gave no answer.
"""
COMING = "…"
"""The mark of a cell that is not compiled yet."""

LEGEND = {
    "ok": "compiles",
    "ok*": "compiles, with a deprecation warning",
    "pred": "compiles, but a launch would fail or compute wrong numbers",
    "rej": "rejected with a diagnostic",
    "CRASH": "the compiler crashed",
    "time": "timed out",
    "mem": "memory limit exceeded",
    "n/a": "this toolchain cannot build for the target",
    "WRONG": "compiles, computes wrong numbers",
    "UNSTABLE": "compiles, and launches compute different numbers",
    "FAULT": "compiles, and a launch ends with a GPU error",
    "refused": "compiles, and the GPU's driver does not launch it",
    STOPPED: "compiles, and a run of it did not finish",
    "env": "the env is broken",
    "source": "the kernel could not be loaded from its file",
    "lost": "no answer",
    "flaky": "two attempts differed",
    "mixed": "envs of this release differ",
    COMING: "not compiled yet",
    "-": "not in the matrix",
}
"""The meanings of the marks, in the order of the legend.

The marks are words, so that they are readable without colour.
"""

UNEXPECTED = "!"
"""The sign after a mark that differs from the declaration."""


@frozen(kw_only=True)
class Mark:
    """The mark of one release in a row."""

    word: str = "-"
    failure: str | None = None
    """The id of the distinct failure behind the mark."""
    unexpected: bool = False

    @property
    def text(self) -> str:
        """The word, with an exclamation mark if it is unexpected."""
        return self.word + UNEXPECTED if self.unexpected else self.word


@frozen(kw_only=True)
class GridRow:
    """All coordinates of one variant with the same outcomes."""

    variant: str
    cases: tuple[str, ...]
    """Empty for all cases."""
    targets: tuple[str, ...]
    """Empty for all targets."""
    marks: tuple[Mark, ...]
    """One per release of the report, in its order."""
    verdict: str
    """The verdict in words, for every coordinate of the row."""
    good: bool
    """Whether it works on every release that was tested."""

    @property
    def failures(self) -> tuple[str, ...]:
        """The ids of the distinct failures in this row, by first appearance."""
        return tuple(dict.fromkeys(mark.failure for mark in self.marks if mark.failure))


@frozen(kw_only=True)
class KernelGrid:
    """One kernel's table."""

    kernel: str
    rows: tuple[GridRow, ...]


def grids(report: Report) -> tuple[KernelGrid, ...]:
    """One grid per kernel, in natural order."""
    phrases = {
        coordinate: phrase_in_full(verdict) for coordinate, verdict in report.verdict_of.items()
    }
    return kernel_grids(
        report,
        lambda coordinate: _marks(report, coordinate),
        lambda coordinate: phrases.get(coordinate, str(Word.UNKNOWN)),
        lambda verdict: verdict == Word.WORKS,
    )


def kernel_grids(
    report: Report,
    marks_of: Callable[[Coordinate], tuple[Mark, ...] | None],
    verdict_of: Callable[[Coordinate], str],
    is_good: Callable[[str], bool],
) -> tuple[KernelGrid, ...]:
    """Tables of all coordinates with marks, one per kernel. Equal coordinates share a row."""
    alike: dict[tuple[str, str], dict[tuple[tuple[Mark, ...], str], list[Coordinate]]] = (
        defaultdict(lambda: defaultdict(list))
    )
    for coordinate in report.by_coordinate:
        if marks := marks_of(coordinate):
            alike[coordinate[0], coordinate[1]][marks, verdict_of(coordinate)].append(coordinate)
    kernels: dict[str, list[GridRow]] = defaultdict(list)
    for (kernel, variant), groups in alike.items():
        for (marks, verdict), coordinates in groups.items():
            kernels[kernel] += _rows(
                report, (kernel, variant), marks, verdict, coordinates, good=is_good(verdict)
            )
    return tuple(
        KernelGrid(kernel=kernel, rows=tuple(rows))
        for kernel, rows in sorted(kernels.items(), key=lambda item: natural(item[0]))
    )


def history_of(row: GridRow, report: Report) -> str:
    """A row's marks as intervals: ``ok 3.0.0–3.8.0 · rej 3.9.0``.

    Intervals replace the columns of the releases if these do not fit.
    """
    texts = (mark.text + (f" {mark.failure}" if mark.failure else "") for mark in row.marks)
    alike = runs(
        (release.label, text) for release, text in zip(report.releases, texts, strict=True)
    )
    return " · ".join(
        f"{run.value} {report.spans(run.releases)}" for run in alike if run.value != Mark().text
    )


def phrase_in_full(verdict: Verdict) -> str:
    """The verdict's phrase, with further facts.

    For an intermittent history, these are the releases that work. If a check of the numbers failed,
    the phrase about the numbers follows.
    """
    phrase = _compiling(verdict)
    if verdict.right is None or not verdict.right.bad:
        return phrase
    if verdict.word is Word.WORKS:
        phrase = phrase.replace(Word.WORKS, "compiles")
    return f"{phrase}; {verdict.right.phrase}"


def _compiling(verdict: Verdict) -> str:
    if verdict.word is not Word.INTERMITTENT:
        return verdict.phrase
    good = [
        extent_of(interval)
        for interval in verdict.intervals
        if interval.status is Status.OK and interval.failure_class is None
    ]
    return f"{verdict.phrase}: ok {', '.join(good)}"


def legend_of(
    kernels: Iterable[KernelGrid], meanings: Mapping[str, str] = LEGEND
) -> dict[str, str]:
    """The meanings of the marks that occur."""
    occurring = {mark.word for grid in kernels for row in grid.rows for mark in row.marks}
    return {word: meaning for word, meaning in meanings.items() if word in occurring}


def _marks(report: Report, coordinate: Coordinate) -> tuple[Mark, ...]:
    points = {point.release.label: point for point in report.points[coordinate]}
    return tuple(
        mark_of(report, points[release.label])
        if release.label in points
        else Mark(word=COMING)
        if (coordinate, release.label) in report.pending_places
        else Mark()
        for release in report.releases
    )


def mark_of(report: Report, point: Point) -> Mark:
    """The mark of a release: the word of the outcome that represents it, if there is one."""
    unexpected = any(not result.expected for result in point.results)
    if outcome := point.representative:
        if is_good(outcome) and (bad := _bad_numbers(point)):
            word = MARKS[bad] if bad in BAD_NUMBERS else STOPPED
            return Mark(word=word, unexpected=unexpected)
        failure = outcome.failure
        return Mark(
            word=_word(outcome),
            failure=report.failure_ids[failure.fingerprint] if failure else None,
            unexpected=unexpected,
        )
    if point.untested:
        return Mark(word=MARKS[point.results[0].outcome.status], unexpected=unexpected)
    flaky = any(result.outcome.flaky for result in point.answers)
    return Mark(word="flaky" if flaky else "mixed", unexpected=unexpected)


def _bad_numbers(point: Point) -> Status | None:
    """The status of the first failed check of numbers; ``None`` if there is none."""
    return next(
        (check.status for result in point.answers if (check := result.numbers.trouble)), None
    )


def remembered_mark(entry: Entry) -> Mark:
    """The mark of a release that only an earlier run tested."""
    return Mark(word=_word(entry.outcome) if entry.outcome and not entry.unsteady else "flaky")


def _word(outcome: Outcome) -> str:
    if outcome.failure and outcome.failure.prediction:
        return "pred"
    if is_good(outcome):
        return "ok*" if is_deprecated(outcome) else "ok"
    return MARKS[outcome.status]


def _rows(
    report: Report,
    of: tuple[str, str],
    marks: tuple[Mark, ...],
    verdict: str,
    coordinates: Sequence[Coordinate],
    *,
    good: bool,
) -> list[GridRow]:
    every_case, every_target = report.extent[of]
    open_ = any(mark.word == COMING for mark in marks)
    return [
        GridRow(
            variant=of[1],
            cases=() if cases == every_case else cases,
            targets=() if targets == every_target else targets,
            marks=marks,
            verdict=f"so far: {verdict}" if open_ else verdict,
            good=good and not open_,
        )
        for cases, targets in rectangles((case, target) for _, _, case, target in coordinates)
    ]


# --- versions of a library ------------------------------------------------------------------------


@frozen(kw_only=True)
class TallyRecord:
    """The results of the kernels of a library's version on one release."""

    release: Text
    compile: Count = 0
    fail: Count = 0
    unknown: Annotated[Count, rules(description="Kernels whose result there is unknown.")] = 0
    classes: Mapping[str, Annotated[int, rules(minimum=1)]] = Factory(dict)
    """Failure class → number of kernels with it, the most frequent first. Kernels with an unknown
    result are included.
    """

    @property
    def kernel_count(self) -> int:
        """Number of kernels, without those whose target the release cannot build for."""
        return self.compile + self.fail + self.unknown

    @property
    def mark(self) -> str:
        """Number of kernels that compile, with a question mark if some results are unknown."""
        return f"{self.compile:,}{'?' if self.unknown else ''}" if self.kernel_count else "-"


@frozen(kw_only=True)
class LibraryRecord:
    """One version of a library whose kernels were compiled."""

    package: Text
    version: Text
    kernels: Count
    releases: tuple[TallyRecord, ...]
    """One per release, in the order of the report."""

    def mark(self, label: str) -> str:
        """The mark in the column of a release."""
        return next((tally.mark for tally in self.releases if tally.release == label), "-")


def library_versions(report: Report) -> tuple[LibraryRecord, ...]:
    """The libraries whose kernels were compiled, each in the order of its versions."""
    by_requirement: dict[str, list[Result]] = defaultdict(list)
    for result in report.ordered_results:
        if result.cell.spec.package:
            by_requirement[result.cell.spec.package].append(result)
    versions = [
        _version(requirement, results, report) for requirement, results in by_requirement.items()
    ]
    return tuple(sorted(versions, key=lambda library: (library.package, _order(library.version))))


def libraries(report: Report) -> Iterator[tuple[str, tuple[LibraryRecord, ...], tuple[str, ...]]]:
    """Each library's name, its versions, and the releases on which any of these was tried."""
    for name, group in groupby(library_versions(report), key=lambda library: library.package):
        versions = tuple(group)
        tested_releases = {tally.release for version in versions for tally in version.releases}
        yield (
            name,
            versions,
            tuple(release.label for release in report.releases if release.label in tested_releases),
        )


def failing(library: LibraryRecord, report: Report) -> Iterator[str]:
    """The failures of a version, with one line for all releases that fail alike.

    An example is ``3.9.0: 25 of 28 fail: …``.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for tally in library.releases:
        if tally.fail or tally.unknown:
            groups[_failing_words(tally)].append(tally.release)
    yield from (f"{report.spans(releases)}: {text}" for text, releases in groups.items())


def _failing_words(tally: TallyRecord) -> str:
    parts = [f"{tally.fail:,} of {tally.kernel_count:,} fail" if tally.fail else ""]
    parts.append(
        f"{tally.unknown:,} of {tally.kernel_count:,} have no answer" if tally.unknown else ""
    )
    classes = ", ".join(f"{name} {number:,}" for name, number in tally.classes.items())
    return f"{' and '.join(filter(None, parts))}: {classes}"


def _version(requirement: str, results: Iterable[Result], report: Report) -> LibraryRecord:
    by_release: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        by_release[release_of(result.built).label][result.cell.spec.kernel].append(result)
    package, _, version = requirement.partition("==")
    order = [release.label for release in report.releases if release.label in by_release]
    return LibraryRecord(
        package=package,
        version=version,
        kernels=len(set[str]().union(*by_release.values())),
        releases=tuple(_tally(release, by_release[release].values()) for release in order),
    )


def _tally(release: str, kernels: Iterable[Iterable[Result]]) -> TallyRecord:
    fates: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for results in kernels:
        outcomes = [
            result.outcome for result in results if result.outcome.status is not Status.UNSUPPORTED
        ]
        bad = [outcome for outcome in outcomes if not is_good(outcome)]
        if any(outcome.status.is_answer for outcome in bad):
            fates["fail"] += 1
        elif outcomes:
            fates["unknown" if bad else "compile"] += 1
        classes.update({class_of(outcome) for outcome in bad})
    by_number = sorted(classes.items(), key=lambda counted: (-counted[1], counted[0]))
    return TallyRecord(
        release=release,
        compile=fates["compile"],
        fail=fates["fail"],
        unknown=fates["unknown"],
        classes=dict(by_number),
    )


def _order(version: str) -> tuple[bool, Version | str]:
    try:
        return False, Version(version)
    except InvalidVersion:
        return True, version
