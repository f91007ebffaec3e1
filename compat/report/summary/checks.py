"""Facts about numbers and latency, for every form of the report: sentences and tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from attrs import frozen

from compat.history.account import Word
from compat.history.running import INTERPRETER, ran_on, right
from compat.history.verdict import Coordinate, Point, Verdict, release_of
from compat.model import Check, Result, Status
from compat.report.summary.compact import FailurePlace, natural
from compat.report.summary.grid import MARKS, KernelGrid, Mark, kernel_grids, legend_of
from compat.report.summary.record import Report, expectation_words, row_key
from compat.text import amount, group_by_key, join_words

_WORDS = {Status.OK: "right", Status.UNSUPPORTED: "n/a"}
MEANINGS = {
    "right": "within the tolerance of every output",
    "WRONG": "wrong numbers",
    "UNSTABLE": "launches with the same arguments computed different numbers",
    "FAULT": "a launch ended with a GPU error",
    "refused": "the GPU's driver did not launch it",
    "rej": "a run ended with an error",
    "CRASH": "a run crashed",
    "time": "timed out",
    "mem": "memory limit exceeded",
    "n/a": "inconclusive: no reference, no small problem, or a fault of the interpreter",
    "lost": "no answer",
    "-": "not run",
}
"""The meanings of the marks in tables of numbers, in the order of the legend."""


@frozen(kw_only=True)
class Trouble:
    """Cells of one kernel variant whose checks have the same bad status."""

    check: Check
    """The check of the first of these cells."""
    where: FailurePlace
    expected: bool
    """Whether these cells are as declared."""
    declared: str
    """The declaration, in words."""


@frozen(kw_only=True)
class DeviceChecks:
    """The checks of kernels on one device."""

    device: str
    """``interpreter``, or a GPU by its name."""
    counts: Mapping[Status, int]
    """Number of cells per status. The interpreter does not distinguish targets."""
    grids: tuple[KernelGrid, ...]
    troubles: tuple[Trouble, ...]

    @property
    def title(self) -> str:
        """The device, for a heading."""
        return (
            "in the interpreter, on the CPU"
            if self.device == INTERPRETER
            else f"on one {self.device}"
        )

    @property
    def sentence(self) -> str:
        """A sentence with the number of checks per status."""
        parts = [f"{number:,} {_status_word(status)}" for status, number in self.counts.items()]
        unit = "run" if self.device == INTERPRETER else "launched cell"
        return f"{amount(sum(self.counts.values()), unit)} {self.title}: {join_words(parts)}"


def _status_word(status: Status) -> str:
    return {Status.OK: "right", Status.UNSUPPORTED: "inconclusive"}.get(status, str(status))


def check_text(check: Check) -> str:
    """The result of a check, its place and its error, in one line."""
    device = check.device or "the interpreter"
    parts = [f"{check.status} on {device}" if check.device else f"{check.status} in {device}"]
    if check.launches and check.differing:
        parts.append(
            f"{check.differing} of {check.launches} launches computed different bits from the first"
        )
    if check.where:
        parts.append(f"at {check.where}")
    if check.max_abs is not None and check.right is False:
        parts.append(
            f"largest error {check.max_abs:.3g}"
            + (f" ({check.max_rel:.3g} relative)" if check.max_rel is not None else "")
        )
    text = ", ".join(parts)
    return f"{text}: {check.reason}" if check.reason else text


def checks_by_device(report: Report) -> tuple[DeviceChecks, ...]:
    """The checks of kernels, first in the interpreter and then on each GPU; empty if none ran."""
    devices = {ran_on(check) for result in report.results for check in result.numbers.checks}
    order = sorted(devices, key=lambda device: (device != INTERPRETER, natural(device)))
    return tuple(_checks_on(report, device) for device in order)


def _checks_on(report: Report, device: str) -> DeviceChecks:
    once = device == INTERPRETER  # the interpreter does not distinguish targets
    checks: dict[object, Check] = {
        (result.cell.spec, result.cell.env) if once else result.cell: check
        for result in report.ordered_results
        if (check := _check(result, device)) is not None
    }
    counter = Counter(check.status for check in checks.values())
    return DeviceChecks(
        device=device,
        counts={status: counter[status] for status in Status if counter[status]},
        grids=_grids(report, device),
        troubles=_troubles(report, device),
    )


def _check(result: Result, device: str) -> Check | None:
    """The check of a result on a device; ``None`` if it did not run there."""
    return next((check for check in result.numbers.checks if ran_on(check) == device), None)


def _troubles(report: Report, device: str) -> tuple[Trouble, ...]:
    groups: dict[tuple[str, str, Status, bool, str], list[Result]] = defaultdict(list)
    for result in report.ordered_results:
        check = _check(result, device)
        if check is not None and (check.right is False or check.status is Status.LOST):
            spec = result.cell.spec
            groups[
                spec.kernel,
                spec.variant,
                check.status,
                result.expected,
                expectation_words(result.expectation),
            ].append(result)
    return tuple(
        Trouble(check=check, where=where, expected=expected, declared=declared)
        for (*_, expected, declared), group in groups.items()
        if (check := _check(group[0], device))
        for where in report.where(group)
    )


# --- tables ---------------------------------------------------------------------------------------


def _grids(report: Report, device: str) -> tuple[KernelGrid, ...]:
    """A table of checks per kernel, for coordinates that ran on the device on some release."""
    return kernel_grids(
        report,
        lambda coordinate: _row_marks(report, coordinate, device),
        lambda coordinate: _right_words(report, coordinate, report.verdict_of[coordinate], device),
        lambda verdict: verdict == _WORDS[Status.OK],
    )


def _row_marks(report: Report, coordinate: Coordinate, device: str) -> tuple[Mark, ...] | None:
    points = {point.release.label: point for point in report.points[coordinate]}
    marks = tuple(_mark(points.get(release.label), device) for release in report.releases)
    return marks if any(mark != Mark() for mark in marks) else None


def _mark(point: Point | None, device: str) -> Mark:
    """The mark of a release: that of an env whose check failed, else of the first env that ran."""
    ran = [
        (check, result.expected)
        for result in (point.results if point else ())
        if (check := _check(result, device)) is not None
    ]
    if not ran:
        return Mark()
    check, expected = next((one for one in ran if one[0].right is False), ran[0])
    return Mark(
        word=_WORDS.get(check.status) or MARKS[check.status],
        unexpected=check.status not in _WORDS and not expected,
    )


def _right_words(report: Report, coordinate: Coordinate, verdict: Verdict, device: str) -> str:
    results = {point.release.label: point.results for point in report.points[coordinate]}
    account = right(results, verdict.entries, device)
    return account.phrase if account else ""


@frozen(kw_only=True)
class Latencies:
    """The latency of one kernel's launches, with a row for each variant and case."""

    kernel: str
    device: str
    rows: tuple[LatencyRow, ...]


