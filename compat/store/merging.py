"""Merging the store of another driver into this one: results, launches, and artifacts.

It also counts the artifacts that neither store has. The other store is read and never changed.

If both stores have a key and both rows have the same outcome, one row is kept. A row with an answer
replaces a row without one. If a limit cut a row short, a row with a larger limit replaces it, or a
row that finished. If two answers differ, the row keeps the attempts of both, one after the other,
and the cell is flaky. If two launches differ, one row names both outcomes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from attrs import Factory, evolve, frozen

from compat import toolchains
from compat.diagnosis import classify
from compat.errors import StoreError
from compat.files import content_of
from compat.model import Evidence, Outcome, Status, Target
from compat.model.outcome import LIMITED, fate_of
from compat.store.database import (
    LAYOUT,
    LaunchedRow,
    StoredRow,
    attempts_of,
    launch_rows_in,
    read_only_uri,
    row_of,
    rows_in,
)
from compat.store.store import Store
from compat.text import read_json, write_json
from compat.toolchains.base import Toolchain

_HINT = "Name a results.sqlite, or the .compat folder of a project."
_LARGEST = 1 << 30


@frozen(kw_only=True)
class StoreMerge:
    """The result of merging one store into another."""

    new: int = 0
    """Results that the store did not have."""
    known: int = 0
    """Results that both stores had."""
    unreadable: int = 0
    """Rows that this version cannot read."""
    disagreeing: tuple[str, ...] = ()
    """The cells with different results in the two stores."""
    artifacts: int = 0
    """Number of artifacts that the merged rows name and that neither store has."""

    def __add__(self, other: StoreMerge) -> StoreMerge:
        return StoreMerge(
            new=self.new + other.new,
            known=self.known + other.known,
            unreadable=self.unreadable + other.unreadable,
            disagreeing=tuple(dict.fromkeys((*self.disagreeing, *other.disagreeing))),
            artifacts=self.artifacts + other.artifacts,
        )


def is_store(path: Path) -> bool:
    """Whether a file, or ``results.sqlite`` in a folder, is an SQLite database of any program."""
    try:
        with (path / "results.sqlite" if path.is_dir() else path).open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def merge_store(path: Path, store: Store) -> StoreMerge:
    """Merge the store at ``path``, its file or its folder, into ``store``.

    Its artifacts are looked up beside the file. Raises StoreError if ``path`` is not a store of
    this version's layout, or cannot be read, or if ``store`` cannot take it.
    """
    file = path / "results.sqlite" if path.is_dir() else path
    if file.resolve() == (store.folder / "results.sqlite").resolve():
        raise StoreError("this is the store to merge into; name others", where=str(path))
    try:
        with closing(_open_for_reading(file)) as connection:
            _check_layout(connection, file)
            merged = StoreMerge()
            for page in rows_in(connection):
                merged += _Page(store=store, artifacts=file.parent / "artifacts", rows=page).merge()
            for launched in launch_rows_in(connection):
                merged += _merge_launched(launched, store)
            return merged
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's messages quote damaged names
        raise StoreError(
            f"cannot read the results: {error}", where=str(path), hint=_HINT
        ) from error


def _open_for_reading(file: Path) -> sqlite3.Connection:
    """Open the database for reading, with the changes that are in a file beside it."""
    if not file.is_file():
        raise StoreError("there is no such file", where=str(file), hint=_HINT)
    return sqlite3.connect(read_only_uri(file), uri=True, timeout=60)


def _check_layout(connection: sqlite3.Connection, file: Path) -> None:
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    if "evidence" not in tables:
        raise StoreError("it is not a store of results", where=str(file), hint=_HINT)
    if layout != LAYOUT:
        hint = "Merge stores with the version of triton-compat that wrote them, the same for all."
        raise StoreError(
            f"it has layout {layout}, and this version reads and writes {LAYOUT}",
            where=str(file),
            hint=hint,
        )


@frozen(kw_only=True)
class _Page:
    """A page of rows of the other store."""

    store: Store
    artifacts: Path
    rows: Sequence[tuple[StoredRow, str]]
    missing: list[str] = Factory(list)

    def merge(self) -> StoreMerge:
        own_rows = {row.key: row for row in self.store.rows([row.key for row, _ in self.rows])}
        put, disagreeing = list[tuple[StoredRow, str]](), list[str]()
        counted = {"new": 0, "known": 0, "unreadable": 0}
        for row, cell in self.rows:
            row_attempts = attempts_of(row)
            if not row_attempts:
                counted["unreadable"] += 1
                continue
            mine = own_rows.get(row.key)
            ours = attempts_of(mine) if mine else ()
            if mine is None or not ours:
                counted["new"] += 1
                self.copy_artifacts(row, row_attempts)
                put.append((row, cell))
                continue
            counted["known"] += 1
            chosen = self.choose_row(cell, mine, ours, row, row_attempts)
            if chosen is not mine:
                put.append((chosen, cell))
            if chosen is not mine and chosen is not row:
                disagreeing.append(cell)
        self.store.put(put)
        return StoreMerge(**counted, disagreeing=tuple(disagreeing), artifacts=len(self.missing))

    def choose_row(
        self,
        cell: str,
        mine: StoredRow,
        ours: Sequence[Evidence],
        row: StoredRow,
        row_attempts: Sequence[Evidence],
    ) -> StoredRow:
        """The row to keep for a cell: one of the two, or both in one."""
        if _has(ours, row_attempts):
            return mine
        toolchain = toolchains.look_up(row.toolchain)
        one, other = _outcome(cell, toolchain, ours), _outcome(cell, toolchain, row_attempts)
        if _has(row_attempts, ours) or _gives_way(one, ours, other, row_attempts):
            self.copy_artifacts(row, row_attempts)
            return row
        if _gives_way(other, row_attempts, one, ours) or fate_of(one) == fate_of(other):
            return mine
        self.copy_artifacts(row, row_attempts)
        both = [
            self.store.as_read(stored_row, attempts)
            for stored_row, attempts in ((mine, ours), (row, row_attempts))
        ]
        return row_of(row.key, toolchain, [evidence for attempts in both for evidence in attempts])

    def copy_artifacts(self, row: StoredRow, attempts: Sequence[Evidence]) -> None:
        """Store the artifacts that a row names, and note those that neither store has."""
        for name in dict.fromkeys(self.store.artifact_names_of(row, attempts)):
            if self.store.artifact(name) is None:
                data = content_of(self.artifacts / name, _LARGEST)
                if data is not None:
                    self.store.add({name: data})
                else:
                    self.missing.append(name)


def _has(attempts: Sequence[Evidence], others: Sequence[Evidence]) -> bool:
    return all(other in attempts for other in others)


def _outcome(cell: str, toolchain: Toolchain, attempts: Sequence[Evidence]) -> Outcome:
    """The outcome of attempts, for the target in the name of the cell if it has one."""
    name = cell.split("/")[-2] if cell.count("/") > 1 else ""
    unknown = Target(name=name, backend="", arch=name, warp_size=0, shared_memory=0)
    target = next((target for target in toolchain.device.targets if target.name == name), unknown)
    return classify.classify(attempts, target=target, knowledge=toolchain.failures)


def _gives_way(
    one: Outcome, ours: Sequence[Evidence], other: Outcome, other_attempts: Sequence[Evidence]
) -> bool:
    """Return whether the other result replaces the first one.

    It does if only it has an answer, or if a limit cut the first one short and the other one had a
    larger limit or ended.
    """
    if one.status.is_answer != other.status.is_answer:
        return other.status.is_answer
    if one.status not in LIMITED or one.flaky or other.flaky:
        return False
    return other.status not in LIMITED or _limit(ours) < _limit(other_attempts)


def _limit(attempts: Sequence[Evidence]) -> tuple[float, int]:
    return attempts[0].deadline or 0.0, attempts[0].memory or 0


# --- launches -------------------------------------------------------------------------------------


def _merge_launched(rows: Sequence[LaunchedRow], store: Store) -> StoreMerge:
    own_rows = {_place(row): row for row in store.launch_rows([row.identity for row in rows])}
    put, new, disagreeing = list[LaunchedRow](), 0, list[str]()
    for row in rows:
        mine = own_rows.get(_place(row))
        new += mine is None
        chosen = row if mine is None else _reconcile(mine, row)
        if chosen is not mine:
            put.append(chosen)
        if chosen is not mine and chosen is not row:
            disagreeing.append(row.cell)
    store.add_launched(put)
    return StoreMerge(new=new, known=len(rows) - new, disagreeing=tuple(disagreeing))


def _place(row: LaunchedRow) -> tuple[str, str, str]:
    return row.identity, row.problem, row.device


def _reconcile(mine: LaunchedRow, other: LaunchedRow) -> LaunchedRow:
    """Return the launch to keep of two for the same place: one of them, or one made of both.

    A launch whose numbers were compared replaces one whose numbers were not. If only one was right,
    the result is unstable. If both failed, and differently, the result has the failure in ``mine``,
    and a reason that names the other.
    """
    ours, theirs = _record_of(mine), _record_of(other)
    own_status, other_status = _status(ours), _status(theirs)
    if own_status in (other_status, Status.UNSTABLE):
        return mine
    if other_status == Status.UNSTABLE:
        return other
    for status, row in ((other_status, mine), (own_status, other)):
        if status is None or status == Status.UNSUPPORTED:
            return row
    if Status.OK not in (own_status, other_status):
        reason = str(_check(ours).get("reason") or own_status)
        note = f"{other_status} in another run"
        if note in reason:
            return mine
        return evolve(mine, result=_with_check(ours, reason=f"{reason}; {note}"))
    bad = theirs if own_status == Status.OK else ours
    reason = f"{_status(bad)} in one run, ok in another"
    return evolve(mine, result=_with_check(bad, status=str(Status.UNSTABLE), reason=reason))


def _with_check(record: Mapping[str, object], **changes: str) -> str:
    return write_json({**record, "check": {**_check(record), **changes}})


def _status(record: Mapping[str, object]) -> object:
    return _check(record).get("status")


def _record_of(row: LaunchedRow) -> Mapping[str, object]:
    try:
        record = read_json(row.result)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _check(record: Mapping[str, object]) -> Mapping[str, object]:
    check = record.get("check")
    return check if isinstance(check, dict) else {}
