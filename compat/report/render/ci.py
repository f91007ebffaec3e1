"""Files for CI systems: JUnit XML, GitHub's annotations, and GitLab's code quality reports.

The latter two contain the unexpected results, and warnings about code that is likely slower.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from attrs import frozen

from compat.config.selection import PAIRS
from compat.history.suspects import SlowSuspect
from compat.model import Failure, Result, Status
from compat.pairs.records import Pair, PairProgram
from compat.report.summary.checks import check_text
from compat.report.summary.compact import at_most, explain_command, one_line, place_text
from compat.report.summary.record import (
    BrokenEnv,
    Report,
    Surprise,
    UnimportedSource,
    came_out_as,
    expectation_words,
    place_of,
)
from compat.text import JsonObject, amount, group_by_key, lazy_pattern, printable, text_digest

# --- JUnit XML ------------------------------------------------------------------------------------


_NO_XML = lazy_pattern("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
"""Characters that XML 1.0 forbids, besides halves of surrogate pairs."""
SLOW_SUSPECT = "slow-suspect"
"""The name of the warning that a cell is likely slower than on the previous release."""


def junit_xml(report: Report) -> str:
    """The report as JUnit XML.

    Unexpected cells fail, cells without an answer are errors, and declared failures are skipped. A
    cell that is likely slower than on the previous release says so in its output.
    """
    suspects = {suspect.result.cell: suspect for suspect in report.slow_suspects}
    suites = group_by_key((result.cell.spec.kernel, result) for result in report.ordered_results)
    programs = [
        _ProgramRow(pair=pair, program=program)
        for pair in report.pairs
        for program in pair.programs or (None,)
    ]
    cases = [
        *(_kind(result) for result in report.ordered_results),
        *(case.kind for case in programs),
    ]
    root = Element(
        "testsuites",
        name="compat matrix",
        **_counts(cases, _time(report.ordered_results, programs)),
    )
    del root.attrib["skipped"]  # Jenkins does not accept it here
    for kernel, results in suites.items():
        suite = SubElement(
            root,
            "testsuite",
            name=_text(kernel),
            **_counts(list(map(_kind, results)), _time(results)),
        )
        for result in results:
            _add_case(suite, result, suspects.get(result.cell), report.options)
    if programs:
        suite = SubElement(
            root,
            "testsuite",
            name=PAIRS,
            **_counts([case.kind for case in programs], _time((), programs)),
        )
        for case in programs:
            _add_program(suite, case, report.options)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_case(
    suite: Element, result: Result, suspect: SlowSuspect | None, options: tuple[str, ...]
) -> None:
    case = SubElement(
        suite,
        "testcase",
        classname=_text(result.cell.spec.id),
        name=_text(f"{result.cell.target.name}/{result.cell.env.name}"),
        time=_time([result]),
    )
    if (kind := _kind(result)) is not None:
        element = SubElement(case, kind, type=_text(_type(result)), message=_text(_message(result)))
        if kind != "skipped":
            element.text = _text(_details(result, options))
    if suspect is not None:
        SubElement(case, "system-out").text = _text(f"{SLOW_SUSPECT}: {suspect.sentence}")


def _kind(result: Result) -> str | None:
    """The JUnit element for a cell, such as ``failure``; ``None`` for a cell that is ok."""
    status, failure = result.outcome.status, result.outcome.failure
    if not status.is_answer:
        return "error"
    if not result.expected:
        return "failure"
    right = status is Status.OK and failure is None and result.numbers.right is not False
    return None if right else "skipped"


def _type(result: Result) -> str:
    failure = result.outcome.failure
    return failure.failure_class if failure else str(_status(result))


def _message(result: Result) -> str:
    """One line: why the cell may fail, or the expected and the actual result."""
    failure, expectation = result.outcome.failure, result.expectation
    if _kind(result) == "skipped":
        came = came_out_as(result)
        return (
            (expectation.reason or f"declared {expectation_words(expectation)}, got {came}")
            if expectation
            else came
        )
    excerpt = f": {one_line(failure.excerpt)}" if failure and failure.excerpt.strip() else ""
    got = f"{came_out_as(result)}{excerpt}"
    return (
        got if _kind(result) == "error" else f"expected {expectation_words(expectation)}, got {got}"
    )


def _details(result: Result, options: tuple[str, ...]) -> str:
    """Message, place, errors of numbers and advice, and the command that explains the cell."""
    failure = result.outcome.failure
    parts = [
        failure.excerpt.strip("\n") if failure else "",
        f"at: {place_text(failure) if failure else f'stage {result.outcome.stage}'}",
        *_number_errors(result),
        failure.advice if failure else "",
    ]
    return "\n\n".join(part for part in (*parts, explain_command(result.cell, options)) if part)


@frozen(kw_only=True)
class _ProgramRow:
    """A program of a pair. It is ``None`` for a pair in which nothing could be tried."""

    pair: Pair
    program: PairProgram | None

    @property
    def kind(self) -> str | None:
        if self.program is None:
            return "error"
        if self.program.ok:
            return None
        return "failure" if self.program.status.is_answer else "error"


def _add_program(suite: Element, program_run: _ProgramRow, options: tuple[str, ...]) -> None:
    pair, program = program_run.pair, program_run.program
    name, seconds = (program.name, program.seconds) if program else ("env", pair.seconds)
    case = SubElement(
        suite, "testcase", classname=_text(pair.name), name=_text(name), time=f"{seconds:.3f}"
    )
    if program_run.kind is None:
        return
    kind = (program.failure_class or str(program.status)) if program else str(Status.ENV_BROKEN)
    message = (program.message if program else pair.error) or kind
    element = SubElement(case, program_run.kind, type=_text(kind), message=_text(one_line(message)))
    reached = f"at: stage {program.stage}\n\n" if program and program.stage else ""
    element.text = _text(f"{message}\n\n{reached}{pair_command(pair, options)}")


def _counts(kinds: Sequence[str | None], seconds: str) -> JsonObject:
    return {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": seconds,
    }


def _time(results: Sequence[Result], program_runs: Sequence[_ProgramRow] = ()) -> str:
    pairs = sum(
        case.program.seconds if case.program else case.pair.seconds for case in program_runs
    )
    return f"{sum(result.outcome.seconds for result in results) + pairs:.3f}"


def _text(text: str) -> str:
    """Text that XML can contain: control characters are escaped."""
    return _NO_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", printable(text))


# --- unexpected and suspected results, each with its place in a repository ------------------------


@frozen(kw_only=True)
class Annotation:
    """Something unexpected, or a warning."""

    title: str
    """The subject and its result: ``sel_dense/block_ptr: rejected (api-removed)``."""
    body: tuple[str, ...]
    """The place, the expectation, the compiler's message, the advice and a command; a line each."""
    check: str
    """The failure's class, or the status if there is no failure, or the name of a warning."""
    status: Status
    path: str | None = None
    """The source, from the top of the repository; ``None`` without a file of the repository."""
    line: int | None = None
    identity: tuple[str, ...]
    """The identity of the unexpected result, equal in all releases."""
    is_warning: bool = False
    """Whether the run still counts as expected."""


