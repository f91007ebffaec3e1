"""The record of a board, ``board.json``: every kernel on every release, and every failure.

One record is made of all reports. A row is a kernel of a library's version for a target. It has a
mark for each release. Marks and failures are what the site, the feed and ``compat board check`` are
made from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from attrs import Factory, evolve, field, frozen

from compat import __version__
from compat.board.data import BoardIndex
from compat.errors import StoreError
from compat.history.account import is_good
from compat.history.verdict import release_of
from compat.hunt.known import KnownDefect
from compat.model import Failure, Result, Specialization, Status
from compat.model.codec import RecordError, structure, unstructure
from compat.model.fields import KEY
from compat.report.summary.compact import explain_command, natural
from compat.report.summary.record import Report
from compat.text import JsonObject, read_json, write_json
from compat.toolchains import known_edits

SCHEMA = 1
GOOD, UNKNOWN, UNTRIED = 0, -1, -2
"""Marks of a kernel on a release: it works there, there is no answer, or it was not compiled there.
A larger mark is the number of a failure, from one.
"""


@frozen(kw_only=True)
class BoardFailure:
    """One fingerprint over all libraries."""

    fingerprint: str
    failure_class: str = field(metadata={KEY: "class"})
    status: str
    stage: str
    pass_: str | None = field(default=None, metadata={KEY: "pass"})
    words: str
    """The compiler's words."""
    advice: str
    edits: tuple[str, ...] = ()
    """The edits that are known for the class."""
    url: str = ""
    """Where it is known upstream."""
    note: str = ""
    example: str
    """The command that shows it again, for the smallest kernel."""
    cell: str
    """The id of that kernel's cell on the page of its library."""
    library: str
    """The library of that kernel."""
    dependent: int = 0
    """Kernels that it meets on some releases, and that work on others."""

    @property
    def slug(self) -> str:
        """The name of its page: the fingerprint as a file can be called."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.fingerprint)


@frozen(kw_only=True)
class BoardRow:
    """A case of a kernel of a library's version for a target, over the releases of the board."""

    AS_ARRAY = True

    kernel: str
    case: str
    """The case, after the variant if there are several of them."""
    target: str
    marks: tuple[int, ...]
    """A mark for each release of the board, in order."""


@frozen(kw_only=True)
class BoardVersion:
    """A version of a library."""

    version: str
    problem: str = ""
    """Why it has no kernels."""
    guessed: bool = True
    """Whether the arguments of its kernels are guessed, and not captured."""
    rows: tuple[BoardRow, ...] = ()

    @cached_property
    def kernels(self) -> Mapping[str, tuple[BoardRow, ...]]:
        """Kernel → its rows."""
        rows: dict[str, list[BoardRow]] = defaultdict(list)
        for row in self.rows:
            rows[row.kernel].append(row)
        return {kernel: tuple(group) for kernel, group in rows.items()}

    @cached_property
    def usable(self) -> frozenset[str]:
        """The kernels that work on some release. Guessed arguments may be wrong for the others."""
        places = range(len(self.rows[0].marks)) if self.rows else ()
        return frozenset(kernel for place in places for kernel in self.works(place))

    def mark(self, kernel: str, release: int) -> int:
        """The mark of a kernel for all targets: a failure before the unknown, that before good."""
        marks = {row.marks[release] for row in self.kernels[kernel]} - {UNTRIED}
        failures = [mark for mark in marks if mark > 0]
        return min(failures) if failures else min(marks, default=UNTRIED)

    def works(self, release: int) -> tuple[str, ...]:
        """The kernels that work on a release, for all targets that it has."""
        return tuple(kernel for kernel in self.kernels if self.mark(kernel, release) == GOOD)

    def tried(self, release: int) -> int:
        """How many of the usable kernels were compiled on a release."""
        return sum(self.mark(kernel, release) != UNTRIED for kernel in self.usable)

    def unknown(self, release: int) -> int:
        """How many kernels have no answer on a release."""
        return sum(self.mark(kernel, release) == UNKNOWN for kernel in self.kernels)

    def lost(self, before: int, release: int) -> Mapping[str, int]:
        """Kernel → the number of its failure, of kernels that work on a release and not on another.

        Both releases are given by their places on the board.
        """
        pairs = ((kernel, self.mark(kernel, release)) for kernel in self.works(before))
        return {kernel: mark for kernel, mark in pairs if mark > 0}


@frozen(kw_only=True)
class BoardLibraryRecord:
    """A library with its versions, the oldest first."""

    name: str
    versions: tuple[BoardVersion, ...]

    @property
    def newest(self) -> BoardVersion:
        """Its newest version."""
        return self.versions[-1]


@frozen(kw_only=True)
class Affected:
    """A kernel that a failure meets."""

    library: str
    version: str
    kernel: str
    targets: tuple[str, ...]
    releases: tuple[str, ...]


