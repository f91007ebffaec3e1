"""The grid: one row for all coordinates of a kernel with the same outcomes, one mark per release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from attrs import frozen

from compat.history.account import Entry, Interval, Word
from compat.history.verdict import Coordinate, Point, Verdict, is_deprecated, is_good
from compat.model import Outcome, Status
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

COMING = "…"
"""What stands for cells that are not compiled yet."""

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
    "FAULT": "compiles, and a launch ends with an error of the GPU",
    "refused": "compiles, and the GPU's driver does not launch it",
    "env": "the env is broken",
    "source": "the kernel's file could not be imported",
    "lost": "no answer",
    "flaky": "two attempts differed",
    "mixed": "envs of this release differ",
    COMING: "not compiled yet",
    "-": "not in the matrix",
}
"""What the marks mean, in the order to explain them. They are words, so that they read without colour."""

UNEXPECTED = "!"
"""Put behind a mark that is not what was declared."""


@frozen(kw_only=True)
class Mark:
    """One release in a row."""

    word: str = "-"
    failure: str | None = None
    """The id of the distinct failure behind it."""
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
    """Empty for all of them."""
    targets: tuple[str, ...]
    """Empty for all of them."""
    marks: tuple[Mark, ...]
    """One per release of the report, in its order."""
    verdict: str
    """The verdict in words, for every coordinate of the row."""
    good: bool
    """Whether it works wherever it was tested."""

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
    phrases = {(v.kernel, v.variant, v.case, v.target): phrase_in_full(v) for v in report.verdicts}
    return gathered(
        report,
        lambda coordinate: _marks(report, coordinate),
        lambda coordinate: phrases.get(coordinate, str(Word.UNKNOWN)),
        lambda verdict: verdict == Word.WORKS,
    )


def gathered(
    report: Report,
    marks_of: Callable[[Coordinate], tuple[Mark, ...] | None],
    verdict_of: Callable[[Coordinate], str],
    is_good: Callable[[str], bool],
) -> tuple[KernelGrid, ...]:
    """Tables of all coordinates that have marks, one per kernel, with those that are alike in one row."""
    alike: dict[tuple[str, str], dict[tuple[tuple[Mark, ...], str], list[Coordinate]]] = defaultdict(lambda: defaultdict(list))
    for coordinate in report.by_coordinate:
        if marks := marks_of(coordinate):
            alike[coordinate[0], coordinate[1]][marks, verdict_of(coordinate)].append(coordinate)
    kernels: dict[str, list[GridRow]] = defaultdict(list)
    for (kernel, variant), groups in alike.items():
        for (marks, verdict), coordinates in groups.items():
            kernels[kernel] += _rows(report, (kernel, variant), marks, verdict, coordinates, good=is_good(verdict))
    return tuple(
        KernelGrid(kernel=kernel, rows=tuple(rows)) for kernel, rows in sorted(kernels.items(), key=lambda item: natural(item[0]))
    )


def history_of(row: GridRow, report: Report) -> str:
    """A row's marks as intervals, for where there is no room for a column per release: ``ok 3.0.0–3.8.0, rej 3.9.0``."""
    runs: list[tuple[str, list[str]]] = []
    for mark, release in zip(row.marks, report.releases, strict=True):
        text = mark.text + (f" {mark.failure}" if mark.failure else "")
        if runs and runs[-1][0] == text:
            runs[-1][1].append(release.label)
        else:
            runs.append((text, [release.label]))
    return " · ".join(f"{text} {report.spans(run)}" for text, run in runs if text != Mark().text)


def phrase_in_full(verdict: Verdict) -> str:
    """The verdict's phrase; where that alone says little, with the releases that work, and where numbers are not right, that."""
    if verdict.right is not None and verdict.right.bad:
        compiles = verdict.phrase.replace(Word.WORKS, "compiles") if verdict.word is Word.WORKS else _compiling(verdict)
        return f"{compiles}; {verdict.right.phrase}"
    return _compiling(verdict)


def _compiling(verdict: Verdict) -> str:
    if verdict.word is not Word.INTERMITTENT:
        return verdict.phrase
    good = [_extent(interval) for interval in verdict.intervals if interval.status is Status.OK and interval.failure_class is None]
    return f"{verdict.phrase}: ok {', '.join(good)}"


def legend_of(kernels: Sequence[KernelGrid]) -> dict[str, str]:
    """The legend's entries for the marks that occur."""
    occurring = {mark.word for grid in kernels for row in grid.rows for mark in row.marks}
    return {word: meaning for word, meaning in LEGEND.items() if word in occurring}


def _marks(report: Report, coordinate: Coordinate) -> tuple[Mark, ...]:
    points = {point.release.label: point for point in report.points[coordinate]}
    return tuple(
        mark_of(report, points[release.label])
        if release.label in points
        else Mark(word=COMING if (coordinate, release.label) in report.coming else Mark().word)
        for release in report.releases
    )


def mark_of(report: Report, point: Point) -> Mark:
    """What a release is marked with: the word of the outcome that speaks for it, if any may."""
    unexpected = any(not result.expected for result in point.results)
    if outcome := point.representative:
        if is_good(outcome) and (bad := _bad_numbers(point)):
            return Mark(word=MARKS[bad], unexpected=unexpected)
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
    """What a check says of the numbers, where one says that they are not right."""
    return next((check.status for result in point.answers if (check := result.numbers.trouble)), None)


def remembered_mark(entry: Entry) -> Mark:
    """What a release is marked with of which only an earlier run knows something."""
    return Mark(word=_word(entry.outcome) if entry.outcome and not entry.unsteady else "flaky")


def _word(outcome: Outcome) -> str:
    if outcome.failure and outcome.failure.prediction:
        return "pred"
    if is_good(outcome):
        return "ok*" if is_deprecated(outcome) else "ok"
    return MARKS[outcome.status]


def _rows(
    report: Report, of: tuple[str, str], marks: tuple[Mark, ...], verdict: str, coordinates: Sequence[Coordinate], *, good: bool
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


def _extent(interval: Interval) -> str:
    return interval.first if interval.first == interval.last else f"{interval.first}–{interval.last}"
