"""All known facts about one cell, as text and as data."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from compat import toolchains
from compat.explain import Artifact, CellOverview, Explanation
from compat.history.growth import roughly
from compat.model import (
    BuiltEnv,
    Cell,
    Evidence,
    Result,
    Specialization,
    Status,
    arguments,
    constexprs,
)
from compat.model.cell import signature_text
from compat.model.outcome import cell_document
from compat.report.document import verdict_document
from compat.report.summary.compact import cell_options, fix_command, in_full
from compat.report.summary.record import edits_for, expectation_words
from compat.report.summary.statements import NO_HINTS, excerpts, has_no_hints
from compat.text import JsonObject, printable

GUESSED = (
    "the arguments are guessed, and may be the reason for a failure; `compat init` writes them into"
    " a kernel file, where you can edit them"
)


def explanation_lines(explanation: Explanation | CellOverview) -> Iterator[str]:
    """The explanation as lines that are safe to print, the cell's id first.

    For several cells, there is one line per cell.
    """
    yield from map(
        printable,
        _lines(explanation)
        if isinstance(explanation, Explanation)
        else _overview_lines(explanation),
    )


_VERBATIM = frozenset({"evidence", "traceback", "try an edit", "again", "compile it"})
"""The sections with code and commands, whose lines are never broken."""
_INDENT = "  "
"""The indent of a section."""


def wrap_lines(lines: Iterable[str], width: int) -> Iterator[str]:
    """The lines of an explanation with line breaks between words where ``width`` needs them.

    The rest of a broken line is indented by two more spaces.
    """
    section = ""
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        if len(indent) == len(_INDENT) and line.endswith(":"):
            section = line.strip(" :")
        if len(line) <= width or section in _VERBATIM:
            yield line
        else:
            yield from textwrap.wrap(
                line,
                width,
                subsequent_indent=f"{indent}  ",
                break_long_words=False,
                break_on_hyphens=False,
            )


def _overview_lines(overview: CellOverview) -> Iterator[str]:
    """The result of each cell, and then each failure once, with its message for each target."""
    yield (
        f"{len(overview.results):,} of the {overview.matching:,} cells that match"
        f" {overview.pattern!r} have run; the newest release is first"
    )
    failing: dict[str, list[Result]] = {}
    for result in overview.results:
        outcome, failure = result.outcome, result.outcome.failure
        texts = [str(outcome.status), *(["flaky"] if outcome.flaky else [])]
        texts += [
            f"numbers {check.status}"
            for check in result.numbers.checks
            if check.status is not Status.OK
        ]
        texts += [] if result.expected else ["UNEXPECTED"]
        yield (
            f"  {result.cell.id}:"
            f" {', '.join([*texts, *([failure.fingerprint] if failure else [])])}"
        )
        if failure:
            failing.setdefault(failure.fingerprint, []).append(result)
    for fingerprint, results in failing.items():
        yield from _section(
            fingerprint, (f"{targets}{line}" for targets, line in excerpts(results[0], results))
        )


def _lines(explanation: Explanation) -> Iterator[str]:
    yield explanation.cell.id
    if explanation.result is None:
        yield "  not compiled yet, or something it depends on has changed since"
    else:
        yield from _outcome(explanation.result, explanation)
        if explanation.result.outcome.status is Status.SOURCE_BROKEN:
            yield from _section("traceback", _traceback(explanation.attempts))
    yield from _section(
        "history, from all runs", in_full(explanation.verdict) if explanation.verdict else ()
    )
    yield from _section("attempts", _attempt_lines(explanation.attempts))
    yield from _section("specialization", _specialization(explanation.cell))
    yield from _section("env", _env(explanation.built))
    yield from _section(
        "compile it" if explanation.result is None else "again", [_command(explanation)]
    )


def _outcome(result: Result, explanation: Explanation) -> Iterator[str]:
    outcome, failure = result.outcome, result.outcome.failure
    yield (
        f"  {outcome.status}{' (flaky)' if outcome.flaky else ''},"
        f" {'as expected' if result.expected else 'UNEXPECTED'}"
    )
    if result.expectation:
        declared = result.expectation
        where = f"for releases {declared.releases}" if declared.releases else "for all releases"
        yield f"  declared: {expectation_words(declared)} {where}: {declared.reason}"
    if failure:
        failure_class = toolchains.known_class(failure)
        facts = {
            "class": f"{failure.failure_class} ({failure_class.title})",
            "stage": failure.stage,
            "pass": failure.pass_,
            "op": failure.op,
            "at": failure.location,
            "fingerprint": failure.fingerprint,
            "reproducer": explanation.reproducer and place_of(explanation.reproducer),
            "IR before the pass": explanation.ir and place_of(explanation.ir),
            "all output": explanation.output and place_of(explanation.output),
        }
        yield from _section(
            "failure", (f"{name}: {value}" for name, value in facts.items() if value)
        )
        yield from _section("evidence", failure.excerpt.splitlines())
        yield from _section("advice", failure.advice.splitlines())
        if edits_for(result):
            yield from _section("try an edit", [fix_command(result.cell, explanation.options)])
    if explanation.slowness:
        yield from _section("time", _time(result, explanation))
    yield from _section(
        "slow-suspect", [explanation.slow_suspect] if explanation.slow_suspect else ()
    )
    yield from _section("numbers", _numbers(result))
    yield from _section(
        "warnings", (f"{noticed.type}: {noticed.message}" for noticed in outcome.warnings)
    )
    if stood_in := outcome.stood_in:
        yield from _section("imported with stand-ins for", stood_in.packages)
        yield from _section("values that the stand-ins supplied", stood_in.answers)
        needed = outcome.status is Status.SOURCE_BROKEN
        why = "failed and left out" if needed else "left out because the kernel does not need it"
        yield from _section(why, stood_in.skipped)
    yield from _section(
        "CPU seconds", (f"{stage:<8} {seconds:.3f}" for stage, seconds in outcome.stages.items())
    )
    yield from _section(
        "metrics", (f"{name}: {_value(value)}" for name, value in outcome.metrics.items())
    )


def _time(result: Result, explanation: Explanation) -> Iterator[str]:
    """Whether the compile is slow or stuck, and, if it was stopped, a command that analyses it."""
    yield str(explanation.slowness)
    if result.outcome.status is Status.TIMED_OUT and not str(explanation.slowness).startswith(
        "slow, not"
    ):
        yield (
            "to find what its time grows with:"
            f" {growth_command(explanation.cell, explanation.options)}"
        )


def growth_command(cell: Cell, options: Sequence[str]) -> str:
    """The command that measures what the time of a compile grows with."""
    return shlex.join(("compat", "bisect", "--axis", "config", *cell_options(cell), *options))


def _numbers(result: Result) -> Iterator[str]:
    """The results of the checks of its numbers."""
    for check in result.numbers.checks:
        ran = f"on {check.device}" if check.device else "in the interpreter, on the CPU"
        errors = {"absolute": check.max_abs, "relative": check.max_rel}
        details = [
            f"largest {name} error {value:.3g}"
            for name, value in errors.items()
            if value is not None
        ]
        details += [f"at {check.where}"] if check.where else []
        yield f"{ran}: {', '.join([str(check.status), *details])}"
        if check.reason:
            yield f"  {check.reason}"


def _traceback(attempts: tuple[Evidence, ...]) -> Iterator[str]:
    """The failure of an import: the frames of each exception of the chain, and its message."""
    raised = next((evidence.raised for evidence in reversed(attempts) if evidence.raised), ())
    for link in reversed(raised):
        yield from link.traceback.splitlines()
        yield f"{link.type}: {link.message}"


def place_of(artifact: Artifact) -> str:
    """The path of an artifact, with a note if it was deleted."""
    if artifact.there:
        return str(artifact.path)
    return f"{artifact.path} (deleted; `compat matrix --again` makes it again)"


def _attempt_lines(attempts: tuple[Evidence, ...]) -> Iterator[str]:
    for number, evidence in enumerate(attempts, 1):
        how = "alone, diagnostics on" if evidence.alone else "in a batch"
        ending = next(
            (
                text
                for text, true in (
                    ("built", evidence.complete),
                    (
                        f"stopped after {roughly(evidence.deadline or 0.0)}",
                        evidence.deadline is not None,
                    ),
                    (f"stopped at {evidence.memory} bytes", evidence.memory is not None),
                    (f"ended by {evidence.signal}", evidence.signal is not None),
                    ("ended with an exception", evidence.answered),
                )
                if true
            ),
            f"no answer, exit code {evidence.exit_code}",
        )
        yield f"{number}. {how}: {ending} in stage {evidence.stage}, {evidence.seconds:.2f} s"
        yield from (f"   worker: {note}" for note in evidence.protocol)


def _specialization(cell: Cell) -> Iterator[str]:
    spec = cell.spec
    yield (
        f"{spec.function} in {spec.source} ({'guessed from' if spec.guessed else 'declared in'}"
        f" {spec.origin})"
    )
    if spec.summary:
        yield f"summary: {' '.join(spec.summary.split())}"
    if spec.guessed:
        yield GUESSED
    if spec.compile.launch:
        yield f"launch: {arguments.launch_arguments_text(spec.compile.launch)}"
    else:
        yield from _signature(spec)
    values = (
        f"{name}={constexprs.constexpr_text(value)}"
        for name, value in spec.compile.constexprs.items()
    )
    yield f"constexprs: {', '.join(values) or 'none'}"
    yield (
        "options:"
        f" {', '.join(f'{name}={value}' for name, value in spec.compile.options.items()) or 'none'}"
    )


def _signature(spec: Specialization) -> Iterator[str]:
    """The types of the arguments, and their hints."""
    yield f"signature: {signature_text(spec.compile.signature) or 'none'}"
    if not toolchains.look_up(spec.toolchain).language.hints:
        return
    for hint, names in spec.compile.hints.items():
        usual = (
            " (assumed, as in most launches; not in the kernel file)"
            if hint in spec.assumed
            else ""
        )
        yield f"{hint.replace('_', ' ')}: {', '.join(names) or 'none'}{usual}"
    if has_no_hints(spec):
        yield f"hints: {NO_HINTS}"


def _env(built: BuiltEnv) -> Iterator[str]:
    framework = f", {built.env.framework} {built.framework_release or 'none'}"
    if built.framework_release is None and toolchains.of(built.env).device.pairing is None:
        framework = ""  # the framework is not used
    yield (
        f"{built.env.toolchain} {built.release}{framework}, Python {built.python_version or 'none'}"
    )
    if built.error:
        yield from built.error.splitlines()
    yield from (f"{p.name} {p.version} ({p.digest[:12]})" for p in built.packages)


def _command(explanation: Explanation) -> str:
    which = cell_options(explanation.cell)
    again = () if explanation.result is None else ("--again",)
    return shlex.join(("compat", "matrix", *which, *explanation.options, *again))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    shown = list(lines)
    if shown:
        yield f"{_INDENT}{title}:"
        yield from (f"{2 * _INDENT}{line}" for line in shown)


def _value(value: object) -> str:
    return (
        ", ".join(f"{key} {number}" for key, number in value.items())
        if isinstance(value, Mapping)
        else str(value)
    )


# --- as JSON --------------------------------------------------------------------------------------


def explanation_document(explanation: Explanation | CellOverview) -> JsonObject:
    """The explanation as JSON values."""
    if isinstance(explanation, CellOverview):
        return {
            "matching": explanation.matching,
            "cells": [cell_document(result) for result in explanation.results],
        }
    result, env = explanation.result, explanation.built
    return {
        "id": explanation.cell.id,
        "summary": explanation.cell.spec.summary,
        "expected": result.expected if result else None,
        "slowness": explanation.slowness,
        "slow_suspect": explanation.slow_suspect,
        "numbers": cell_document(result)["numbers"] if result else None,
        "outcome": attrs.asdict(result.outcome) if result else None,
        "edits_known": [edit.name for edit in edits_for(result)] if result else [],
        "history": verdict_document(explanation.verdict) if explanation.verdict else None,
        "attempts": [attrs.asdict(evidence) for evidence in explanation.attempts],
        "env": {
            "name": env.env.name,
            env.env.toolchain: env.release,
            env.env.framework: env.framework_release,
            "error": env.error,
        },
    }
