"""The report as data: ``reports/matrix.json``.

``docs/matrix-json.md`` documents it, and ``matrix.schema.json`` checks it.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Annotated, Literal, TypeVar

from attrs import evolve, field, frozen
from packaging.version import Version

from compat.api.histories import PackedNames
from compat.history.account import Bracket, Change, Interval, Word
from compat.history.running import FastReleases, RightReleases
from compat.history.suspects import SlowSuspect
from compat.history.verdict import Verdict
from compat.model import BuiltEnv, CompileSpec, Package, Result, Status, Target
from compat.model.codec import record_of, schema_of, unstructure
from compat.model.fields import (
    DIGITS,
    KEY,
    OPTIONAL,
    Amount,
    Count,
    Releases,
    Seconds,
    Text,
    VersionText,
    rules,
)
from compat.model.outcome import FRAMEWORK, RELEASE, CellRecord, cell_document, with_names
from compat.pairs.records import Pair
from compat.report.summary.compact import natural
from compat.report.summary.grid import LibraryRecord, library_versions
from compat.report.summary.record import Report, place_of, row_key
from compat.report.summary.statements import statements
from compat.text import JsonObject, json_pieces, lazy_pattern, printable, write_json
from compat.tune.records import TunedRecord

_T = TypeVar("_T")
SCHEMA: Literal[2] = 2
"""The version of the format. Within one version, keys may be added, but no key is removed or
changes its meaning.
"""
_Positive = Annotated[int, rules(minimum=1)]
_Versions = Annotated[tuple[Version, ...], rules(uniqueItems=True)]
_VersionTexts = Annotated[tuple[VersionText, ...], rules(uniqueItems=True)]
_Shard = Annotated[str, rules(pattern="^[1-9][0-9]*/[1-9][0-9]*$")]


@frozen(kw_only=True)
class ToolRecord:
    """The tool that wrote the file."""

    name: Literal["triton-compat"] = "triton-compat"
    version: str


@frozen(kw_only=True)
class SummaryRecord:
    """The counts of the report."""

    cells: Count
    statuses: Mapping[Status, _Positive]
    unexpected: Count
    cached: Count
    failures: Annotated[Count, rules(description="Distinct failures, by fingerprint.")]
    edits_known: Annotated[
        Count,
        rules(description="Failures whose class has a known edit. The edits were not compiled."),
    ]


@frozen(kw_only=True)
class StatementRecord:
    """A sentence on what the matrix shows."""

    text: Text
    because: str


@frozen(kw_only=True)
class BracketRecord:
    """A change between good and bad: the known releases around it, and those between them.

    The outcomes on the releases between them are uncertain.
    """

    last_good: str | None
    first_bad: str | None
    last_bad: str | None
    first_good: str | None
    untested: Releases


@frozen(kw_only=True)
class _RunRecord:
    """A verdict over the releases on which a kernel was run."""

    verdict: Text
    word: Word
    release: str | None
    bracket: BracketRecord | None
    good: Releases
    bad: Releases


@frozen(kw_only=True)
class RightRecord(_RunRecord):
    """The releases with right numbers."""

    by: tuple[Text, ...]


@frozen(kw_only=True)
class BestRecord:
    """The release with the fastest launch."""

    release: Text
    us: Amount


@frozen(kw_only=True)
class FastRecord(_RunRecord):
    """The releases on which it is fast."""

    device: str
    best: BestRecord


@frozen(kw_only=True)
class VerdictRecord:
    """The verdict on a kernel, variant, case and target over all releases."""

    kernel: Text
    variant: Text
    case: Text
    target: Text
    verdict: Text
    word: Word
    release: str | None
    bracket: BracketRecord | None
    since: BracketRecord | None
    intervals: tuple[Interval, ...]
    changes: tuple[Change, ...]
    not_tried: _VersionTexts
    untested: Releases
    flaky: Releases
    deprecated: Releases
    remembered: _VersionTexts
    right: RightRecord | None
    fast: FastRecord | None


@frozen(kw_only=True)
class SuspectRecord:
    """A cell that compiles, and that is likely slower than on the previous release."""

    cell: Text
    before: Annotated[Text, rules(description="The cell that it was compared with.")]
    ratio: Annotated[Amount, rules(description="How many times slower, estimated.")]
    reasons: tuple[Text, ...]


@frozen(kw_only=True)
class EnvRecord:
    """An env as it was found."""

    name: Text
    toolchain: Text
    distribution: Text
    release: VersionText | None = field(metadata={KEY: RELEASE})
    framework_release: VersionText | None = field(metadata={KEY: FRAMEWORK})
    python: str | None
    packages: tuple[Package, ...]
    digest: str
    error: str | None


@frozen(kw_only=True)
class KernelRecord:
    """A kernel in one variant and case, and the place of its source."""

    kernel: Text
    variant: Text
    case: Text
    toolchain: Text
    source: str
    function: str
    package: Annotated[
        str,
        rules(
            description=(
                "The library from the package index that has the source, with its version. Empty"
                " for any other source."
            )
        ),
    ]
    origin: str
    summary: str
    compile: Annotated[CompileSpec, rules(description="Open: the arguments of a compile.")]


@frozen(kw_only=True)
class SourceRecord:
    """The text of a kernel's source."""

    path: Text
    text: str


