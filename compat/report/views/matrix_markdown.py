"""A report for a code forge: ``reports/matrix.md``."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import accumulate

from attrs import frozen

from compat import toolchains
from compat.history.verdict import release_of
from compat.model import BuiltEnv, Result, Status
from compat.report.render.markdown import escape, prose_with_bold, render_template, table_code
from compat.report.summary.checks import check_text, checks_by_device, latencies, reasons
from compat.report.summary.checks import legend as checks_legend
from compat.report.summary.compact import (
    NAMED_CASES,
    explain_command,
    fix_command,
    matrix_command,
    natural,
)
from compat.report.summary.grid import (
    LEGEND,
    MARKS,
    GridRow,
    Mark,
    failing,
    grids,
    legend_of,
    libraries,
)
from compat.report.summary.record import DistinctFailure, Report, shards_text
from compat.report.summary.statements import excerpts, failures_to_fix, notes, stand_ins, statements
from compat.report.views.envs import pairs_sentence, section
from compat.text import JsonObject, amount, join_words, name_first, shorten

SUMMARY_LIMIT = 1024 * 1024
"""Bytes that the summary of a step may have on GitHub. GitHub does not show a longer one."""
_ROOM = 200
"""Bytes for the sentence about left-out sections."""

BESIDE = ("numpy", "setuptools")
"""Packages outside of Triton that decide what it can do, so they get a column."""


def matrix_markdown(report: Report) -> str:
    """The report as Markdown, folded if it is large.

    Only its last line depends on when and how fast it was made.
    """
    text = _in_full(report) if len(report.results) < MANY else ""
    return text if text and len(text.encode()) <= LARGE else _in_brief(report)


def _in_brief(report: Report) -> str:
    """The counts of a large report."""
    kernels = sorted(
        _kernels(report),
        key=lambda counts: (not counts.unexpected, not counts.bad, natural(counts.kernel)),
    )
    marks = {word for kernel in kernels[:_KERNELS] for word, _ in kernel.bad} | {"ok"}
    return render_template(
        "folded.md.j2",
        (amount, short, last_line, kernels_of),
        kernels=kernels,
        failures=sorted(report.failures, key=lambda failure: -len(failure.results)),
        most_kernels=_KERNELS,
        most=_LINES,
        statements=len(statements(report)),
        legend={word: meaning for word, meaning in LEGEND.items() if word in marks},
        **_shared_values(report),
    )


def _in_full(report: Report) -> str:
    """The whole report."""
    kernels = grids(report)
    return render_template(
        "matrix.md.j2",
        (amount, mark, anchor, subject, beside, faces, reproduce, per_target),
        statements=statements(report),
        grids=kernels,
        legend=legend_of(kernels),
        **_numbers(report),
        notes=notes(report),
        stand_ins=stand_ins(report.ordered_results),
        libraries=libraries(report),
        failing=failing,
        fix_command=fix_command,
        edits_known=failures_to_fix(report),
        **_shared_values(report),
    )


def _numbers(report: Report) -> JsonObject:
    """The values for the template about checks and latencies of kernels."""
    devices = checks_by_device(report) if report.was_run else ()
    return {
        "checked": devices,
        "checks_legend": checks_legend(devices) if devices else {},
        "check_text": check_text,
        "reasons": reasons(report) if devices else (),
        "latencies": latencies(report) if report.was_run else (),
    }


def _shared_values(report: Report) -> JsonObject:
    """The values that both templates show."""
    envs = sorted(report.envs, key=lambda built: (release_of(built).order, natural(built.env.name)))
    pairs = list(section(report.pairs, report.toolchains, {}, _meanings())) if report.pairs else []
    return {
        "report": report,
        "headline": prose_with_bold(headline(report)),
        "envs": envs,
        "version": report.version,
        "pairs": pairs,
    }


def _meanings() -> dict[str, str]:
    """Failure class of a pair → its meaning."""
    pairings = [
        toolchain.device.pairing for toolchain in toolchains.every() if toolchain.device.pairing
    ]
    return {name: meaning for pairing in pairings for name, meaning in pairing.classes.items()}


def step_summary(report: Report, used_bytes: int) -> str:
    """The report for the summary of a step on GitHub, which may have :data:`SUMMARY_LIMIT` bytes.

    ``used_bytes`` of these are used already. A longer report keeps its first sections, and a note
    says how many are left out.
    """
    room = SUMMARY_LIMIT - used_bytes - _ROOM
    parts = re.split(r"\n(?=##+ )", matrix_markdown(report))
    sizes = accumulate(len(part.encode()) + 1 for part in parts)
    sections = [part for part, size in zip(parts, sizes, strict=True) if size <= room]
    if len(sections) < len(parts) and room > 0:
        left_out = amount(len(parts) - len(sections), "section")
        sections.append(f"\n{left_out} did not fit here. The report has them.\n")
    return "\n".join(sections)


def headline(report: Report) -> str:
    """The summary sentence."""
    shards = f"**{shards_text(report).capitalize()}.** " if report.shards else ""
    if not report.results:
        return shards + (pairs_sentence(report.pairs) if report.pairs else "No cell was tried.")
    variants = {(result.cell.spec.kernel, result.cell.spec.variant) for result in report.results}
    targets = sorted({result.cell.target.name for result in report.results}, key=natural)
    axes = (
        amount(len(variants), "kernel variant"),
        amount(len(targets), "target"),
        amount(len(report.releases), f"{report.toolchains} release"),
    )
    fates = join_words(
        [f"{number:,} {FATES[status][number != 1]}" for status, number in report.counts.items()]
    )
    surprises = len(report.unexpected_results)
    end = (
        f"**Unexpected: {amount(surprises, 'cell')}.**"
        if surprises
        else "Everything is as expected."
    )
    cells = (
        f"The report has {amount(len(report.results), 'cell')} ({' × '.join(axes)};"
        f" {', '.join(targets)}): {fates}."
    )
    pairs = pairs_sentence(report.pairs) if report.pairs else ""
    return shards + " ".join(filter(None, (_earlier(report), cells, end, pairs)))


def _earlier(report: Report) -> str:
    """A sentence with the number of cells from this run, if an earlier report had the others."""
    if not report.earlier:
        return ""
    share = f"{len(report.results) - report.earlier:,} of {amount(len(report.results), 'cell')}"
    return (
        f"{share} are from this run. The others are results of earlier runs, and nothing that they"
        " depend on has changed since."
    )


FATES = {
    Status.OK: ("compiles", "compile"),
    Status.REJECTED: ("is rejected", "are rejected"),
    Status.CRASHED: ("crashes the compiler", "crash the compiler"),
    Status.TIMED_OUT: ("times out", "time out"),
    Status.OUT_OF_MEMORY: ("runs out of memory", "run out of memory"),
    Status.UNSUPPORTED: ("has an unsupported target", "have an unsupported target"),
    Status.WRONG: ("computes wrong numbers", "compute wrong numbers"),
    Status.UNSTABLE: (
        "computes different numbers at each launch",
        "compute different numbers at each launch",
    ),
    Status.FAULTED: ("faults when launched", "fault when launched"),
    Status.LAUNCH_REFUSED: ("is not launched", "are not launched"),
    Status.ENV_BROKEN: ("could not be tried", "could not be tried"),
    Status.SOURCE_BROKEN: ("could not be loaded", "could not be loaded"),
    Status.LOST: ("gave no answer", "gave no answer"),
}
"""The verb of a status for one cell, and for several."""


def mark(one: Mark) -> str:
    """A mark in the grid, linked to its failure."""
    text = escape(one.text) if one.word != "-" else ""
    text = f"**{text}**" if one.unexpected else text
    return f"{text} [{one.failure}]" if one.failure else text


def anchor(distinct: DistinctFailure) -> str:
    """The anchor a code forge gives to the failure's heading."""
    heading = f"{distinct.id}-{distinct.failure.failure_class}".lower().replace(" ", "-")
    return "".join(character for character in heading if character.isalnum() or character in "-_")


