"""The text of an issue, in the shape of Triton's bug template.

It has the bug with a minimal example, then the environment.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from itertools import groupby

from compat import __version__, toolchains
from compat.diagnosis.failure_class import Blame
from compat.diagnosis.pipeline import OutputReader
from compat.diagnosis.symptoms import COLOURS
from compat.files import templates
from compat.history.account import Interval, Word, class_of, is_good, spans
from compat.history.verdict import Verdict
from compat.model import Result, Status
from compat.report.render.markdown import code, prose
from compat.report.summary.compact import earlier_runs, unknown
from compat.repro.records import ReproFinding
from compat.repro.verify import without_places
from compat.text import join_words, lazy_pattern, printable

_FRAMES = 5
"""Frames of a Python stack in the issue, the innermost ones."""
_LINES = 30
"""Lines of the output that are shown at its beginning, and at its end."""
_UNDERLINE = lazy_pattern(r"^ {4,}(?:[~^]{2,}|\^+[~^]+)$")
"""Python's marks below the lines of a traceback; the caret of Triton's own errors is a single
one.
"""
_WARNING = lazy_pattern(r"^\S+:\d+: \w*Warning: .*\n(?:  \S.*\n)?", re.MULTILINE)
"""The lines that Python prints for a warning: its text, and the line that raised it."""
_FRAME = lazy_pattern(r'^\s*File "[^"]*", line \d+')
_END = {
    Status.REJECTED: "is rejected",
    Status.CRASHED: "crashes the compiler",
    Status.TIMED_OUT: "does not finish",
    Status.UNSUPPORTED: "is not supported by this toolchain",
    Status.WRONG: "succeeds, but the binary is wrong",
}


def issue_markdown(finding: ReproFinding) -> str:
    """The issue as Markdown; its first line is the title."""
    sentences = (
        happens,
        expected_result,
        guesses,
        advice,
        history,
        differences,
        legend,
        environment_of,
        tracker,
    )
    functions = {function.__name__: function for function in sentences}
    rows = [(release, [_mark(finding, result) for result in row]) for release, row in finding.rows]
    text = (
        templates("compat.repro")
        .get_template("issue.md.j2")
        .render(
            finding=finding, targets=finding.targets, rows=rows, version=__version__, **functions
        )
    )
    return printable(text.strip()) + "\n"


# --- sentences ------------------------------------------------------------------------------------


def happens(finding: ReproFinding) -> str:
    """The defect, in a sentence or two."""
    failure, outcome = finding.failure, finding.result.outcome
    imported = finding.bundle.decorated
    place = "" if imported or failure.prediction else f" in stage `{failure.stage}`"
    place += f", in the pass {code(failure.pass_)}" if failure.pass_ else ""
    place += f", at the operation {code(failure.op)}" if failure.op else ""
    place += f", at {line}" if (line := _line(finding)) else ""
    end = _END.get(outcome.status, str(outcome.status))
    if failure.prediction and outcome.status is Status.REJECTED:
        end = "succeeds, but the binary cannot be launched"
    does = (
        "Importing the kernel below"
        if imported
        else f"Compiling the kernel below for `{finding.cell.target.name}`"
    )
    return (
        f"{does} with {finding.toolchain} {finding.built.release} {end}{place}:"
        f" {code(finding.message)}."
    )


def _line(finding: ReproFinding) -> str:
    """The line in the script, and its text; empty for the line that defines the kernel."""
    location = finding.failure.location or ""
    file, _, number = location.rpartition(":")
    if file != f"{finding.name}.py":
        return code(location)
    line = finding.text.split("\n")[int(number) - 1].strip()
    return "" if line.startswith("def ") else f"line {number}, {code(line)}"


def expected_result(finding: ReproFinding) -> str:
    """The expected result."""
    good = finding.good_releases()
    if good:
        return (
            f"that it compiles, as it does with {finding.toolchain}"
            f" {spans(good, [release for release, _ in finding.rows])}."
        )
    if toolchains.known_class(finding.failure).blame is Blame.KERNEL:
        return "a diagnostic that says what is wrong with the kernel."
    return "that it compiles, or a diagnostic that says what is wrong with the kernel."


def guesses(finding: ReproFinding) -> str:
    """The names of the arguments, if these were guessed; otherwise empty."""
    if not finding.cell.spec.guessed:
        return ""
    compiled = finding.bundle.spec.compile
    names = (*compiled.signature, *compiled.launch, *compiled.constexprs, *compiled.options)
    return (
        f"The types and values of {join_words(map(code, names))} are guessed from the kernel's"
        " source, and were not seen in a launch."
    )


def advice(finding: ReproFinding) -> str:
    """Advice to the author of a kernel that is at fault.

    It is empty for the compiler's own defects, which its maintainers know better.
    """
    if toolchains.known_class(finding.failure).blame is not Blame.KERNEL or finding.is_lapse:
        return ""
    advice = prose(finding.failure.advice)
    return (
        advice
        if finding.own_error
        else f"The kernel has an error too, which a diagnostic should have reported: {advice}"
    )


def history(finding: ReproFinding) -> str:
    """The outcome of the original kernel, release by release, with the bracket and the gaps."""
    verdict = finding.verdict
    runs = "; ".join(
        f"{join_words(map(_span, alike))}: {fate}"
        for fate, alike in groupby(verdict.intervals, lambda interval: _fate(finding, interval))
    )
    subject = "the original kernel" if finding.differing else "it"
    sentences = [f"On {finding.cell.target.name} {subject} {_verdict_phrase(verdict)}", runs]
    open_ = unknown(verdict, verdict.line)
    sentences += [
        f"{clause[0].upper()}{clause[1:]}" for clause in (open_, earlier_runs(verdict)) if clause
    ]
    return ". ".join(sentences) + "."


def _verdict_phrase(verdict: Verdict) -> str:
    if verdict.word is Word.NEVER:
        return "never worked" if verdict.complete else "failed in every release tested"
    *needs, phrase = verdict.phrases
    if verdict.word is Word.INTERMITTENT:
        phrase = "works in some releases and fails in others"
    was = "was " if verdict.word in (Word.FIXED, Word.REMOVED) else ""
    return " and ".join([*needs, f"{was}{phrase}"])


def differences(finding: ReproFinding) -> str:
    """The differences of the shown kernel from its original; empty if there are none."""
    if not finding.differing:
        return ""
    contrasts = "; ".join(
        f"in {release} it has {_has(shown)}, the original {_has(was)}"
        for release, was, shown in finding.differing
    )
    return (
        "The kernel above is not the original one, and behaves differently in some releases:"
        f" {contrasts}."
    )


def _has(fate: str) -> str:
    return "none" if fate == "ok" else fate


def _span(interval: Interval) -> str:
    return (
        interval.first
        if interval.first == interval.last
        else f"{interval.first} to {interval.last}"
    )


def _fate(finding: ReproFinding, interval: Interval) -> str:
    if interval.fingerprint is None:
        return str(interval.status)
    return (
        "this failure"
        if interval.fingerprint == finding.failure.fingerprint
        else f"another failure ({interval.failure_class})"
    )


def legend(finding: ReproFinding) -> str:
    """The legend of the table."""
    marks = {_mark(finding, result) for _, row in finding.rows for result in row}
    entries = ["**fails**: this failure, with the same message"]
    if any("other" in mark for mark in marks):
        entries.append("other: another failure, of the named class")
    if "unsupported" in marks:
        entries.append("unsupported: the toolchain cannot build for that target at all")
    return "; ".join(entries) + "."


def _mark(finding: ReproFinding, result: Result) -> str:
    outcome = result.outcome
    if is_good(outcome):
        return "ok"
    if finding.same(result):
        return "**fails**"
    return "unsupported" if outcome.status is Status.UNSUPPORTED else f"other: {class_of(outcome)}"


def environment_of(finding: ReproFinding) -> Iterator[tuple[str, str]]:
    """The name and the value of each fact about the environment."""
    target, built, toolchain = finding.cell.target, finding.built, toolchains.of(finding.cell.env)
    calls = toolchain.language.script
    assert calls is not None, "there is a script"
    does = "imported" if finding.bundle.decorated else "compiled ahead of time"
    beside = [
        f"{package.name} {package.version}"
        for package in built.packages
        if package.name != built.env.distribution
    ]
    yield finding.toolchain, f"{built.release}" + (f", with {', '.join(beside)}" if beside else "")
    yield "GPU", f"none: {does} for `{calls.target_text(target)}`"
    if ptxas := finding.result.outcome.metrics.get("ptxas"):
        yield "ptxas", str(ptxas)
    yield "Python", f"{built.python_version} on {platform.system()} {platform.machine()}"


def tracker(finding: ReproFinding) -> str:
    """A sentence with the tracker for the issue; empty if the form of the issue says that."""
    calls = toolchains.of(finding.cell.env).language.script
    return f" It is for {calls.tracker}." if calls and calls.tracker else ""


# --- the printed text -----------------------------------------------------------------------------


def short(output: str, name: str, reader: OutputReader) -> str:
    """The output of a script without IR, paths and colours, with stacks cut to innermost frames."""
    text = COLOURS.sub("", reader.read(output).text)
    text = without_places(text).replace("repro.py", f"{name}.py")
    lines = [line.rstrip() for line in _WARNING.sub("", text).splitlines()]
    lines = [line for line in lines if line and not _UNDERLINE.match(line)]
    return printable("\n".join(_cut(_short_stacks(lines))))


def _short_stacks(lines: list[str]) -> list[str]:
    """The lines with the frames of each stack cut.

    The innermost frames are first after a fatal error, and last in a traceback.
    """
    short_lines: list[str] = []
    stack: list[str] = []
    innermost_first = False
    for line in [*lines, ""]:
        if _FRAME.match(line) or (stack and line.startswith("    ") and not innermost_first):
            stack.append(line)
            continue
        short_lines += _innermost(stack, innermost_first)
        stack = []
        innermost_first = "most recent call first" in line
        short_lines.append(line)
    return short_lines[:-1]


def _innermost(stack: list[str], first: bool) -> list[str]:
    starts = [number for number, line in enumerate(stack) if _FRAME.match(line)]
    if len(starts) <= _FRAMES:
        return stack
    return [*stack[: starts[_FRAMES]], "  …"] if first else ["  …", *stack[starts[-_FRAMES] :]]


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= 2 * _LINES:
        return lines
    return [*lines[:_LINES], f"… ({len(lines) - 2 * _LINES} lines left out)", *lines[-_LINES:]]
