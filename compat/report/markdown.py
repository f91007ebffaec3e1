"""The report for a code forge: ``reports/matrix.md``."""

from __future__ import annotations

import re
from itertools import accumulate, groupby

from jinja2 import Environment, PackageLoader, StrictUndefined

from compat import toolchains
from compat.history.verdict import release_of
from compat.model import BuiltEnv, Result, Status
from compat.report.bare import bare
from compat.report.checks import check_words, checked, latencies, reasons
from compat.report.checks import legend as checks_legend
from compat.report.compact import counted, listed, natural
from compat.report.excerpts import excerpts
from compat.report.fix import fix_command
from compat.report.folded import LARGE, MANY, folded, kernels_of, last_line, short
from compat.report.grid import LEGEND, Mark, Row, grids, legend_of
from compat.report.guesses import decided_by_hints, guesses
from compat.report.pairs.markdown import section
from compat.report.pairs.notes import pairs_sentence
from compat.report.repeat import explain_command, matrix_command
from compat.report.shards import part
from compat.report.stand_ins import stand_ins
from compat.report.statements import statements
from compat.report.summary import DistinctFailure, Report
from compat.report.versions import LibraryVersion, failing, library_versions

EVIDENCE_LINES = 12
"""Lines of an excerpt shown; the JSON has all of them."""

SUMMARY_LIMIT = 1024 * 1024
"""Bytes that the summary of a step may have on GitHub, which shows none of a longer one."""
_ROOM = 200
"""Bytes for the sentence that says what is left out."""

BESIDE = ("numpy", "setuptools")
"""Packages that decide what a Triton can do although they are not part of it: worth a column."""


def matrix_markdown(report: Report) -> str:
    """The report as Markdown, folded where it is large. Only its last line depends on when and how fast it was made."""
    text = _in_full(report) if len(report.results) < MANY else ""
    return text if text and len(text.encode()) <= LARGE else _folded(report)


def _folded(report: Report) -> str:
    """The counts of a large one."""
    found = folded(report, len(statements(report)))
    words = {word for each in found.kernels for word, _ in each.bad}
    return _tidied(
        _environment()
        .get_template("folded.md.j2")
        .render(
            report=report,
            headline=headline(report),
            folded=found,
            legend={word: meaning for word, meaning in LEGEND.items() if word in words | {"ok"}},
            envs=_envs(report),
            version=report.version,
            pairs=list(section(report.pairs, report.toolchains, {}, _meanings())),
        )
    )


def _in_full(report: Report) -> str:
    """All of it."""
    return _tidied(
        _environment()
        .get_template("matrix.md.j2")
        .render(
            report=report,
            headline=headline(report),
            statements=statements(report),
            grids=(found := grids(report)),
            legend=legend_of(found),
            checked=(ran := checked(report)),
            checks_legend=checks_legend(ran),
            check_words=check_words,
            reasons=reasons(report),
            latencies=latencies(report),
            guesses=guesses(result.cell.spec for result in report.ordered),
            decided_by_hints=decided_by_hints(report.ordered),
            bare=bare(result.cell.spec for result in report.ordered),
            stand_ins=stand_ins(report.ordered),
            libraries=libraries(report),
            failing=failing,
            envs=_envs(report),
            version=report.version,
            edits_known=edits_known,
            fix_command=fix_command,
            pairs=list(section(report.pairs, report.toolchains, {}, _meanings())),
        )
    )


