"""The SQLite file of results, and the evidence in its rows.

A file that is not a store of this program is put aside.

SQLite detects damage when it reads the damaged part, perhaps in the middle of a run.
:class:`DamagedDatabase` is raised then, and for a file that is not a store. :func:`put_aside`
renames such a file and removes nothing.

The evidence in a row is raw facts. The readings of the evidence (:mod:`compat.diagnosis.pipeline`)
are in other columns, with the version of their reader, so that they are not computed twice. Another
version of the reader reads the evidence again.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from attrs import Factory, evolve, frozen

from compat import toolchains
from compat.files import alone_in
from compat.model import Diagnosis, Evidence
from compat.model.codec import structure, unstructure
from compat.model.evidence import within_bounds
from compat.text import read_json, readable
from compat.toolchains.base import Toolchain

LAYOUT = 4
"""The version of the file's layout, and of the content of its rows."""
TIMEOUT = 60.0
"""Seconds to wait for another process that writes."""
_ROW = ("toolchain", "attempts", "reader", "readings")
"""The columns of a :class:`StoredRow` without its key."""
_COLUMNS = {"key": "TEXT PRIMARY KEY", "cell": "TEXT", **dict.fromkeys(_ROW, "TEXT")}
_LAUNCHED = dict.fromkeys(("identity", "problem", "device", "cell", "object", "result"), "TEXT")
"""The columns of the table of launches."""
_DAMAGED = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_SCHEMA,
}
_DAMAGE = ("no such table", "no such column", "table evidence has", "table launched has")
"""The beginnings of SQLite's messages about files that are not stores, or no longer."""
_BESIDE = ("-wal", "-shm")
"""SQLite's own files beside the database. Without them SQLite would read it wrongly."""
PAGE = 1000
"""Rows that are read at once."""
_T = TypeVar("_T")


_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PAUSE = 0.02


class DamagedDatabase(Exception):
    """The file is not a store of this program, or no longer one.

    The message completes a sentence that begins with the name of the file.
    """


class OtherLayout(Exception):
    """Another version of this program wrote the file."""


@frozen(kw_only=True)
class StoredRow:
    """The evidence on one cell, and its readings."""

    key: str
    toolchain: Any
    """The name of the toolchain of the attempts."""
    attempts: Any
    reader: Any = None
    """The version of the reader that made the readings (:func:`compat.toolchains.reading_version`).

    ``None`` if there was nothing to read.
    """
    readings: Any = None


@frozen(kw_only=True)
class LaunchedRow:
    """The result of launching one cell on one GPU."""

    identity: str
    """The identity of the cell (:func:`compat.launch.building.identity_of`)."""
    problem: str
    """The digest of its problem."""
    device: str
    """The name of the GPU."""
    cell: str
    """The cell's id, for people who look into the file."""
    object: str
    """The hash of the launched binary."""
    result: str
    """The result, as JSON."""