def findings(report: Report, inside: str = "") -> tuple[Annotation, ...]:
    """The reasons why a run is not as expected: kernels, then broken envs, then pairs that fail.

    ``inside`` is the path from the top of the repository to the folder of the project.
    """
    groups = group_by_key((_identity(surprise), surprise) for surprise in report.surprises)
    return (
        *(_surprising(report, inside, identity, group) for identity, group in groups.items()),
        *(_annotate_source(report, inside, subject) for subject in report.unimported_sources),
        *(_annotate_env(subject) for subject in report.broken_envs),
        *(_failing_pair(pair, report.options) for pair in report.failing_pairs),
    )


def warnings(report: Report, inside: str = "") -> tuple[Annotation, ...]:
    """The kernels that are likely slower than on the previous release, the slowest first.

    ``inside`` is as for :func:`findings`.
    """
    groups: dict[tuple[str, ...], list[SlowSuspect]] = defaultdict(list)
    for suspect in report.slow_suspects:
        spec = suspect.result.cell.spec
        groups[spec.kernel, spec.variant, suspect.releases].append(suspect)
    return tuple(
        _annotate_slow_suspects(report, inside, identity, group)
        for identity, group in groups.items()
    )


def _annotate_slow_suspects(
    report: Report, inside: str, identity: tuple[str, ...], group: Sequence[SlowSuspect]
) -> Annotation:
    kernel, variant, releases = identity
    example = group[0].result.cell
    cells = [
        f"{suspect.result.cell.spec.case}, {suspect.result.cell.target.name}: {suspect.sentence}"
        for suspect in group
    ]
    return Annotation(
        title=f"{kernel}/{variant}: likely slower, {releases} ({SLOW_SUSPECT})",
        body=(*at_most(_CELLS, cells), explain_command(example, report.options)),
        check=SLOW_SUSPECT,
        status=Status.OK,
        path=_path(inside, report.source_of(example.spec)),
        identity=(SLOW_SUSPECT, *identity),
        is_warning=True,
    )


