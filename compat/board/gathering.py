"""The record of a board, gathered from the reports of all versions of all libraries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from attrs import evolve

from compat.board.data import BoardData, BoardIndex
from compat.board.declaration import BoardDeclaration
from compat.board.record import (
    GOOD,
    UNKNOWN,
    UNTRIED,
    BoardFailure,
    BoardLibraryRecord,
    BoardRecord,
    BoardRow,
    BoardVersion,
)
from compat.config.kernel_files import ONLY_VARIANT
from compat.history.account import is_good
from compat.history.verdict import release_of
from compat.hunt.known_defects import KNOWN_FILE, KnownDefect, read_known
from compat.model import Failure, Result, Specialization, Status
from compat.model.codec import record_of
from compat.report.summary.compact import explain_command, natural
from compat.report.summary.record import Report
from compat.toolchains import known_edits


def record_of_board(board: BoardDeclaration) -> BoardRecord:
    """Make the record of a board from its data.

    Raises:
        ConfigError: ``known.toml`` in its folder is invalid.
        StoreError: A report cannot be read.
    """
    data, path = BoardData(board.folder), board.folder / KNOWN_FILE
    index = data.index()
    return board_record(data.reports(index), index, read_known(path) if path.exists() else ())


def board_record(
    reports: Iterable[tuple[str, str, Report]], index: BoardIndex, defects: Sequence[KnownDefect]
) -> BoardRecord:
    """The record of all reports.

    Args:
        reports: Library, version and report, as :meth:`compat.board.data.BoardData.reports` yields
            them.
        index: What the reports cover.
        defects: The failures that are known upstream.
    """
    gathered = _GatheredReports(defects)
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
                        guessed=gathered.guessed.get((library, version), 0),
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


class _GatheredReports:
    """Gathers the facts of reports, one report after the other."""

    def __init__(self, defects: Sequence[KnownDefect]) -> None:
        self.known_defects = {failure.fingerprint: failure for failure in defects}
        self.failures: dict[str, BoardFailure] = {}
        self.guessed: dict[tuple[str, str], int] = {}
        self.targets: set[str] = set()
        self.toolchain = ""
        self._size: dict[str, tuple[object, ...]] = {}
        self._kernels: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._releases: dict[str, tuple[object, ...]] = {}

    def add(self, library: str, version: str, report: Report) -> dict[_RowKey, dict[str, str]]:
        """Add a report; return kernel, case and target → release → fate.

        A fate is the fingerprint of a failure, or one of the other fates.
        """
        self.toolchain = self.toolchain or report.toolchains
        self._releases.update({release.label: release.order for release in report.releases})
        self.guessed[library, version] = len({spec.kernel for spec in report.specs if spec.guessed})
        rows: dict[_RowKey, dict[str, str]] = defaultdict(dict)
        for result in report.ordered_results:
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
        """Fingerprint → number, from one, for the failures among the fates of rows.

        The failures of the most kernels that work on other releases come first.
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
        """Keep a failure, with an example: on the newest release, the one with fewest arguments."""
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
        defect = self.known_defects.get(failure.fingerprint)
        return record_of(
            BoardFailure,
            failure,
            status=str(result.outcome.status),
            message=failure.excerpt,
            edits=tuple(edit.name for edit in known_edits(failure, result.cell.env.toolchain)),
            url=defect.url if defect else "",
            note=defect.note if defect else "",
            example=explain_command(result.cell, report.options),
            cell=result.cell.id,
            library=library,
        )


_RowKey = tuple[str, str, str]
"""Kernel, case and target."""
_GOOD, _UNKNOWN, _UNTRIED = "good", "unknown", "untried"
"""The fates of a kernel on a release that are not fingerprints of failures."""
_RANKS = (_UNKNOWN, _GOOD, _UNTRIED)
_MARKS: Mapping[str, int] = {_GOOD: GOOD, _UNKNOWN: UNKNOWN, _UNTRIED: UNTRIED}


_Rows = Mapping[tuple[str, str], Mapping[_RowKey, Mapping[str, str]]]
"""Library and version → kernel, case and target → release → fate."""


def _fates(rows: _Rows) -> frozenset[str]:
    """The fates in all rows. Two envs of one release share one fate in a row."""
    return frozenset(
        fate
        for of_version in rows.values()
        for fates in of_version.values()
        for fate in fates.values()
    )


def _dependent(rows: _Rows) -> Mapping[str, int]:
    """Fingerprint → the number of kernels that have it on some releases and work on others."""
    kernels: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for (library, _), of_version in rows.items():
        for (kernel, _, _), fates in of_version.items():
            if _GOOD in fates.values():
                for fate in fates.values():
                    kernels[fate].add((library, kernel))
    return defaultdict(int, {fate: len(those) for fate, those in kernels.items()})


def _case(spec: Specialization, version: str) -> str:
    """The name of a case on the board, without the library's version at the end of the variant."""
    variant = spec.variant.removesuffix(version).removesuffix("-")
    return spec.case if variant in ("", ONLY_VARIANT) else f"{variant}/{spec.case}"


def _rank(fate: str) -> int:
    """The rank of a fate, the lowest first: failures, then results without an answer."""
    return 1 + _RANKS.index(fate) if fate in _RANKS else 0


def _row(
    row: tuple[_RowKey, Mapping[str, str]], releases: Sequence[str], numbers: Mapping[str, int]
) -> BoardRow:
    (kernel, case, target), fates = row
    release_fates = (fates.get(release, _UNTRIED) for release in releases)
    return BoardRow(
        kernel=kernel,
        case=case,
        target=target,
        marks=tuple(numbers[fate] if fate in numbers else _MARKS[fate] for fate in release_fates),
    )