class Database:
    """One connection to the file. Used by one thread at a time."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the file, or create it.

        A ``read_only`` file must exist, and may be in a folder where nothing can be written. Raises
        DamagedDatabase, OtherLayout, ``OSError`` and ``sqlite3.Error``.
        """
        self.path, self.read_only = path, read_only
        _check_file(path)
        name = read_only_uri(path) if read_only else os.fspath(path)
        self._connection = sqlite3.connect(
            name, timeout=TIMEOUT, check_same_thread=False, isolation_level=None, uri=read_only
        )
        self._connection.text_factory = text_or_bytes
        try:
            self._execute(self._prepare_with_retries)
        except BaseException:
            self._connection.close()
            raise

    def _prepare_with_retries(self) -> None:
        """Prepare the file, and try again while other processes prepare it.

        SQLite does not wait if two processes switch one file to WAL at the same time.
        """
        give_up = time.monotonic() + TIMEOUT
        while True:
            try:
                return self._prepare()
            except sqlite3.OperationalError as error:
                if code_of(error) not in _BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(_PAUSE)

    def _prepare(self) -> None:
        run = self._connection.execute
        (layout,) = run("PRAGMA user_version").fetchone()
        if layout not in (0, LAYOUT):  # 0: a new file
            raise OtherLayout(f"it has layout {layout}, and this version reads and writes {LAYOUT}")
        tables = {name for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "evidence" not in tables:
            raise DamagedDatabase("is not a store of results")
        if self.read_only:
            return
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=NORMAL")  # survives the process; a power cut may lose the last rows
        columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        run(f"CREATE TABLE IF NOT EXISTS evidence ({columns}) WITHOUT ROWID")
        columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in _LAUNCHED.items())
        run(
            f"CREATE TABLE IF NOT EXISTS launched ({columns}, PRIMARY KEY (identity, problem,"
            " device)) WITHOUT ROWID"
        )
        for table, names in (("evidence", _COLUMNS), ("launched", _LAUNCHED)):
            if {row[1] for row in run(f"PRAGMA table_info({table})")} != names.keys():
                raise DamagedDatabase("is not a store of results")
        if layout != LAYOUT:
            run(f"PRAGMA user_version = {LAYOUT}")

    def rows(self, keys: Sequence[str]) -> list[StoredRow]:
        """The rows with these keys, without keys that the file does not have."""
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, {', '.join(_ROW)} FROM evidence WHERE key IN ({marks})"
        rows = self._execute(lambda: self._connection.execute(query, keys).fetchall())
        return [StoredRow(key=key, **dict(zip(_ROW, row, strict=True))) for key, *row in rows]

    def seconds(self, kernels: Sequence[str], after: str) -> list[tuple[str, str, float]]:
        """Return the first :data:`PAGE` rows of cells of these kernels after a key.

        Each is the key, the id of the cell, and the seconds that all attempts took. Rows that no
        version of this program has written are left out.
        """
        took = (
            "(SELECT total(json_extract(value, '$.seconds')) FROM json_each(attempts) WHERE type ="
            " 'object')"
        )
        clause = (
            "typeof(cell) = 'text' AND substr(cell, 1, instr(cell, '/') - 1) IN"
            f" ({', '.join('?' * len(kernels))})"
        )
        good = "typeof(attempts) = 'text' AND json_valid(attempts)"
        query = (
            f"SELECT key, cell, {took} FROM evidence WHERE key > ? AND {clause} AND {good} ORDER BY"
            f" key LIMIT {PAGE}"
        )
        return self._execute(lambda: self._connection.execute(query, (after, *kernels)).fetchall())

    def add(self, rows: Sequence[tuple[StoredRow, str]]) -> None:
        """Insert or replace rows, all or none.

        Each comes with the name of its cell, for people who look into the file.
        """
        values = [
            (row.key, cell, row.toolchain, row.attempts, row.reader, row.readings)
            for row, cell in rows
        ]
        query = f"INSERT OR REPLACE INTO evidence VALUES ({', '.join('?' * len(_COLUMNS))})"
        if len(values) == 1:
            self._execute(lambda: self._connection.execute(query, values[0]))
        else:
            self._add_together(query, values)

    def reread(self, row: StoredRow) -> None:
        """Replace the readings of a row if its evidence is still the same.

        Does nothing if the file is read-only.
        """
        if self.read_only:
            return
        query = "UPDATE evidence SET reader = ?, readings = ? WHERE key = ? AND attempts = ?"
        self._execute(
            lambda: self._connection.execute(
                query, (row.reader, row.readings, row.key, row.attempts)
            )
        )

    def launch_rows(self, identities: Sequence[str]) -> list[LaunchedRow]:
        """The launch results of the cells with these identities."""
        marks = ",".join("?" * len(identities))
        query = f"SELECT {', '.join(_LAUNCHED)} FROM launched WHERE identity IN ({marks})"
        rows = self._execute(lambda: self._connection.execute(query, tuple(identities)).fetchall())
        return [LaunchedRow(**dict(zip(_LAUNCHED, row, strict=True))) for row in rows]

    def add_launched(self, rows: Sequence[LaunchedRow]) -> None:
        """Insert or replace rows of launches, all or none."""
        values = [tuple(getattr(row, name) for name in _LAUNCHED) for row in rows]
        self._add_together(
            f"INSERT OR REPLACE INTO launched VALUES ({', '.join('?' * len(_LAUNCHED))})", values
        )

    def _add_together(self, query: str, values: Sequence[Sequence[object]]) -> None:
        def add() -> None:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(query, values)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

        self._execute(add)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _execute(self, ask: Callable[[], _T]) -> _T:
        try:
            return ask()
        except UnicodeDecodeError as error:  # SQLite's message quotes a damaged name
            raise DamagedDatabase("is damaged (a name is not UTF-8)") from error
        except sqlite3.Error as error:
            if _says_damaged(error):
                raise DamagedDatabase(f"is damaged ({error})") from error
            raise


