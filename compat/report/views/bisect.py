"""The answers of a bisection: as text, as Markdown and as data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import attrs
from attrs import field, frozen

from compat import __version__, toolchains
from compat.bisect.answers import (
    CellAnswer,
    ConfigAnswer,
    GrowthAnswer,
    Part,
    PassAnswer,
    ReleaseAnswer,
    ReleaseProbe,
    Transition,
    group_alike,
)
from compat.bisect.criterion import check_text, result_text
from compat.bisect.judging import CheckAnswer
from compat.bisect.request import Axis
from compat.history.account import Judgement, Word, class_of
from compat.history.verdict import release_of
from compat.model import Failure, Result, Status
from compat.model.codec import record_of, schema_of, unstructure
from compat.model.fields import KEY, Text
from compat.model.outcome import RELEASE, cell_document, with_names
from compat.report.document import BracketRecord, bracket_record
from compat.report.render.blocks import (
    Block,
    DataTable,
    Heading,
    Inline,
    StyledText,
    TableColumn,
    TextLine,
)
from compat.report.render.markdown import code, escape, fence, render_template
from compat.report.summary.compact import one_line, place_text, rectangles
from compat.report.views.bisect_sentences import (
    all_spans,
    commits_advice,
    commits_command,
    compare_url,
    headline,
    number_of,
    remarks,
    repeat_command,
    repeat_inside,
    value_of,
)
from compat.report.views.growth import growth_document, growth_lines
from compat.text import JsonObject, amount, printable

if TYPE_CHECKING:
    from compat.bisect.bisecting import Bisection


@frozen(kw_only=True)
class BisectReport:
    """A bisection along releases, with the facts to report about its command."""

    bisection: Bisection
    command: str
    """The command line of the bisection."""
    options: tuple[str, ...] = ()
    """Options that a command for one of the kernels needs besides its name: ``--spec``,
    ``--judge``.
    """
    ends: tuple[str, ...] = ()
    """Options for the requested range, if no bracket gives a better one."""


def subject_of(answers: Sequence[ReleaseAnswer]) -> str:
    """The subject of alike answers: ``kernel/variant (case, target)``.

    Of many cases or targets, it has the number.
    """
    spec = answers[0].spec
    places = rectangles((answer.spec.case, answer.target.name) for answer in answers)
    text = "; ".join(
        f"{_few(cases, 'cases')} × {_few(targets, 'targets')}" for cases, targets in places
    )
    if len(answers) == 1:
        text = text.replace(" × ", ", ")
    return f"{spec.kernel}/{spec.variant} ({text})"


def _few(names: Sequence[str], noun: str) -> str:
    return ", ".join(names) if len(names) <= 2 else f"{len(names)} {noun}"


# --- as JSON --------------------------------------------------------------------------------------


SCHEMA: Literal[2] = 2
"""The version of the format. Within a version, keys may be added, but no key is removed or changes
its meaning.
"""


_Texts = tuple[Text, ...]


_Change = Literal["ok→failed", "failed→ok", "good→bad", "bad→good", "failure changed"]


@frozen(kw_only=True)
class TransitionRecord:
    """A change between two neighbouring releases that were tested."""

    from_: Text = field(metadata={KEY: "from"})
    to: Text
    change: _Change
    failure_class: str | None = field(metadata={KEY: "class"})
    fingerprint: str | None
    untested: _Texts


@frozen(kw_only=True)
class ProbeRecord:
    """The outcome of a cell on one release."""

    release: Text = field(metadata={KEY: RELEASE})
    released: str | None
    """The day of its publication, ``2026-07-08``; ``None`` if the env does not say."""
    env: Text
    status: Status
    failure_class: str | None = field(metadata={KEY: "class"})
    fingerprint: str | None
    judgement: Judgement
    flaky: bool
    value: float | None
    ran: str | None
    cached: bool
    remembered: bool


@frozen(kw_only=True)
class SpanRecord:
    """Releases that were not tested and are assumed to be like their neighbours."""

    from_: Text = field(metadata={KEY: "from"})
    to: Text


@frozen(kw_only=True)
class AnswerRecord:
    """The answer for one kernel variant, case and target."""

    schema: Literal[2] = SCHEMA
    kernel: Text
    variant: Text
    case: Text
    target: Text
    judge: Text
    answer: Word
    verdict: Text
    release: str | None
    sentence: Text
    remarks: _Texts
    needs: str | None
    bracket: BracketRecord | None
    since: BracketRecord | None
    transitions: tuple[TransitionRecord, ...]
    part: Part | None
    probes: tuple[ProbeRecord, ...]
    searched: _Texts
    assumed: tuple[SpanRecord, ...]
    not_tried: _Texts
    flaky: _Texts
    compare: str | None
    command: Text


def schema() -> JsonObject:
    """The JSON Schema (draft 2020-12) that every array of answers follows."""
    return schema_of(tuple[AnswerRecord, ...], f"triton-compat bisect, schema {SCHEMA}")


def bisect_document(report: BisectReport) -> list[JsonObject]:
    """One object per kernel variant, case and target."""
    return [_answer_document(answer, report) for answer in report.bisection.releases]


def _answer_document(answer: ReleaseAnswer, report: BisectReport) -> JsonObject:
    account, bracket = answer.account, answer.bracket
    record = record_of(
        AnswerRecord,
        answer.spec,
        answer,
        account,
        target=answer.target.name,
        judge=answer.criterion.text,
        answer=account.word,
        verdict=account.phrase,
        sentence=headline(answer),
        remarks=tuple(remarks(answer, fixed=report.bisection.fixed)),
        bracket=bracket_record(bracket.bracket) if bracket else None,
        since=bracket_record(account.since),
        transitions=tuple(_transition(change, answer) for change in answer.transitions),
        probes=(),
        assumed=tuple(SpanRecord(from_=first, to=last) for first, last in answer.assumed),
        compare=compare_url(bracket) if bracket else None,
        command=repeat_command(answer, report.options, report.ends),
    )
    probes = [
        _probe_document(probe, result, answer)
        for probe in answer.probes
        for result in probe.results
    ]
    return {**unstructure(record), "probes": probes}


def _transition(change: Transition, answer: ReleaseAnswer) -> TransitionRecord:
    return TransitionRecord(
        from_=change.before.release,
        to=change.after.release,
        change=_change(change, answer),
        failure_class=change.failure.failure_class if change.failure else None,
        fingerprint=change.failure.fingerprint if change.failure else None,
        untested=tuple(change.untested),
    )


def _change(change: Transition, answer: ReleaseAnswer) -> _Change:
    if not change.crosses:
        return "failure changed"
    if answer.criterion.asks_ok:
        return "failed→ok" if change.is_fix else "ok→failed"
    return "bad→good" if change.is_fix else "good→bad"


def _probe_document(probe: ReleaseProbe, result: Result, answer: ReleaseAnswer) -> JsonObject:
    outcome, env = result.outcome, result.cell.env
    record = record_of(
        ProbeRecord,
        probe,
        outcome.failure,
        outcome,
        result,
        env=env.name,
        released=env.released.isoformat() if env.released else None,
        value=number_of(answer, result),
        ran=check_text(check) if (check := result.numbers.decisive) else None,
        **({} if outcome.failure else {"failure_class": None, "fingerprint": None}),
    )
    return with_names(unstructure(record), env)


# --- inside a failure -----------------------------------------------------------------------------


INSIDE_SCHEMA = 1
"""The version of the format. Within a version, keys may be added, but no key is removed or changes
its meaning.
"""
_DIFF_LINES = 40
"""Lines of a diff in the output. The folder has the whole diff."""


def cell_answer_document(
    answer: CellAnswer, axis: Axis, options: tuple[str, ...] = ()
) -> JsonObject:
    """The answer as JSON values. The command that finds it again has these ``options``."""
    cell, spec = answer.cell, answer.cell.spec
    place = {
        "kernel": spec.kernel,
        "variant": spec.variant,
        "case": spec.case,
        "target": cell.target.name,
        "env": cell.env.name,
    }
    if isinstance(answer.answer, GrowthAnswer):
        facts: JsonObject | None = growth_document(answer.answer)
    else:
        facts = (
            {key.rstrip("_"): value for key, value in attrs.asdict(answer.answer).items()}
            if answer.answer
            else None
        )
    return {
        "schema": INSIDE_SCHEMA,
        "axis": str(axis),
        **place,
        "answer": facts,
        "command": repeat_inside(answer, axis, options),
    }


def cell_answer_lines(
    answer: CellAnswer, axis: Axis, options: tuple[str, ...] = ()
) -> Iterator[str]:
    """The answer line by line, the first one beginning with the cell's id.

    The command that finds the answer again has these ``options``.
    """
    if answer.answer is None:
        yield (
            f"{answer.cell.id}: it works on this release, so there is nothing to find; name a bad"
            " release with --bad RELEASE."
        )
        return
    yield f"{answer.cell.id}: {printable(answer.answer.sentence)}"
    yield from (f"  {printable(line)}" for line in _details(answer.answer))
    yield f"  again: {repeat_inside(answer, axis, options)}"


def cell_answers_markdown(
    answers: Sequence[CellAnswer], axis: Axis, options: tuple[str, ...] = ()
) -> str:
    """The answers for an issue tracker: a section for each, with its lines in a code block."""
    sections = []
    for answer in answers:
        first, *details = cell_answer_lines(answer, axis, options)
        sentence = escape(first.removeprefix(f"{answer.cell.id}: "))
        shown = fence("\n".join(line.removeprefix("  ") for line in details)) if details else ""
        sections.append(
            "\n\n".join(filter(None, (f"## {code(answer.cell.id)}: {axis}", sentence, shown)))
        )
    return "\n\n".join(sections) + "\n"


def _details(answer: Part | PassAnswer | ConfigAnswer | GrowthAnswer) -> list[str]:
    if isinstance(answer, Part):
        return list(answer.steps)
    if isinstance(answer, GrowthAnswer):
        return [line for growth in answer.growths for line in growth_lines(growth)]
    if isinstance(answer, ConfigAnswer):
        untried = (
            [f"at most {amount(answer.left_out, 'further change')} not tried"]
            if answer.left_out
            else []
        )
        return [f"{amount(answer.compiled, 'changed specialization')} compiled", *untried]
    diff = answer.diff.splitlines()
    more = [f"… {len(diff) - _DIFF_LINES} more lines"] if len(diff) > _DIFF_LINES else []
    return [
        *diff[:_DIFF_LINES],
        *more,
        *([f"IR before every pass: {answer.folder}"] if answer.folder else []),
    ]


# --- cells that were checked ----------------------------------------------------------------------


def check_answer_document(answer: CheckAnswer) -> JsonObject:
    """The common judgement, and each cell as in ``matrix.json`` with its own judgement."""
    cells = [
        {**cell_document(result), "judgement": str(judgement)}
        for result, judgement in answer.answers
    ]
    return {"judgement": str(answer.judgement), "cells": cells}


def check_answer_lines(answer: CheckAnswer) -> Iterator[str]:
    """The answer of a check: ``good: kernel/variant/case/target/env ok``.

    For a failure, its class and its most informative line follow.
    """
    for result, judgement in answer.answers:
        failure = result.outcome.failure
        why = f": {failure.failure_class}: {one_line(failure.excerpt)}" if failure else ""
        flaky = " (flaky)" if result.outcome.flaky else ""
        word = "inconclusive" if judgement is Judgement.UNKNOWN else str(judgement)
        ran = f", {result_text(result)}" if result.numbers.checks or result.latency else ""
        yield f"{word}: {result.cell.id} {result.outcome.status}{flaky}{why}{ran}"


# --- an interrupted search ------------------------------------------------------------------------


def so_far_lines(results: Iterable[Result]) -> Iterator[str]:
    """A line for each kernel, case and target with the results so far, oldest release first.

    The lines draw no conclusion.
    """
    by_subject: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        spec = result.cell.spec
        by_subject[f"{spec.kernel}/{spec.variant} ({spec.case}, {result.cell.target.name})"].append(
            result
        )
    for subject, group in by_subject.items():
        yield f"{subject}, so far: {_outcomes(group)}"


def _outcomes(results: Iterable[Result]) -> str:
    """The outcomes with each release by name, because releases between them may be untested.

    An example is ``ok on 3.0.0, 3.1.0, 3.9.0; shape-mismatch on 3.8.0``.
    """
    outcomes: dict[str, dict[str, None]] = defaultdict(dict)
    for result in sorted(results, key=lambda result: release_of(result.built).order):
        outcomes[class_of(result.outcome)][release_of(result.built).label] = None
    return "; ".join(
        f"{outcome} on {', '.join(releases)}" for outcome, releases in outcomes.items()
    )


# --- for a terminal -------------------------------------------------------------------------------


_NAMED = 6
"""Up to this number, releases that are left out for one reason are named one by one."""

STYLES = {Judgement.GOOD: "green", Judgement.BAD: "red", Judgement.UNKNOWN: "yellow"}
"""Colours only repeat the words."""


def bisect_blocks(report: BisectReport) -> Iterator[Block]:
    """A sentence for each group of equal answers.

    A single answer has the table of probes, and each of several has a line of intervals.
    """
    alike = group_alike(report.bisection.releases)
    for group in alike:
        answer = group[0]
        yield TextLine((StyledText(subject_of(group), "bold"), f": {headline(answer)}"))
        yield from (
            TextLine(remark, indent=2) for remark in remarks(answer, fixed=report.bisection.fixed)
        )
        yield from _single_answer_blocks(answer) if len(alike) == 1 else _among_others(answer)
    if len(alike) == 1:
        yield from _next_steps(alike[0][0], report)
    yield Heading(_footer(report.bisection), style="dim")


def _single_answer_blocks(answer: ReleaseAnswer) -> Iterator[Block]:
    yield TextLine()
    yield _probe_table(answer)
    for failure in _failures(answer):
        yield Heading(failure.fingerprint)
        yield TextLine(place_text(failure), indent=2)
        yield TextLine(one_line(failure.excerpt), indent=2)
        if failure.advice:
            yield TextLine(" ".join(failure.advice.split()), style="dim", indent=2)


def _among_others(answer: ReleaseAnswer) -> Iterator[Block]:
    if answer.account.word not in (Word.WORKS, Word.NEVER, Word.UNSUPPORTED):
        yield TextLine(all_spans(answer, " · "), style="dim", indent=2)


def _probe_table(answer: ReleaseAnswer) -> DataTable:
    criterion = answer.criterion
    measured = [criterion.text] if criterion.asks_metric or criterion.asks_launches else []
    dated = any(probe.release_date for probe in answer.probes)
    headings = (answer.spec.toolchain, *["released"] * dated, "status", "failure", *measured, "")
    return DataTable(
        columns=tuple(TableColumn(heading, fold=True) for heading in headings),
        rows=tuple(
            _probe_row(
                answer, probe, [_day(probe)] * dated, [value_of(answer, probe) for _ in measured]
            )
            for probe in answer.probes
        ),
        gap=2,
    )


def _day(probe: ReleaseProbe) -> str:
    return probe.release_date.isoformat() if probe.release_date else ""


def _probe_row(
    answer: ReleaseAnswer, probe: ReleaseProbe, days: Sequence[str], measured: Sequence[str]
) -> tuple[Inline, ...]:
    outcome = probe.result.outcome
    status = probe.summary if probe.envs_disagree else str(outcome.status)
    failure = outcome.failure.fingerprint if outcome.failure and not probe.envs_disagree else ""
    return (
        probe.release,
        *days,
        StyledText(status, STYLES[probe.judgement]),
        failure,
        *measured,
        StyledText(_mark(answer, probe), "bold"),
    )


def _mark(answer: ReleaseAnswer, probe: ReleaseProbe) -> str:
    """The role of a probe in the bracket."""
    change = answer.bracket
    marks = ["envs disagree" if probe.envs_disagree else "flaky"] if probe.unsteady else []
    if probe.judgement is Judgement.UNKNOWN and not marks:
        marks.append("inconclusive")
    if change is not None and probe.release == change.before.release:
        marks.append("last bad" if change.is_fix else "last good")
    if change is not None and probe.release == change.after.release:
        marks.append("first good" if change.is_fix else "first bad")
    marks += ["from an earlier run"] if probe.remembered else []
    return ", ".join(marks)


def _next_steps(answer: ReleaseAnswer, report: BisectReport) -> Iterator[Block]:
    change = answer.bracket
    if change is None:
        return
    commands = {
        "again": repeat_command(answer, report.options, report.ends),
        "commits": compare_url(change),
        "continue": commits_command(change),
    }
    text = "\n".join(f"{name:<8} {command}" for name, command in commands.items() if command)
    yield TextLine(f"\n{text}", style="dim", unbroken=True)


def _footer(bisection: Bisection) -> str:
    probes = [probe for answer in bisection.releases for probe in answer.probes]
    cached = sum(probe.result.cached for probe in probes)
    releases = amount(len({probe.release for probe in probes}), "release")
    lines = [
        f"{amount(len(probes), 'probe')} of {releases} in {bisection.seconds:.1f} s"
        f" ({cached:,} from the store)"
    ]
    left_out = [f"{reason}: {_some(versions)}" for reason, versions in bisection.left_out.items()]
    lines += [f"not in this search: {'; '.join(left_out)}"] if left_out else []
    return "\n".join((*lines, *bisection.notes))


def _some(versions: Sequence[str]) -> str:
    return (
        ", ".join(versions)
        if len(versions) <= _NAMED
        else f"{versions[0]} to {versions[-1]} ({len(versions)})"
    )


# --- for an issue tracker -------------------------------------------------------------------------


def bisect_markdown(report: BisectReport) -> str:
    """The report as Markdown, a section for each group of equal answers."""
    sections = [_section(group, report) for group in group_alike(report.bisection.releases)]
    return render_template(
        "bisect.md.j2",
        (failure_place, package_versions),
        report=report,
        sections=sections,
        version=__version__,
        value_of=value_of,
    )


def _section(group: Sequence[ReleaseAnswer], report: BisectReport) -> dict[str, object]:
    """The values of a section for the template."""
    answer, change = group[0], group[0].bracket
    sentence = headline(answer)
    return {
        "subject": subject_of(group),
        "answer": answer,
        "toolchain": toolchains.look_up(answer.spec.toolchain).title,
        "headline": sentence[:1].upper() + sentence[1:],
        "remarks": remarks(answer, fixed=report.bisection.fixed),
        "failures": _failures(answer),
        "repeat": repeat_command(answer, report.options, report.ends),
        "compare": compare_url(change) if change else None,
        "commits": commits_command(change) if change else None,
        "commits_advice": commits_advice(change) if change else None,
    }


def _failures(answer: ReleaseAnswer) -> list[Failure]:
    """Each failure once."""
    return list(
        {
            failure.fingerprint: failure
            for probe in answer.probes
            if (failure := probe.result.outcome.failure)
        }.values()
    )


def failure_place(failure: Failure) -> str:
    """Return where a failure occurs: stage, pass and operation."""
    return place_text(failure, code)


def package_versions(probe: ReleaseProbe) -> str:
    """Return the versions of Python and of the packages in a probe's environment.

    The toolchain and pip are left out.
    """
    built = probe.result.built
    versions = [f"Python {built.python_version}"] if built.python_version else []
    versions += [
        f"{p.name} {p.version}"
        for p in built.packages
        if p.name not in (toolchains.of(built.env).distribution, "pip")
    ]
    return ", ".join(versions)