@frozen(kw_only=True)
class BoardRecord:
    """Everything that a board knows."""

    schema: int = SCHEMA
    tool: str = __version__
    toolchain: str
    """The title of the toolchain."""
    releases: tuple[str, ...]
    """The releases, the oldest first."""
    targets: tuple[str, ...]
    libraries: tuple[BoardLibraryRecord, ...]
    failures: tuple[BoardFailure, ...] = Factory(tuple)
    """In the order of their numbers. Those that depend on the release are first."""

    def place(self, release: str) -> int:
        """The place of a release on the board. Raises KeyError."""
        try:
            return self.releases.index(release)
        except ValueError:
            raise KeyError(release) from None

    def library(self, name: str) -> BoardLibraryRecord | None:
        """A library by its name."""
        return next((library for library in self.libraries if library.name == name), None)

    @cached_property
    def affected(self) -> Mapping[int, tuple[Affected, ...]]:
        """Number of a failure → the kernels that it meets."""
        every: dict[int, list[Affected]] = defaultdict(list)
        for library in self.libraries:
            for version in library.versions:
                for kernel in version.kernels:
                    for number, met in self._met(version, kernel).items():
                        targets, places = met
                        every[number].append(
                            Affected(
                                library=library.name,
                                version=version.version,
                                kernel=kernel,
                                targets=tuple(sorted(targets)),
                                releases=tuple(self.releases[place] for place in sorted(places)),
                            )
                        )
        return {number: tuple(every[number]) for number in sorted(every)}

    @staticmethod
    def _met(version: BoardVersion, kernel: str) -> Mapping[int, tuple[set[str], set[int]]]:
        met: dict[int, tuple[set[str], set[int]]] = defaultdict(lambda: (set(), set()))
        for row in version.kernels[kernel]:
            for place, mark in enumerate(row.marks):
                if mark > 0:
                    met[mark][0].add(row.target)
                    met[mark][1].add(place)
        return met


def board_record(
    reports: Iterable[tuple[str, str, Report]], index: BoardIndex, known: Sequence[KnownDefect]
) -> BoardRecord:
    """The record of all reports.

    Args:
        reports: Library, version and report, as :meth:`compat.board.data.BoardData.reports` has
            them.
        index: What the reports cover.
        known: The failures that are known upstream.
    """
    gathered = _Gathered(known)
    rows = {
        (library, version): gathered.add(library, version, report)
        for library, version, report in reports
    }
    releases, dependent = gathered.releases, _dependent(rows)
    numbers = gathered.numbers(dependent, _fates(rows))
    return BoardRecord(
        toolchain=gathered.toolchain,
        releases=releases,
        targets=tuple(sorted(gathered.targets, key=natural)),
        failures=tuple(
            evolve(gathered.failures[fingerprint], dependent=dependent[fingerprint])
            for fingerprint in numbers
        ),
        libraries=tuple(
            BoardLibraryRecord(
                name=library,
                versions=tuple(
                    BoardVersion(
                        version=version,
                        problem=compiled.problem,
                        guessed=gathered.guessed.get((library, version), True),
                        rows=tuple(
                            _row(row, releases, numbers)
                            for row in rows.get((library, version), {}).items()
                        ),
                    )
                    for version, compiled in versions.items()
                ),
            )
            for library, versions in index.libraries.items()
        ),
    )


