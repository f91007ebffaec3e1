"""The records that a ``matrix.json`` consists of: what is written, what is read, and what its schema is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from attrs import field, frozen
from packaging.version import Version

from compat.api.histories import Packed
from compat.cell_document import FRAMEWORK, RELEASE, CellRecord
from compat.fields import KEY, OPTIONAL, Amount, Count, Releases, Seconds, Text, VersionText, rules
from compat.history.account import Bracket, Change, Interval, Word
from compat.history.running import Fast, Right
from compat.history.verdict import Verdict
from compat.model import CompileSpec, Package, Status, Target
from compat.pairs.records import Pair
from compat.records import record_of
from compat.report.summary.versions import LibraryVersion

_T = TypeVar("_T")
SCHEMA: Literal[2] = 2
"""The version of the format; a key may be added within one, but none goes away or changes its meaning."""
_Positive = Annotated[int, rules(minimum=1)]
_Versions = Annotated[tuple[Version, ...], rules(uniqueItems=True)]
_VersionTexts = Annotated[tuple[VersionText, ...], rules(uniqueItems=True)]
_Shard = Annotated[str, rules(pattern="^[1-9][0-9]*/[1-9][0-9]*$")]


@frozen(kw_only=True)
class ToolRecord:
    """What wrote the file."""

    name: Literal["triton-compat"] = "triton-compat"
    version: str


@frozen(kw_only=True)
class SummaryRecord:
    """How many there are."""

    cells: Count
    statuses: Mapping[Status, _Positive]
    unexpected: Count
    cached: Count
    failures: Annotated[Count, rules(description="Distinct failures, by fingerprint.")]
    edits_known: Annotated[Count, rules(description="Of how many of them the class has a known edit; none was compiled for it.")]


@frozen(kw_only=True)
class StatementRecord:
    """A sentence on what the matrix shows."""

    text: Text
    because: str


@frozen(kw_only=True)
class BracketRecord:
    """A change between good and bad: the known releases around it, and those between them of which nothing certain is known."""

    last_good: str | None
    first_bad: str | None
    last_bad: str | None
    first_good: str | None
    untested: Releases


@frozen(kw_only=True)
class _RunRecord:
    """What releases on which a kernel was run say together."""

    verdict: Text
    word: Word
    release: str | None
    bracket: BracketRecord | None
    good: Releases
    bad: Releases


@frozen(kw_only=True)
class RightRecord(_RunRecord):
    """Where its numbers are right."""

    by: tuple[Text, ...]


@frozen(kw_only=True)
class BestRecord:
    """The release where a launch takes least."""

    release: Text
    us: Amount


@frozen(kw_only=True)
class FastRecord(_RunRecord):
    """Where it is fast."""

    device: str
    best: BestRecord


@frozen(kw_only=True)
class VerdictRecord:
    """What the releases together say of a kernel."""

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
    """A kernel in one variant and case, and where it is."""

    kernel: Text
    variant: Text
    case: Text
    toolchain: Text
    source: str
    function: str
    package: Annotated[
        str, rules(description="The library of the package index that it is of, with its version; empty for any other source.")
    ]
    origin: str
    summary: str
    compile: Annotated[CompileSpec, rules(description="Open: what a compile is told of the arguments.")]


@frozen(kw_only=True)
class SourceRecord:
    """The text of a kernel's source."""

    path: Text
    text: str


@frozen(kw_only=True)
class AttachmentRecord:
    """What a kept artifact holds."""

    name: Text
    gzip: Annotated[str, rules(contentEncoding="base64")]


@frozen(kw_only=True)
class TallyRecord:
    """What became of the kernels of a library's version on one release."""

    release: Text
    compile: Count
    fail: Count
    unknown: Annotated[Count, rules(description="Kernels of which nothing is known there.")]
    classes: Mapping[str, _Positive]


@frozen(kw_only=True)
class LibraryRecord:
    """One version of a library whose kernels were compiled."""

    package: Text
    version: Text
    kernels: Count
    releases: tuple[TallyRecord, ...]


@frozen(kw_only=True)
class MatrixRecord:
    """The whole file."""

    schema: Literal[2] = SCHEMA
    tool: ToolRecord
    command: Annotated[str, rules(description="The command line that made the document.")]
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
    """Kernel → its variants, in the order in which they are declared."""
    targets: tuple[Target, ...]
    sources: tuple[SourceRecord, ...]
    attachments: tuple[AttachmentRecord, ...]
    packages: tuple[LibraryRecord, ...]
    existing: Mapping[str, _Versions]
    pairs: tuple[Pair, ...]
    api: Packed | None = field(default=None, metadata={OPTIONAL: True})


def bracket_record(bracket: Bracket | None) -> BracketRecord | None:
    """The record of a change; ``None`` where there is none."""
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
    """The record of what the releases together say of a kernel."""
    right, fast = verdict.right, verdict.fast
    best = BestRecord(release=fast.best, us=fast.best_us) if fast else None
    return _of_account(
        VerdictRecord,
        verdict,
        since=bracket_record(verdict.since),
        right=_of_account(RightRecord, right) if right else None,
        fast=_of_account(FastRecord, fast, best=best) if fast else None,
    )


def _of_account(kind: type[_T], account: Verdict | Right | Fast, **values: Any) -> _T:
    return record_of(kind, account, verdict=account.phrase, bracket=bracket_record(account.bracket), **values)


def library_record(library: LibraryVersion) -> LibraryRecord:
    """The record of one version of a library."""
    releases = tuple(record_of(TallyRecord, tally, release=release) for release, tally in library.releases.items())
    return record_of(LibraryRecord, library, package=library.name, releases=releases)