@frozen(kw_only=True)
class AttachmentRecord:
    """The content of a stored artifact."""

    name: Text
    gzip: Annotated[str, rules(contentEncoding="base64")]


@frozen(kw_only=True)
class MatrixRecord:
    """The whole file."""

    schema: Literal[2] = SCHEMA
    tool: ToolRecord
    command: Annotated[str, rules(description="The command that wrote the document.")]
    options: tuple[str, ...]
    limits: tuple[str, ...]
    shards: tuple[_Shard, ...]
    earlier: Count
    seconds: Seconds
    summary: SummaryRecord
    statements: tuple[StatementRecord, ...]
    cells: tuple[CellRecord, ...]
    verdicts: tuple[VerdictRecord, ...]
    envs: tuple[EnvRecord, ...]
    kernels: tuple[KernelRecord, ...]
    helpers: Mapping[str, tuple[str, ...]]
    """Source → the files of its tree that it imports."""
    variants: Mapping[str, tuple[str, ...]]
    """Kernel → its variants, in the order of the kernel file."""
    targets: tuple[Target, ...]
    sources: tuple[SourceRecord, ...]
    attachments: tuple[AttachmentRecord, ...]
    packages: tuple[LibraryRecord, ...]
    existing: Mapping[str, _Versions]
    pairs: tuple[Pair, ...]
    slow_suspects: tuple[SuspectRecord, ...]
    """The slowest first. A reader computes them again from the cells."""
    tuned: tuple[TunedRecord, ...] = field(default=(), metadata={OPTIONAL: True})
    api: PackedNames | None = field(default=None, metadata={OPTIONAL: True})


# --- writing --------------------------------------------------------------------------------------


def matrix_document(report: Report) -> JsonObject:
    """The whole report as JSON values, in an order that depends only on the cells."""
    return {
        name: list(value) if isinstance(value, Iterator) else value
        for name, value in _document(report).items()
    }


def matrix_json(report: Report) -> Iterator[str]:
    """The text of :func:`matrix_document` in the form of :func:`dump`, in pieces.

    The text of all cells together would take much memory.
    """
    yield from json_pieces(_document(report))
    yield "\n"