def text_or_bytes(data: bytes) -> str | bytes:
    """A text as it is stored, or its bytes if it is not UTF-8. Readers refuse bytes like a blob."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def rows_in(connection: sqlite3.Connection) -> Iterator[list[tuple[StoredRow, str]]]:
    """Yield all rows of evidence in a database, each with the name of its cell, one page at a time.

    The database is only read.
    """
    last = ""
    query = (
        f"SELECT key, cell, {', '.join(_ROW)} FROM evidence WHERE key > ? ORDER BY key LIMIT {PAGE}"
    )
    while page := connection.execute(query, (last,)).fetchall():
        last = page[-1][0]
        yield [
            (StoredRow(key=key, **dict(zip(_ROW, row, strict=True))), str(cell))
            for key, cell, *row in page
        ]


def launch_rows_in(connection: sqlite3.Connection) -> Iterator[list[LaunchedRow]]:
    """All rows of launches in a database, one page at a time."""
    cursor = connection.execute(f"SELECT {', '.join(_LAUNCHED)} FROM launched")
    while some := cursor.fetchmany(PAGE):
        yield [LaunchedRow(**dict(zip(_LAUNCHED, row, strict=True))) for row in some]


def put_aside(path: Path) -> Path | None:
    """Rename a database that cannot be used, and SQLite's files beside it; return the new name.

    The new name says that it is damaged. Returns ``None`` if another process has put it aside
    already, and the file is fine now. Raises ``OSError``.
    """
    # Two processes may find the same damage. Without the lock, the second one would put the new
    # file of the first one aside.
    with alone_in(path.parent):
        if _is_fine(path):
            return None
        name = f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
        names = (f"{name}{f'-{number}' if number else ''}" for number in count())
        aside = next(
            candidate for name in names if not os.path.lexists(candidate := path.with_name(name))
        )
        for suffix in ("", *_BESIDE):
            with suppress(FileNotFoundError):
                Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
        return aside


def _check_file(path: Path) -> None:
    """Raise DamagedDatabase for files that SQLite would wait for, or fail on without a reason."""
    for file in (path, *(path.with_name(path.name + suffix) for suffix in _BESIDE)):
        try:
            mode = file.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            if file.is_symlink():  # a loop of links
                raise DamagedDatabase("is a broken link") from error
            raise
        if not stat.S_ISREG(mode):
            raise DamagedDatabase(
                "is not a file"
                if file == path
                else f"has {file.name} beside it, which is not a file"
            )


def read_only_uri(path: Path) -> str:
    """Return the URI with which SQLite opens a file only for reading.

    Changes that are not yet in the file are in files beside it. Without those, SQLite needs none,
    and perhaps cannot create them there.
    """
    beside = any(path.with_name(path.name + suffix).exists() for suffix in _BESIDE)
    return f"{path.absolute().as_uri()}?mode=ro{'' if beside else '&immutable=1'}"


def _is_fine(path: Path) -> bool:
    """Whether the file can be used after all. The check reads all of its pages."""
    try:
        database = Database(path)
    except (DamagedDatabase, OtherLayout, OSError, sqlite3.Error) as error:
        return not isinstance(error, DamagedDatabase)
    try:
        rows: list[tuple[str]] = database._execute(
            lambda: database._connection.execute("PRAGMA integrity_check(1)").fetchall()
        )
    except (DamagedDatabase, sqlite3.Error):
        return False
    finally:
        database.close()
    return rows == [("ok",)]


def _says_damaged(error: sqlite3.Error) -> bool:
    return code_of(error) in _DAMAGED or str(error).startswith(_DAMAGE)


def code_of(error: sqlite3.Error) -> int | None:
    """SQLite's code of an error; ``None`` for errors of Python's own."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def lacks_memory(error: sqlite3.Error) -> bool:
    """Whether SQLite has no memory left.

    If the shell limits memory (`ulimit -v`), SQLite reports an I/O error when it cannot map the
    memory that it shares with other processes.
    """
    code = getattr(error, "sqlite_errorcode", None)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return code == sqlite3.SQLITE_IOERR_NOMEM or (
        code == sqlite3.SQLITE_IOERR_SHMMAP and limit != resource.RLIM_INFINITY
    )


# --- evidence in rows -----------------------------------------------------------------------------

_UNREADABLE = (ValueError, AttributeError)
"""The exceptions for a column without text, or with text that does not have the form of a row."""


@frozen(kw_only=True)
class Reading:
    """The readings of the evidence of one attempt; empty for an attempt that ended ok."""

    stderr: str = ""
    diagnosis: Diagnosis = Factory(Diagnosis)


def row_of(key: str, toolchain: Toolchain, attempts: Sequence[Evidence]) -> StoredRow:
    """The row for attempts that have been read by the toolchain's reader."""
    text = json.dumps([unstructure(evidence, compact=True) for evidence in attempts])
    if all(evidence.complete for evidence in attempts):
        return StoredRow(key=key, toolchain=toolchain.name, attempts=text)
    readings = [
        Reading(stderr=evidence.stderr, diagnosis=evidence.diagnosis) for evidence in attempts
    ]
    readings_text = json.dumps(unstructure(readings, compact=True))
    reader = toolchains.reading_version(toolchain)
    return StoredRow(
        key=key, toolchain=toolchain.name, attempts=text, reader=reader, readings=readings_text
    )


def attempts_of(row: StoredRow) -> tuple[Evidence, ...]:
    """Return the raw evidence in a row.

    The result is empty if this version of the program cannot read the row, or no version wrote it.
    """
    try:
        attempts = structure(read_json(row.attempts), tuple[Evidence, ...], more=True)
    except _UNREADABLE:
        return ()
    toolchain = toolchains.find(row.toolchain)
    is_known = toolchain is not None and all(
        evidence.stage in toolchain.every_stage for evidence in attempts
    )
    return tuple(map(within_bounds, attempts)) if is_known else ()


def as_read(row: StoredRow, attempts: Sequence[Evidence]) -> tuple[Evidence, ...] | None:
    """Return the attempts of a row with their stored readings, whichever reader made them.

    Returns ``None`` if there are no readings, or not one per attempt.
    """
    try:
        readings = structure(read_json(row.readings), tuple[Reading, ...], more=True)
    except _UNREADABLE:
        return None
    if len(readings) != len(attempts):
        return None
    return tuple(
        evolve(evidence, stderr=readable(reading.stderr), diagnosis=reading.diagnosis)
        for evidence, reading in zip(attempts, readings, strict=True)
    )
