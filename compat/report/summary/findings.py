"""What is unexpected, each with the place in a repository that it is about: what CI systems show beside the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from attrs import frozen

from compat.model import Failure, Result, Status
from compat.pairs.records import Pair
from compat.report.summary.checks import check_words
from compat.report.summary.commands import explain_command, pair_command
from compat.report.summary.compact import counted, one_line
from compat.report.summary.record import BrokenEnv, Report, Surprise, UnimportedSource


@frozen(kw_only=True)
class Annotation:
    """Something unexpected."""

    title: str
    """Of what, and what came: ``sel_dense/block_ptr: rejected (api-removed)``."""
    body: tuple[str, ...]
    """Where, what was expected, what the compiler says, what to do, and how to look closer; a line each."""
    check: str
    """The failure's class, or the status where there is none."""
    status: Status
    path: str | None = None
    """The source, from the top of the repository; ``None`` for what is about no file of it."""
    line: int | None = None
    identity: tuple[str, ...]
    """What stays the same while the same thing is unexpected, whichever releases it is found in."""


def findings(report: Report, inside: str = "") -> tuple[Annotation, ...]:
    """All that makes a run not as expected, by kernel; then envs that are broken, and pairs that are not ok.

    ``inside`` is the path from the top of the repository to the folder of the project.
    """
    groups: dict[tuple[str, ...], list[Surprise]] = defaultdict(list)
    for surprise in report.surprises:
        groups[_identity(surprise)].append(surprise)
    return (
        *(_surprising(report, inside, identity, group) for identity, group in groups.items()),
        *(_unimported(report, inside, subject) for subject in report.unimported),
        *(_broken(subject) for subject in report.broken),
        *(_failing_pair(pair, report.options) for pair in report.pairs if not pair.ok),
    )


def _identity(surprise: Surprise) -> tuple[str, ...]:
    failure = surprise.results[0].outcome.failure
    return surprise.where.kernel, surprise.where.variant, surprise.declared, surprise.got, failure.fingerprint if failure else ""


def _surprising(report: Report, inside: str, identity: tuple[str, ...], group: Sequence[Surprise]) -> Annotation:
    first, example = group[0], group[0].results[0]
    failure = example.outcome.failure
    path, line = _where(report, inside, example)
    expected = f"expected {first.declared}" + (f" ({first.reason})" if first.reason else "")
    where = (f"{surprise.where.subject}: {surprise.where.releases}, {' '.join(surprise.where.targets)}" for surprise in group)
    return Annotation(
        title=f"{first.where.kernel}/{first.where.variant}: {first.got}",
        body=(*where, expected, *_said(failure), *_computed(example), explain_command(example.cell, report.options)),
        check=failure.failure_class if failure else str(_status(example)),
        status=_status(example),
        path=path,
        line=line,
        identity=identity,
    )


def _unimported(report: Report, inside: str, source: UnimportedSource) -> Annotation:
    failure = source.failure
    path, line = _where(report, inside, source.example)
    return Annotation(
        title=f"{source.source} could not be imported",
        body=(
            f"{counted(source.cells, 'cell')} of {source.kernel} could not be tried, on {source.releases}",
            *_said(failure),
            explain_command(source.example.cell, report.options),
        ),
        check=failure.failure_class,
        status=Status.SOURCE_BROKEN,
        path=path,
        line=line,
        identity=(source.kernel, source.source, failure.fingerprint),
    )


def _broken(broken: BrokenEnv) -> Annotation:
    lines = (one_line(broken.words) or "there is no output", *([broken.advice] if broken.advice else []))
    return Annotation(
        title=f"env {broken.env.name} is broken",
        body=(f"{counted(broken.cells, 'cell')} could not be tried", *lines),
        check=str(Status.ENV_BROKEN),
        status=Status.ENV_BROKEN,
        identity=(broken.env.name,),
    )


def _failing_pair(pair: Pair, options: tuple[str, ...]) -> Annotation:
    """A pair of a PyTorch and a release: each way in which its programs fail once."""
    ways: dict[tuple[str, str], list[str]] = defaultdict(list)
    for program in pair.failed:
        ways[program.failure_class or str(program.status), one_line(program.message)].append(program.name)
    (check, _), *_ = ways or {(str(Status.ENV_BROKEN), ""): []}
    count = f"{len(pair.failed)} of {counted(len(pair.programs), 'program')}" if pair.programs else "nothing could be tried"
    return Annotation(
        title=f"{pair.name}: {count}{' failed' if pair.programs else ''}",
        body=(
            *([one_line(pair.error)] if pair.error else []),
            *(": ".join(filter(None, (", ".join(names), kind, message))) for (kind, message), names in ways.items()),
            pair_command(pair, options),
        ),
        check=check,
        status=pair.failed[0].status if pair.failed else Status.ENV_BROKEN,
        identity=(pair.name, *sorted(kind for kind, _ in ways)),
    )


def _said(failure: Failure | None) -> Iterator[str]:
    if failure is None:
        return
    at = " ".join((f"at stage {failure.stage}", *([failure.location] if failure.location else [])))
    yield at
    yield from failure.excerpt.strip("\n").splitlines()
    if failure.advice:
        yield failure.advice


def _status(result: Result) -> Status:
    """What became of it: of what compiles, what its numbers are."""
    check = result.numbers.trouble
    return check.status if result.outcome.status is Status.OK and check else result.outcome.status


def _computed(result: Result) -> Iterator[str]:
    """What is wrong with its numbers, and where."""
    if check := result.numbers.trouble:
        yield check_words(check)


def place_of(result: Result) -> tuple[str, int] | None:
    """The file that a failure points at, without folders, and the line there."""
    failure = result.outcome.failure
    name, _, number = (failure.location or "").rpartition(":") if failure else ("", "", "")
    return (name, int(number)) if name and number.isascii() and number.isdigit() and len(number) < 10 else None


def _where(report: Report, inside: str, result: Result) -> tuple[str | None, int | None]:
    """The file in the repository that something is about, from its top, and the line, where that is known.

    That is the kernel's source, or what it imports where the failure points there, and only one such file is called so.
    """
    source, place = report.source_of(result.cell.spec), place_of(result)
    if place is None:
        return _path(inside, source), None
    named = [path for path in (source, *report.helpers.get(source, ())) if PurePosixPath(path).name == place[0]]
    if len(named) == 1 and (path := _path(inside, named[0])):
        return path, place[1]
    return _path(inside, source), None


def _path(inside: str, path: str) -> str | None:
    """A path from the top of the repository; a file outside of the project is none of its files."""
    file = PurePosixPath(path)
    if not file.name or file.is_absolute() or ".." in file.parts:
        return None
    return str(PurePosixPath(inside) / file)