def _document(report: Report) -> JsonObject:
    facts = {
        "cells": len(report.results),
        "unexpected": len(report.unexpected_results),
        "cached": report.cached_count,
        "failures": len(report.failures),
        "edits_known": len(report.edits_known),
    }
    summary = record_of(SummaryRecord, report, statuses=report.counts, **facts)
    records = {
        "schema": SCHEMA,
        "tool": ToolRecord(version=report.version),
        "command": report.command,
        "options": report.options,
        "limits": report.limits,
        "shards": report.shards,
        "earlier": report.earlier,
        "seconds": round(report.seconds, DIGITS),
        "summary": summary,
        "statements": tuple(
            StatementRecord(text=one.sentence, because=one.because) for one in statements(report)
        ),
        "cells": map(cell_document, report.ordered_results),
        "verdicts": map(
            verdict_document,
            sorted(report.verdicts, key=lambda verdict: row_key(verdict.coordinate)),
        ),
        "envs": [
            _env(built) for built in sorted(report.envs, key=lambda built: natural(built.env.name))
        ],
        "kernels": tuple(
            record_of(KernelRecord, spec, source=report.source_of(spec)) for spec in report.specs
        ),
        "helpers": dict(sorted(report.helpers.items())),
        "variants": dict(sorted(report.variants.items())),
        "targets": _targets(report),
        "sources": tuple(
            SourceRecord(path=path, text=text) for path, text in sorted(report.sources.items())
        ),
        "attachments": tuple(
            AttachmentRecord(name=name, gzip=content)
            for name, content in sorted(report.attachments.items())
        ),
        "packages": library_versions(report),
        "existing": {name: sorted(versions) for name, versions in sorted(report.existing.items())},
        "pairs": report.pairs,
        "slow_suspects": tuple(map(suspect_record, report.slow_suspects)),
    }
    if report.tuned:
        records["tuned"] = report.tuned
    api = {"api": unstructure(report.api, compact=True)} if report.api else {}
    return {
        name: record if isinstance(record, Iterator) else unstructure(record)
        for name, record in records.items()
    } | api


def dump(document: Mapping[str, object]) -> str:
    """The document as text, ending in a newline.

    Every JSON reader accepts it, and it contains no control characters for terminals.
    """
    return write_json(document) + "\n"


def schema() -> JsonObject:
    """The JSON Schema (draft 2020-12) that every document follows."""
    return schema_of(MatrixRecord, f"triton-compat matrix, schema {SCHEMA}")


def verdict_document(verdict: Verdict) -> JsonObject:
    """A verdict as JSON values."""
    document: JsonObject = unstructure(verdict_record(verdict))
    return document


def suspect_record(suspect: SlowSuspect) -> SuspectRecord:
    """The record of a cell that is likely slower than on the previous release."""
    return SuspectRecord(
        cell=suspect.result.cell.id,
        before=suspect.before.cell.id,
        ratio=round(suspect.suspicion.ratio, 2),
        reasons=suspect.suspicion.reasons,
    )


def bracket_record(bracket: Bracket | None) -> BracketRecord | None:
    """The record of a change; ``None`` if there is none."""
    if bracket is None:
        return None
    before, after, fix = bracket.before, bracket.after, bracket.is_fix
    return BracketRecord(
        last_good=None if fix else before,
        first_bad=None if fix else after,
        last_bad=before if fix else None,
        first_good=after if fix else None,
        untested=bracket.between,
    )


def verdict_record(verdict: Verdict) -> VerdictRecord:
    """The record of a verdict."""
    right, fast = verdict.right, verdict.fast
    best = BestRecord(release=fast.best, us=fast.best_us) if fast else None
    return _of_account(
        VerdictRecord,
        verdict,
        since=bracket_record(verdict.since),
        untested=verdict.untested_releases,
        deprecated=verdict.deprecating_releases,
        remembered=verdict.remembered_releases,
        right=_of_account(RightRecord, right) if right else None,
        fast=_of_account(FastRecord, fast, best=best) if fast else None,
    )


def _of_account(
    kind: type[_T], account: Verdict | RightReleases | FastReleases, **values: object
) -> _T:
    return record_of(
        kind, account, verdict=account.phrase, bracket=bracket_record(account.bracket), **values
    )


def _targets(report: Report) -> tuple[Target, ...]:
    """The targets of all results, each once."""
    targets = {
        (result.cell.target.name, result.cell.target.toolchain): result.cell.target
        for result in report.ordered_results
    }
    return tuple(targets[key] for key in sorted(targets, key=lambda key: (natural(key[0]), key[1])))


def _env(built: BuiltEnv) -> JsonObject:
    packages = tuple(sorted(built.packages, key=lambda package: package.name))
    record = record_of(EnvRecord, built, built.env, python=built.python_version, packages=packages)
    return with_names(unstructure(record), built.env)