def per_target(distinct: DistinctFailure) -> tuple[tuple[str, str], ...]:
    """The message for each target; empty if all targets have the same."""
    lines = excerpts(distinct.example, distinct.results)
    return lines if len(lines) > 1 else ()


def reproduce(distinct: DistinctFailure, report: Report) -> str:
    """The commands that show this failure again."""
    cell = distinct.example.cell
    again = matrix_command(cell, (*report.options, *report.limits))
    return f"{again}\n{explain_command(cell, report.options)}"


def subject(row: GridRow) -> str:
    """The variant, with the cases of the row unless it is about all cases."""
    return table_code(row.variant) + (
        f" ({', '.join(map(escape, name_first(row.cases, NAMED_CASES)))})" if row.cases else ""
    )


def beside(built: BuiltEnv) -> str:
    """The versions of the packages in :data:`BESIDE`."""
    return ", ".join(f"{name} {version}" for name in BESIDE if (version := built.version_of(name)))


def faces(results: tuple[Result, ...]) -> str:
    """Statuses among ``results``, with numbers."""
    statuses = [result.outcome.status for result in results]
    return join_words(
        [f"{status} ({statuses.count(status):,})" for status in sorted(set(statuses))]
    )


# --- a report too large to read row by row --------------------------------------------------------
#
# It has counts per kernel, each failure in a line, and the unexpected cells.