@frozen(kw_only=True)
class LatencyRow:
    """The latency of one variant and case, release by release."""

    subject: str
    """``broadcast_2d (few)``, with the target where there are several."""
    cells: tuple[str, ...]
    """One per release of the report: microseconds, and the ratio to the baseline in parentheses;
    empty where not measured.
    """
    verdict: str
    slower: bool

    def extremes(self, report: Report) -> str:
        """The slowest and the fastest release: ``513 µs in 3.3.0, 235 µs in 3.8.0``."""
        timings = [
            (cell.partition(" ")[0], release.label)
            for cell, release in zip(self.cells, report.releases, strict=True)
            if cell
        ]
        order = sorted(timings, key=lambda timing: float(timing[0].replace(",", "")), reverse=True)
        return ", ".join(f"{us} µs in {release}" for us, release in (order[0], order[-1]))


def latencies(report: Report) -> tuple[Latencies, ...]:
    """The latency of every kernel that was timed, in natural order."""
    verdicts = report.verdict_of
    kernels: dict[tuple[str, str], list[LatencyRow]] = defaultdict(list)
    several = len({verdict.target for verdict in verdicts.values() if verdict.fast}) > 1
    for coordinate in sorted(verdicts, key=row_key):
        if (fast := verdicts[coordinate].fast) is None:
            continue
        kernel, variant, case, target = coordinate
        timed = {point.release.label: point.results for point in report.points[coordinate]}
        cells = (_timing(timed.get(release.label, ()), fast.device) for release in report.releases)
        row = LatencyRow(
            subject=f"{variant} ({case}{', ' + target if several else ''})",
            cells=tuple(cells),
            verdict=fast.phrase,
            slower=fast.word is not Word.WORKS,
        )
        kernels[kernel, fast.device].append(row)
    return tuple(
        Latencies(kernel=kernel, device=device, rows=tuple(rows))
        for (kernel, device), rows in kernels.items()
    )


def _timing(results: Iterable[Result], device: str) -> str:
    """The shortest latency among the envs of a release, as the verdict takes it."""
    latencies = [r.latency for r in results if r.latency and r.latency.device == device]
    latency = min(latencies, key=lambda latency: latency.us, default=None)
    if latency is None:
        return ""
    ratio = f" ({latency.ratio:.2f})" if latency.ratio is not None else ""
    return f"{_microseconds(latency.us)}{ratio}"


def _microseconds(us: float) -> str:
    """Microseconds as text, with about three significant digits."""
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}" if us >= 10 else f"{us:.2f}"


def legend(devices: Iterable[DeviceChecks]) -> Mapping[str, str]:
    """The meanings of the marks that occur."""
    return legend_of((grid for device in devices for grid in device.grids), MEANINGS)


def reasons(report: Report) -> tuple[tuple[str, str], ...]:
    """Each reason why a run in the interpreter was inconclusive, with its releases."""
    groups = group_by_key(
        (check.reason, release_of(result.built).label)
        for result in report.ordered_results
        if (check := result.numbers.interpreter) and check.status is Status.UNSUPPORTED
    )
    return tuple((reason, report.spans({*labels})) for reason, labels in groups.items())