# --- sources of kernels, and artifacts of failures ------------------------------------------------
#
# Nothing here reads a file: the caller provides the texts. Each text has a maximum size, and so do
# all together, so that a ``matrix.json`` can be opened and sent. A text that is left out still
# exists in its original place.

SOURCE_LIMIT = 256 * 1024
"""Maximum characters of an enclosed source."""
SOURCES_LIMIT = 1024 * 1024
"""Maximum characters of all enclosed sources."""
ATTACHMENT_LIMIT = 8 * 1024 * 1024
"""Maximum characters of an enclosed artifact."""
ATTACHMENTS_LIMIT = 1024 * 1024
"""Maximum bytes of all enclosed artifacts, in their form in the file."""

_BASE64 = lazy_pattern(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)


def enclosing(
    report: Report, source: Callable[[str], str | None], artifact: Callable[[str], str | None]
) -> Report:
    """The report with the texts that belong to it.

    ``source`` maps the absolute path of a file to its text. ``artifact`` maps the name of a stored
    artifact to its text, in a form that may be published. Both return ``None`` if there is no text.
    """
    return _with_texts(report, source, _attachments(report, artifact))


def within_bounds(report: Report) -> Report:
    """The report with its texts within the limits of one run.

    In a merged report, each run has used the limits for itself.
    """
    packed = (
        (name, report.attachments[name])
        for name in attachment_names(report)
        if name in report.attachments
    )
    return _with_texts(report, report.sources.get, packed)


def _with_texts(
    report: Report, source: Callable[[str], str | None], packed: Iterable[tuple[str, str]]
) -> Report:
    sources = dict(_fitting_texts(_sources(report, source), SOURCES_LIMIT))
    attachments = dict(_fitting_texts(packed, ATTACHMENTS_LIMIT))
    return evolve(report, sources=sources, attachments=attachments)


def is_packed(content: str) -> bool:
    """Whether a content has the form of attachments: base64 of gzip.

    They are in :attr:`~compat.report.summary.record.Report.attachments`.
    """
    try:
        return (
            _BASE64.fullmatch(content) is not None and base64.b64decode(content)[:2] == b"\x1f\x8b"
        )
    except binascii.Error:
        return False


def _sources(report: Report, text_of: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    """Texts by path: failing kernels, then the files that their failures point at, then others."""
    failing = {
        report.source_of(result.cell.spec): result.cell.spec.source
        for result in _failing(report.ordered_results)
    }
    others = {report.source_of(spec): spec.source for spec in report.specs}
    for path, absolute in (failing | _helper_files(report) | others).items():
        text = text_of(absolute) if absolute else None
        if text is not None and len(text) <= SOURCE_LIMIT:
            yield path, printable(text)


def _helper_files(report: Report) -> dict[str, str]:
    """The imported files that a failure may point at, by path."""
    names = {place[0] for result in _failing(report.ordered_results) if (place := place_of(result))}
    helpers = (path for paths in report.helpers.values() for path in paths)
    return {
        path: str(PurePath(report.root) / path) for path in helpers if PurePath(path).name in names
    }


def _failing(results: Iterable[Result]) -> Iterator[Result]:
    return (result for result in results if result.outcome.failure)


def attachment_names(report: Report) -> Iterator[str]:
    """The names of artifacts that belong to a report: those of each distinct failure's example."""
    named = (
        name
        for distinct in report.failures
        for name in (distinct.failure.reproducer, distinct.failure.ir)
    )
    return (name for name in named if name)


def _attachments(report: Report, text_of: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    for name in attachment_names(report):
        text = text_of(name)
        if text is not None and len(text) <= ATTACHMENT_LIMIT:
            yield name, _compress(text)


def _compress(text: str) -> str:
    return base64.b64encode(
        gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0)
    ).decode()


def _fitting_texts(texts: Iterable[tuple[str, str]], limit: int) -> Iterator[tuple[str, str]]:
    """The texts that fit in together.

    A text that does not fit is left out, and smaller ones after it may still fit.
    """
    included, room = set[str](), limit
    for name, text in texts:
        if name not in included and len(text) <= room:
            included.add(name)
            room -= len(text)
            yield name, text
