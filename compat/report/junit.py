"""The report as JUnit XML, the form of test results that CI systems read: a test case for each cell, and one for
each program of a pair.

There is no standard of it. This keeps to what the readers of Jenkins (its xUnit plugin, whose schema is the strictest), GitLab and
GitHub's actions have in common: ``testsuites`` of ``testsuite`` of ``testcase`` with at most one of ``failure``, ``error`` and
``skipped``, and no attributes beyond those that all of them know.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from attrs import frozen

from compat.config.selection import PAIRS
from compat.model import Result, Status
from compat.pairs.records import Pair, Program
from compat.patterns import lazy_pattern
from compat.printable import printable
from compat.report.compact import one_line
from compat.report.repeat import explain_command, pair_command
from compat.report.summary import Report, came_out_as, declared_as

_NO_XML = lazy_pattern("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
"""What no XML 1.0 document may have, besides halves of surrogate pairs."""


def junit_xml(report: Report) -> str:
    """The report as JUnit XML: what is unexpected fails, what gave no answer is an error, declared failures are skipped."""
    suites: dict[str, list[Result]] = defaultdict(list)
    for result in report.ordered:
        suites[result.cell.spec.kernel].append(result)
    tried = [_Tried(pair=pair, program=program) for pair in report.pairs for program in pair.programs or (None,)]
    cases = [*(_kind(result) for result in report.ordered), *(each.kind for each in tried)]
    root = Element("testsuites", name="compat matrix", **_counts(cases, _time(report.ordered, tried)))
    del root.attrib["skipped"]  # which Jenkins does not take here
    for kernel, results in suites.items():
        suite = SubElement(root, "testsuite", name=_text(kernel), **_counts(list(map(_kind, results)), _time(results)))
        for result in results:
            _add_case(suite, result, report.options)
    if tried:
        suite = SubElement(root, "testsuite", name=PAIRS, **_counts([each.kind for each in tried], _time((), tried)))
        for each in tried:
            _add_program(suite, each, report.options)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_case(suite: Element, result: Result, options: tuple[str, ...]) -> None:
    spec = result.cell.spec
    case = SubElement(
        suite,
        "testcase",
        classname=_text(f"{spec.kernel}/{spec.variant}/{spec.case}"),
        name=_text(f"{result.cell.target.name}/{result.cell.env.name}"),
        time=_time([result]),
    )
    if (kind := _kind(result)) is not None:
        told = SubElement(case, kind, type=_text(_type(result)), message=_text(_message(result)))
        if kind != "skipped":
            told.text = _text(_details(result, options))


def _kind(result: Result) -> str | None:
    """What is told of a cell; ``None`` for one that works, as is expected of it."""
    status, failure = result.outcome.status, result.outcome.failure
    if not status.is_answer:
        return "error"
    if not result.expected:
        return "failure"
    return None if status is Status.OK and failure is None else "skipped"


def _type(result: Result) -> str:
    failure = result.outcome.failure
    return failure.failure_class if failure else str(result.outcome.status)


def _message(result: Result) -> str:
    """A line: why it may fail so, or what was expected and what came."""
    failure, expectation = result.outcome.failure, result.expectation
    if _kind(result) == "skipped":
        came = came_out_as(result)
        return (expectation.reason or f"declared {declared_as(expectation)}, got {came}") if expectation else came
    said = f": {one_line(failure.excerpt)}" if failure and failure.excerpt.strip() else ""
    got = f"{came_out_as(result)}{said}"
    return got if _kind(result) == "error" else f"expected {declared_as(expectation)}, got {got}"


def _details(result: Result, options: tuple[str, ...]) -> str:
    """What the compiler says, where, what to do, and how to look closer."""
    failure = result.outcome.failure
    place = [f"{name} {value}" for name, value in _places(result) if value]
    parts = [failure.excerpt.strip("\n") if failure else "", f"at: {', '.join(place)}", failure.advice if failure else ""]
    return "\n\n".join(part for part in (*parts, explain_command(result.cell, options)) if part)


def _places(result: Result) -> tuple[tuple[str, str | None], ...]:
    failure = result.outcome.failure
    if failure is None:
        return (("stage", result.outcome.stage),)
    return ("stage", failure.stage), ("pass", failure.pass_), ("op", failure.op), ("line", failure.location)


@frozen(kw_only=True)
class _Tried:
    """A program of a pair; ``None`` for a pair in which nothing could be tried."""

    pair: Pair
    program: Program | None

    @property
    def kind(self) -> str | None:
        if self.program is None:
            return "error"
        if self.program.ok:
            return None
        return "failure" if self.program.status.is_answer else "error"


def _add_program(suite: Element, tried: _Tried, options: tuple[str, ...]) -> None:
    pair, program = tried.pair, tried.program
    name, seconds = (program.name, program.seconds) if program else ("env", pair.seconds)
    case = SubElement(suite, "testcase", classname=_text(pair.name), name=_text(name), time=f"{seconds:.3f}")
    if tried.kind is None:
        return
    kind = (program.failure_class or str(program.status)) if program else str(Status.ENV_BROKEN)
    words = (program.message if program else pair.error) or kind
    told = SubElement(case, tried.kind, type=_text(kind), message=_text(one_line(words)))
    reached = f"at: stage {program.stage}\n\n" if program and program.stage else ""
    told.text = _text(f"{words}\n\n{reached}{pair_command(pair, options)}")


def _counts(kinds: Sequence[str | None], seconds: str) -> dict[str, Any]:
    counts = {"failures": kinds.count("failure"), "errors": kinds.count("error"), "skipped": kinds.count("skipped")}
    return {"tests": str(len(kinds)), **{name: str(count) for name, count in counts.items()}, "time": seconds}


def _time(results: Sequence[Result], tried: Sequence[_Tried] = ()) -> str:
    pairs = sum(each.program.seconds if each.program else each.pair.seconds for each in tried)
    return f"{sum(result.outcome.seconds for result in results) + pairs:.3f}"


def _text(text: str) -> str:
    """Text that XML can hold: control characters are written out."""
    return _NO_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", printable(text))
