"""Answers for a terminal: a sentence first, then the table of probes, or a line of intervals each where there are many."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from attrs import frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compat.bisect.probes import Probe, ReleaseAnswer
from compat.history.account import Judgement, Word
from compat.report.bisect import BisectReport, Group, groups
from compat.report.bisect.onwards import commits_command, compare_url, repeat_command
from compat.report.bisect.sentences import all_spans, headline, remarks, value_of
from compat.report.compact import counted, one_line

_NAMED = 6
"""Releases that are left out for one reason are named one by one up to here."""

STYLES = {Judgement.GOOD: "green", Judgement.BAD: "red", Judgement.UNKNOWN: "yellow"}
"""Colours only repeat what the words say."""


@frozen(kw_only=True)
class TerminalAnswer:
    """A report that rich can print; it lays itself out for the width it is given."""

    report: BisectReport

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = groups(self.report.answers)
        for group in found:
            yield Text.assemble((group.subject, "bold"), f": {headline(group.example)}")
            yield from (Padding(Text(said), (0, 0, 0, 2)) for said in remarks(group.example, fixed=self.report.fixed))
            yield from _alone(group) if len(found) == 1 else _among_others(group)
        if len(found) == 1:
            yield from _onwards(found[0], self.report)
        yield Text(f"\n{_footer(self.report)}", style="dim")


def bisect_text(report: BisectReport, *, width: int = 100) -> str:
    """The same as plain text, ``width`` columns wide."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False, _environ={})
    console.print(TerminalAnswer(report=report), crop=False)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _alone(group: Group) -> Iterator[RenderableType]:
    answer = group.example
    yield Text()
    yield _table(answer)
    for failure in {f.fingerprint: f for p in answer.probes if (f := p.result.outcome.failure)}.values():
        yield Text(f"\n{failure.fingerprint}", style="bold")
        place = (f"stage {failure.stage}", failure.pass_ and f"pass {failure.pass_}", failure.op and f"op {failure.op}")
        yield Padding(Text(", ".join(part for part in (*place, failure.location) if part)), (0, 0, 0, 2))
        yield Padding(Text(one_line(failure.excerpt)), (0, 0, 0, 2))
        if failure.advice:
            yield Padding(Text(" ".join(failure.advice.split()), style="dim"), (0, 0, 0, 2))


def _among_others(group: Group) -> Iterator[RenderableType]:
    if group.example.account.word not in (Word.WORKS, Word.NEVER, Word.UNSUPPORTED):
        yield Padding(Text(all_spans(group.example, " · "), style="dim"), (0, 0, 0, 2))


def _table(answer: ReleaseAnswer) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    headings = [answer.spec.toolchain, "status", "failure"]
    if answer.criterion.asks_metric or answer.criterion.asks_launches:
        headings.append(answer.criterion.text)
    for heading in (*headings, ""):
        table.add_column(heading, overflow="fold")
    for probe in answer.probes:
        outcome = probe.result.outcome
        status = probe.said if probe.divided else str(outcome.status)
        row: list[RenderableType] = [probe.release, Text(status, style=STYLES[probe.judgement])]
        row.append(outcome.failure.fingerprint if outcome.failure and not probe.divided else "")
        if answer.criterion.asks_metric or answer.criterion.asks_launches:
            row.append(value_of(answer, probe))
        table.add_row(*row, Text(_mark(answer, probe), style="bold"))
    return table


def _mark(answer: ReleaseAnswer, probe: Probe) -> str:
    """The role of a probe in the bracket."""
    change = answer.bracket
    marks = ["envs disagree" if probe.divided else "flaky"] if probe.unsteady else []
    if probe.judgement is Judgement.UNKNOWN and not marks:
        marks.append("inconclusive")
    if change is not None and probe.release == change.before.release:
        marks.append("last bad" if change.is_fix else "last good")
    if change is not None and probe.release == change.after.release:
        marks.append("first good" if change.is_fix else "first bad")
    marks += ["from an earlier run"] if probe.remembered else []
    return ", ".join(marks)


def _onwards(group: Group, report: BisectReport) -> Iterator[RenderableType]:
    change = group.example.bracket
    if change is None:
        return
    # Never broken into lines, so that they can be copied.
    lines = {
        "again": repeat_command(group.example, report.options, report.ends),
        "commits": compare_url(change),
        "go on": commits_command(change),
    }
    said = "\n".join(f"{name:<8} {line}" for name, line in lines.items() if line)
    yield Text(f"\n{said}", style="dim", no_wrap=True, overflow="ignore")


def _footer(report: BisectReport) -> str:
    probes = [probe for answer in report.answers for probe in answer.probes]
    cached = sum(probe.result.cached for probe in probes)
    releases = {probe.release for probe in probes}
    lines = [
        f"{counted(len(probes), 'probe')} of {counted(len(releases), 'release')} in {report.seconds:.1f} s "
        f"({cached:,} from the store)"
    ]
    left = [f"{reason}: {_some(versions)}" for reason, versions in report.left_out.items()]
    lines += [f"left out: {'; '.join(left)}"] if left else []
    return "\n".join((*lines, *report.notes))


def _some(versions: Sequence[str]) -> str:
    return ", ".join(versions) if len(versions) <= _NAMED else f"{versions[0]} to {versions[-1]} ({len(versions)})"