def _tidied(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _envs(report: Report) -> list[BuiltEnv]:
    return sorted(report.envs, key=lambda built: (release_of(built).order, natural(built.env.name)))


def _meanings() -> dict[str, str]:
    """What the ways mean in which a pair can fail."""
    known = [each.pairing for each in toolchains.every() if each.pairing]
    return {name: meaning for pairing in known for name, meaning in pairing.classes.items()}


def step_summary(report: Report, said: int) -> str:
    """The same for the summary of a step on GitHub, which takes :data:`SUMMARY_LIMIT` bytes, ``said`` of them said already.

    Of a longer one there are the first parts, and which are left out is said.
    """
    room = SUMMARY_LIMIT - said - _ROOM
    parts = re.split(r"\n(?=##+ )", matrix_markdown(report))
    sizes = accumulate(len(part.encode()) + 1 for part in parts)
    kept = [part for part, size in zip(parts, sizes, strict=True) if size <= room]
    if len(kept) < len(parts) and room > 0:
        left_out = counted(len(parts) - len(kept), "section")
        kept.append(f"\n{left_out} left out, for which there is no room here; the report has them.\n")
    return "\n".join(kept)


def headline(report: Report) -> str:
    """The summary sentence."""
    shards = f"**{part(report).capitalize()}.** " if report.shards else ""
    if not report.results:
        return shards + (pairs_sentence(report.pairs) if report.pairs else "No cell was tried.")
    variants = {(result.cell.spec.kernel, result.cell.spec.variant) for result in report.results}
    targets = sorted({result.cell.target.name for result in report.results}, key=natural)
    axes = (
        counted(len(variants), "kernel variant"),
        counted(len(targets), "target"),
        counted(len(report.releases), f"{report.toolchains} release"),
    )
    fates = listed([f"{number:,} {FATES[status][number != 1]}" for status, number in report.counts.items()])
    surprises = len(report.unexpected)
    end = f"**Unexpected: {counted(surprises, 'cell')}.**" if surprises else "Everything is as expected."
    cells = f"Of {counted(len(report.results), 'cell')} ({' × '.join(axes)}; {', '.join(targets)}), {fates}."
    pairs = pairs_sentence(report.pairs) if report.pairs else ""
    return shards + " ".join(filter(None, (_earlier(report), cells, end, pairs)))


def _earlier(report: Report) -> str:
    """How many cells are of the run, where a report before had some of them."""
    if not report.earlier:
        return ""
    tried = f"{len(report.results) - report.earlier:,} of {counted(len(report.results), 'cell')}"
    return f"{tried} are of this run; the others are as earlier runs found them, and nothing that they depend on has changed."


FATES = {
    Status.OK: ("compiles", "compile"),
    Status.REJECTED: ("is rejected", "are rejected"),
    Status.CRASHED: ("crashes the compiler", "crash the compiler"),
    Status.TIMED_OUT: ("times out", "time out"),
    Status.OUT_OF_MEMORY: ("runs out of memory", "run out of memory"),
    Status.UNSUPPORTED: ("has an unsupported target", "have an unsupported target"),
    Status.WRONG: ("computes wrong numbers", "compute wrong numbers"),
    Status.UNSTABLE: ("computes different numbers at each launch", "compute different numbers at each launch"),
    Status.FAULTED: ("faults when launched", "fault when launched"),
    Status.LAUNCH_REFUSED: ("is not launched", "are not launched"),
    Status.ENV_BROKEN: ("could not be tried", "could not be tried"),
    Status.SOURCE_BROKEN: ("could not be imported", "could not be imported"),
    Status.LOST: ("gave no answer", "gave no answer"),
}
"""What one cell, or several, of a status did."""


def libraries(report: Report) -> tuple[tuple[str, tuple[LibraryVersion, ...], tuple[str, ...]], ...]:
    """Libraries by name, with their versions and the releases that any of these was tried on."""
    found = [(name, tuple(versions)) for name, versions in groupby(library_versions(report), key=lambda each: each.name)]
    labels = [release.label for release in report.releases]
    return tuple(
        (name, versions, tuple(label for label in labels if any(label in each.releases for each in versions)))
        for name, versions in found
    )


# --- filters -------------------------------------------------------------------------------------------------------------


def escape(text: str) -> str:
    """``text`` as literal text, safe in a table cell. Underscores inside of words mean nothing to Markdown and stay as they are."""
    return _literal(" ".join(text.split()))


def prose(text: str) -> str:
    """An author's sentences: code between backticks stays code, all else is literal."""
    parts = re.split(r"(`[^`\n]+`)", " ".join(text.split()))
    return "".join(part if number % 2 else _literal(part) for number, part in enumerate(parts))


def _literal(text: str) -> str:
    return re.sub(r"[\\`*\[\]<>|~&]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def code(text: str) -> str:
    """``text`` as a code span, safe in a table cell whatever backticks and pipes it has."""
    flat = " ".join(text.split()).replace("|", r"\|")
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}" if flat else ""


def fence(text: str, language: str = "text") -> str:
    """``text`` as a fenced block, cut in its middle to :data:`EVIDENCE_LINES`."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if len(lines) > EVIDENCE_LINES:
        half = EVIDENCE_LINES // 2
        lines = [*lines[:half], f"… ({len(lines) - 2 * half} lines left out)", *lines[-half:]]
    body = "\n".join(lines)
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    return f"{ticks}{language}\n{body}\n{ticks}"


def mark(one: Mark) -> str:
    """A mark in the grid, linked to its failure."""
    text = escape(one.text) if one.word not in ("-",) else ""
    text = f"**{text}**" if one.unexpected else text
    return f"{text} [{one.failure}]" if one.failure else text


def edits_known(report: Report) -> str:
    """Of how many failures the class has a known edit, which is not to say that one helps."""
    known = f"For the class of {report.edits_known} of {len(report.failures)} an edit is known"
    return f"{known}; `compat fix CELL` finds out whether it helps."


def anchor(distinct: DistinctFailure) -> str:
    """The anchor a code forge gives to the failure's heading."""
    return f"{distinct.id}-{distinct.failure.failure_class}".lower()


def per_target(distinct: DistinctFailure) -> tuple[tuple[str, str], ...]:
    """What each target says, where not all say the same."""
    found = excerpts(distinct.example, distinct.results)
    return found if len(found) > 1 else ()


def reproduce(distinct: DistinctFailure, report: Report) -> str:
    """The commands that show this failure again."""
    cell = distinct.example.cell
    again = matrix_command(cell, (*report.options, *report.limits))
    return f"{again}\n{explain_command(cell, report.options)}"


def subject(row: Row) -> str:
    """The variant, with the cases it speaks of where it does not speak of all."""
    return code(row.variant) + (f" ({', '.join(map(escape, row.cases))})" if row.cases else "")


def beside(built: BuiltEnv) -> str:
    """The versions of the packages worth a column."""
    return ", ".join(f"{name} {version}" for name in BESIDE if (version := built.version_of(name)))


def faces(results: tuple[Result, ...]) -> str:
    """Statuses among ``results``, with numbers."""
    statuses = [result.outcome.status for result in results]
    return listed([f"{status} ({statuses.count(status):,})" for status in sorted(set(statuses))])


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("compat.report"),
        autoescape=False,  # it is Markdown, escaped by the filters above
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {f.__name__: f for f in (escape, prose, code, fence, mark, anchor, subject, beside, faces)}
    environment.filters |= {"reproduce": reproduce, "per_target": per_target}
    environment.filters |= {"counted": counted, "short": short, "last": last_line, "kernels": kernels_of}
    return environment