def _identity(surprise: Surprise) -> tuple[str, ...]:
    failure = surprise.results[0].outcome.failure
    return (
        surprise.where.kernel,
        surprise.where.variant,
        surprise.declared,
        surprise.got,
        failure.fingerprint if failure else "",
    )


def _surprising(
    report: Report, inside: str, identity: tuple[str, ...], group: Sequence[Surprise]
) -> Annotation:
    first, example = group[0], group[0].results[0]
    failure = example.outcome.failure
    path, line = _where(report, inside, example)
    expected = f"expected {first.declared}" + (f" ({first.reason})" if first.reason else "")
    where = (
        f"{surprise.where.subject}: {surprise.where.releases}, {' '.join(surprise.where.targets)}"
        for surprise in group
    )
    return Annotation(
        title=f"{first.where.kernel}/{first.where.variant}: {first.got}",
        body=(
            *where,
            expected,
            *_failure_lines(failure),
            *_number_errors(example),
            explain_command(example.cell, report.options),
        ),
        check=failure.failure_class if failure else str(_status(example)),
        status=_status(example),
        path=path,
        line=line,
        identity=identity,
    )


def _annotate_source(report: Report, inside: str, source: UnimportedSource) -> Annotation:
    failure = source.failure
    path, line = _where(report, inside, source.example)
    return Annotation(
        title=f"{source.source} could not be loaded",
        body=(
            (
                f"{amount(source.cells, 'cell')} of {source.named_kernels} could not be tried, on"
                f" {source.releases}"
            ),
            *_failure_lines(failure),
            explain_command(source.example.cell, report.options),
        ),
        check=failure.failure_class,
        status=Status.SOURCE_BROKEN,
        path=path,
        line=line,
        identity=(source.kernels[0], source.source, failure.fingerprint),
    )


def _annotate_env(broken: BrokenEnv) -> Annotation:
    lines = (one_line(broken.message) or "no output", *([broken.advice] if broken.advice else []))
    return Annotation(
        title=f"env {broken.env.name} is broken",
        body=(f"{amount(broken.cells, 'cell')} could not be tried", *lines),
        check=str(Status.ENV_BROKEN),
        status=Status.ENV_BROKEN,
        identity=(broken.env.name,),
    )


def pair_command(pair: Pair, options: Sequence[str]) -> str:
    """The command that tries the programs of a pair in its env."""
    return shlex.join(["compat", "matrix", "--kernel", PAIRS, "--envs", pair.env, *options])


def _failing_pair(pair: Pair, options: tuple[str, ...]) -> Annotation:
    """The annotation of a failing pair, with each distinct failure of its programs once."""
    ways = group_by_key(
        ((program.failure_class or str(program.status), one_line(program.message)), program.name)
        for program in pair.failed_programs
    )
    (check, _), *_ = ways or {(str(Status.ENV_BROKEN), ""): ()}
    count = (
        f"{len(pair.failed_programs)} of {amount(len(pair.programs), 'program')}"
        if pair.programs
        else "no cell could be tried"
    )
    return Annotation(
        title=f"{pair.name}: {count}{' failed' if pair.programs else ''}",
        body=(
            *([one_line(pair.error)] if pair.error else []),
            *(
                ": ".join(filter(None, (", ".join(names), kind, message)))
                for (kind, message), names in ways.items()
            ),
            pair_command(pair, options),
        ),
        check=check,
        status=pair.failed_programs[0].status if pair.failed_programs else Status.ENV_BROKEN,
        identity=(pair.name, *sorted(kind for kind, _ in ways)),
    )