class _Gathered:
    """What the reports say, gathered one after the other."""

    def __init__(self, known: Sequence[KnownDefect]) -> None:
        self.known = {failure.fingerprint: failure for failure in known}
        self.failures: dict[str, BoardFailure] = {}
        self.guessed: dict[tuple[str, str], bool] = {}
        self.targets: set[str] = set()
        self.toolchain = ""
        self._size: dict[str, tuple[object, ...]] = {}
        self._kernels: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._releases: dict[str, tuple[object, ...]] = {}

    def add(self, library: str, version: str, report: Report) -> dict[_RowKey, dict[str, str]]:
        """Kernel, case and target → release → fingerprint, or what else is known there."""
        self.toolchain = self.toolchain or report.toolchains
        self._releases.update({release.label: release.order for release in report.releases})
        self.guessed[library, version] = all(spec.guessed for spec in report.specs)
        rows: dict[_RowKey, dict[str, str]] = defaultdict(dict)
        for result in report.ordered:
            spec, target = result.cell.spec, result.cell.target.name
            self.targets.add(target)
            fate, release = self._fate(result), release_of(result.built).label
            row = rows[spec.kernel, _case(spec, f"{library}-{version}"), target]
            row[release] = min(row.get(release, fate), fate, key=_rank)
            if result.outcome.failure is not None and _rank(fate) == 0:
                self._kernels[fate].add((library, spec.kernel))
                self._note(library, result, report)
        return rows

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases of all reports, the oldest first."""
        return tuple(sorted(self._releases, key=self._releases.__getitem__))

    def numbers(self, dependent: Mapping[str, int], fates: Collection[str]) -> Mapping[str, int]:
        """Fingerprint → number, from one, of those among the fates of rows.

        The failure that meets most kernels that work on other releases is the first.
        """
        order = sorted(
            self.failures.keys() & fates,
            key=lambda name: (-dependent[name], -len(self._kernels[name]), name),
        )
        return {fingerprint: number for number, fingerprint in enumerate(order, 1)}

    @staticmethod
    def _fate(result: Result) -> str:
        outcome = result.outcome
        if is_good(outcome):
            return _GOOD
        if outcome.status is Status.UNSUPPORTED:
            return _UNTRIED
        if not outcome.status.is_answer or outcome.failure is None:
            return _UNKNOWN
        return outcome.failure.fingerprint

    def _note(self, library: str, result: Result, report: Report) -> None:
        """Keep a failure, with the kernel of the newest release that has the fewest arguments."""
        failure, cell = result.outcome.failure, result.cell
        assert failure is not None
        size = (
            -self._place(result),
            len(cell.spec.compile.signature) + len(cell.spec.compile.constexprs),
            cell.id,
        )
        if failure.fingerprint in self._size and self._size[failure.fingerprint] <= size:
            return
        self._size[failure.fingerprint] = size
        self.failures[failure.fingerprint] = self._failure(library, failure, result, report)

    def _place(self, result: Result) -> int:
        order = sorted(self._releases.values())
        return order.index(release_of(result.built).order)

    def _failure(
        self, library: str, failure: Failure, result: Result, report: Report
    ) -> BoardFailure:
        known = self.known.get(failure.fingerprint)
        return BoardFailure(
            fingerprint=failure.fingerprint,
            failure_class=failure.failure_class,
            status=str(result.outcome.status),
            stage=failure.stage,
            pass_=failure.pass_,
            words=failure.excerpt,
            advice=failure.advice,
            edits=tuple(edit.name for edit in known_edits(failure, result.cell.env.toolchain)),
            url=known.url if known else "",
            note=known.note if known else "",
            example=explain_command(result.cell, report.options),
            cell=result.cell.id,
            library=library,
        )


_RowKey = tuple[str, str, str]
"""Kernel, case and target."""
_GOOD, _UNKNOWN, _UNTRIED = "good", "unknown", "untried"
"""What else than a fingerprint is known of a kernel on a release."""
_RANKS = (_UNKNOWN, _GOOD, _UNTRIED)
_MARKS: Mapping[str, int] = {_GOOD: GOOD, _UNKNOWN: UNKNOWN, _UNTRIED: UNTRIED}


_Rows = Mapping[tuple[str, str], Mapping[_RowKey, Mapping[str, str]]]
"""Library and version → kernel, case and target → release → fate."""


def _fates(rows: _Rows) -> frozenset[str]:
    """The fates in all rows. Of two envs of one release, a row has one fate."""
    return frozenset(
        fate
        for of_version in rows.values()
        for fates in of_version.values()
        for fate in fates.values()
    )


def _dependent(rows: _Rows) -> Mapping[str, int]:
    """Fingerprint → the kernels that it meets on some releases, and that work on others."""
    kernels: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for (library, _), of_version in rows.items():
        for (kernel, _, _), fates in of_version.items():
            if _GOOD in fates.values():
                for fate in fates.values():
                    kernels[fate].add((library, kernel))
    return defaultdict(int, {fate: len(those) for fate, those in kernels.items()})


def _case(spec: Specialization, version: str) -> str:
    """The name of a case on the board: without the version, which all have."""
    variant = spec.variant.removesuffix(version).removesuffix("-")
    return f"{variant}/{spec.case}" if variant else spec.case


def _rank(fate: str) -> int:
    """A failing case decides on the kernel, then one without an answer."""
    return 1 + _RANKS.index(fate) if fate in _RANKS else 0


def _row(
    row: tuple[_RowKey, Mapping[str, str]], releases: Sequence[str], numbers: Mapping[str, int]
) -> BoardRow:
    (kernel, case, target), fates = row
    found = (fates.get(release, _UNTRIED) for release in releases)
    return BoardRow(
        kernel=kernel,
        case=case,
        target=target,
        marks=tuple(numbers[fate] if fate in numbers else _MARKS[fate] for fate in found),
    )


def board_document(record: BoardRecord) -> JsonObject:
    """The record as data."""
    document: JsonObject = unstructure(record)
    return document


def board_json(record: BoardRecord) -> str:
    """The text of ``board.json``."""
    return write_json(board_document(record), indent=None) + "\n"


def read_record(content: bytes, where: str) -> BoardRecord:
    """The record in a ``board.json``.

    Raises:
        StoreError: The content is not such a record, or of another version.
    """
    try:
        record = structure(read_json(content), BoardRecord)
    except (RecordError, ValueError) as error:
        raise StoreError(f"this is not the record of a board: {error}", where=where) from error
    if record.schema != SCHEMA:
        raise StoreError(
            f"it has schema {record.schema}, and this version reads schema {SCHEMA}", where=where
        )
    return record