MANY = 100_000
"""The number of cells from which on a report is folded, however small it would be."""
LARGE = 1_000_000
"""Bytes of Markdown above which a report is folded. Code forges do not show a larger file."""
_KERNELS = 2_000
_LINES = 300
"""Lines of a list; with :data:`_KERNELS` and :data:`_WIDTH` they keep a folded report below
:data:`LARGE`.
"""
_WIDTH = 120
"""Characters of quoted text in a line."""
_FEW = 5


@frozen(kw_only=True)
class KernelCounts:
    """The counts of a kernel's cells."""

    kernel: str
    cells: int
    good: int
    bad: tuple[tuple[str, int], ...]
    """The marks of cells that are not ok, as in the grid, with the number of cells."""
    unexpected: int
    failures: tuple[str, ...]
    """The ids of the failures that most cells have; at most a few."""

    @property
    def counts_in_words(self) -> str:
        """The counts of cells that are not ok, in words."""
        return join_words([f"{number:,} {word}" for word, number in self.bad])


def last_line(text: str) -> str:
    """The last line of a text, which is the most informative, cut to :data:`_WIDTH` characters."""
    return short("\n".join(reversed(text.splitlines())))


def kernels_of(distinct: DistinctFailure) -> int:
    """The number of kernels with a failure."""
    return len({result.cell.spec.kernel for result in distinct.results})


def short(text: str) -> str:
    """The first line of a text that is not empty, cut to :data:`_WIDTH` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return shorten(line, _WIDTH)


def _kernels(report: Report) -> list[KernelCounts]:
    statuses: dict[str, Counter[Status]] = defaultdict(Counter)
    failures: dict[str, Counter[str]] = defaultdict(Counter)
    unexpected: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for result in report.ordered_results:
        kernel, outcome = result.cell.spec.kernel, result.outcome
        statuses[kernel][outcome.status] += 1
        unexpected[kernel] += not result.expected
        if outcome.failure:
            predicted[kernel] += outcome.failure.prediction and outcome.status is Status.OK
            failures[kernel][report.failure_ids.get(outcome.failure.fingerprint, "")] += 1
    return [
        _counts(kernel, counts, predicted[kernel], unexpected[kernel], failures[kernel])
        for kernel, counts in statuses.items()
    ]


def _counts(
    kernel: str, statuses: Counter[Status], predicted: int, unexpected: int, failures: Counter[str]
) -> KernelCounts:
    bad = [
        (MARKS[status], statuses[status])
        for status in Status
        if statuses[status] and status is not Status.OK
    ]
    return KernelCounts(
        kernel=kernel,
        cells=statuses.total(),
        good=statuses[Status.OK] - predicted,
        bad=(*([("pred", predicted)] if predicted else []), *bad),
        unexpected=unexpected,
        failures=tuple(name for name, _ in failures.most_common(_FEW) if name),
    )