def _failure_lines(failure: Failure | None) -> Iterator[str]:
    if failure is None:
        return
    at = " ".join((f"at stage {failure.stage}", *([failure.location] if failure.location else [])))
    yield at
    yield from failure.excerpt.strip("\n").splitlines()
    if failure.advice:
        yield failure.advice


def _status(result: Result) -> Status:
    """The status of a cell; for one that compiles, that of its numbers."""
    check = result.numbers.trouble
    return check.status if result.outcome.status is Status.OK and check else result.outcome.status


def _number_errors(result: Result) -> Iterator[str]:
    """The errors of a cell's numbers, and their place."""
    if check := result.numbers.trouble:
        yield check_text(check)


def _where(report: Report, inside: str, result: Result) -> tuple[str | None, int | None]:
    """The path of a result's file from the top of the repository, and the line, if known.

    The file is the kernel's source. It is an imported file if the failure points there, and only
    one such file has that name.
    """
    source, place = report.source_of(result.cell.spec), place_of(result)
    if place is None:
        return _path(inside, source), None
    named = [
        path
        for path in (source, *report.helpers.get(source, ()))
        if PurePosixPath(path).name == place[0]
    ]
    if len(named) == 1 and (path := _path(inside, named[0])):
        return path, place[1]
    return _path(inside, source), None


_CELLS = 5
"""Maximum number of cells that a warning lists."""


def _path(inside: str, path: str) -> str | None:
    """A path from the top of the repository; ``None`` for a file outside of the project."""
    file = PurePosixPath(path)
    if not file.name or file.is_absolute() or ".." in file.parts:
        return None
    return str(PurePosixPath(inside) / file)


# --- GitHub annotations ---------------------------------------------------------------------------


MOST = 10
"""The maximum number of errors, and of warnings, that GitHub shows for one step."""
_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_DATA, ":": "%3A", ",": "%2C"}


def workflow_commands(all_findings: Sequence[Annotation]) -> Iterator[str]:
    """A line for each finding, ten errors and ten warnings at most.

    A last line says how many more there are.
    """
    errors = [finding for finding in all_findings if not finding.is_warning]
    suspected = [finding for finding in all_findings if finding.is_warning]
    shown = (*errors[:MOST], *suspected[:MOST])
    yield from map(_github_annotation, shown)
    if more := len(all_findings) - len(shown):
        yield _command(
            "notice",
            {"title": "triton-compat"},
            f"{amount(more, 'more finding')}; the report lists all of them",
        )


def _github_annotation(finding: Annotation) -> str:
    place = {"file": finding.path, "line": finding.line if finding.path else None}
    properties = {
        **{name: str(value) for name, value in place.items() if value is not None},
        "title": finding.title,
    }
    level = "warning" if finding.is_warning else "error"
    return _command(level, properties, "\n".join(finding.body))


def _command(name: str, properties: dict[str, str], data: str) -> str:
    """A workflow command. Characters that separate its parts, or end it, are escaped in them."""
    listed = ",".join(f"{key}={_escape(value, _IN_PROPERTY)}" for key, value in properties.items())
    return f"::{name} {listed}::{_escape(data, _IN_DATA)}"


def _escape(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)


# --- GitLab code quality --------------------------------------------------------------------------


_SEVERITIES = {
    Status.OK: "minor",
    Status.CRASHED: "critical",
    Status.WRONG: "critical",
    Status.UNSTABLE: "critical",
    Status.FAULTED: "critical",
    Status.LOST: "info",
    Status.SOURCE_BROKEN: "info",
}
"""All others are ``major``."""


def code_quality(all_findings: Sequence[Annotation]) -> list[JsonObject]:
    """An issue for each finding about a file of the repository.

    GitLab accepts no issue without a file. The JUnit file has the others.
    """
    return [_issue(finding, finding.path) for finding in all_findings if finding.path is not None]


def _issue(finding: Annotation, path: str) -> JsonObject:
    return {
        "description": "\n".join((finding.title, *finding.body)),
        "check_name": finding.check,
        "fingerprint": text_digest("\0".join((path, *finding.identity))),
        "severity": ("info" if finding.is_warning else _SEVERITIES.get(finding.status, "major")),
        "location": {"path": path, "lines": {"begin": finding.line or 1}},
    }
