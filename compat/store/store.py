"""Results that outlive a run: one SQLite file of evidence, and a folder of artifacts.

The store has evidence, not its meaning, so that better readers and failure classes apply to old
cells without compiling them again. A cell has a key over everything that its result depends on
(:mod:`compat.store.keys`). A row is committed when writing it returns, rows of several threads
together; ``kill -9`` loses none.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from attrs import define, evolve

from compat import toolchains
from compat.diagnosis.pipeline import add_diagnosis
from compat.errors import CompatError, MachineError, StoreError
from compat.files import Closing, alone_in, content_of, replace_file
from compat.model import Cell, Evidence
from compat.store.database import (
    DamagedDatabase,
    Database,
    LaunchedRow,
    OtherLayout,
    StoredRow,
    as_read,
    attempts_of,
    code_of,
    lacks_memory,
    put_aside,
    row_of,
)
from compat.store.keys import Claims, witnesses_hold
from compat.workers.attempt import Compile
from compat.workers.evidence import printed_text

_log = logging.getLogger(__name__)

_CHUNK = 500
_LARGEST = 1 << 30
"""The largest artifact that is read, in bytes."""
_DIGITS = 16
"""Hexadecimal digits of an artifact's SHA-256 at the beginning of its name."""
_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)
_T = TypeVar("_T")


@define(kw_only=True)
class _PendingRow:
    """A row that is to be written."""

    row: StoredRow
    cell: str
    done: bool = False
    """Whether the attempt to write it has ended, with or without success."""
    trouble: BaseException | None = None


class Store(Closing):
    """A database of evidence by key, and a folder of artifacts by name.

    Several threads and processes may use it at the same time. A damaged database is renamed, never
    deleted, and a new one is created. A database of another layout is an error. Every method that
    opens, reads or writes the database raises MachineError if no memory is left.
    """

    def __init__(
        self,
        folder: Path,
        warn: Callable[[str], None] = lambda message: None,
        *,
        say: Callable[[str], None] = lambda message: None,
        only_read: bool = False,
    ) -> None:
        """Open or create the store in ``folder``.

        Args:
            folder: The folder.
            warn: Called with a warning when a database was put aside.
            say: Called when another process is waited for.
            only_read: Never write, so that an existing folder may be read-only.

        Raises:
            StoreError: The store cannot be opened.
        """
        self.folder = folder
        self.artifacts = folder / "artifacts"
        self.warn, self._only_read = warn, only_read
        self.claims = Claims(folder, say)
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._pending: deque[_PendingRow] = deque()
        try:
            self.artifacts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            hint = _hint_on_folder(error)
            raise StoreError(
                f"cannot create the folder for results: {error.strerror}",
                where=str(folder),
                hint=hint,
            ) from error
        self._file = self._open_database()

    def _open_database(self) -> Database:
        path = self.folder / "results.sqlite"
        try:
            try:
                return _open_alone(path)
            except DamagedDatabase as damaged:
                self._put_aside(path, damaged)
                return _open_alone(path)
            except sqlite3.OperationalError as error:
                if not self._only_read or code_of(error) not in _NOT_WRITABLE:
                    raise
                return Database(path, read_only=True)
        except (OSError, sqlite3.Error, DamagedDatabase, OtherLayout) as error:
            raise _problem("cannot open the results", path, error) from error

    def _put_aside(self, path: Path, why: DamagedDatabase) -> None:
        if aside := put_aside(path):
            _log.info("%s %s: renamed to %s", path, why, aside.name)
            self.warn(
                f"{path} {why}: renamed it to {aside.name} and started a new one; its cells are"
                " compiled again"
            )

    def read(
        self, keys: Iterable[str], *, deadline: float, memory: int
    ) -> dict[str, tuple[Evidence, ...]]:
        """Return the evidence under these keys, without evidence that needs another try.

        Evidence needs another try if the limits have grown, or files have changed.

        Args:
            keys: Keys of cells (:func:`compat.store.keys.cell_key`).
            deadline: Present deadline in seconds.
            memory: Present memory limit in bytes.

        Raises:
            StoreError: The database cannot be read, and not because it is damaged.
        """
        digests: dict[str, str | None] = {}
        evidence_by_key: dict[str, tuple[Evidence, ...]] = {}
        for row in self._ask(Database.rows, keys):
            attempts = attempts_of(row)
            outdated = (
                not attempts
                or cut_short(attempts, deadline, memory)
                or not witnesses_hold(attempts[0].witnesses, digests)
            )
            if not outdated and (read := self._read(row, attempts)):
                evidence_by_key[row.key] = read
        return evidence_by_key

    def _read(self, row: StoredRow, attempts: tuple[Evidence, ...]) -> tuple[Evidence, ...] | None:
        """Return the attempts with their readings.

        Returns ``None`` if the printed text is missing, and no readings are stored.
        """
        if all(evidence.complete for evidence in attempts):
            return attempts
        stored_reading, toolchain = as_read(row, attempts), toolchains.look_up(row.toolchain)
        if stored_reading is not None and row.reader == toolchains.reading_version(toolchain):
            return stored_reading
        printed = [printed_text(evidence, self.artifact) for evidence in attempts]
        if None in printed:
            return stored_reading
        read = tuple(
            (
                evidence
                if evidence.complete
                else add_diagnosis(
                    evidence, toolchain.reader.read(text or ""), self.keep, toolchain.reader
                )
            )
            for evidence, text in zip(attempts, printed, strict=True)
        )
        reread = evolve(row_of(row.key, toolchain, read), attempts=row.attempts)
        self._do(partial(Database.reread, row=reread), "cannot save a result")
        return read

    def rows(self, keys: Sequence[str]) -> list[StoredRow]:
        """Return rows as stored.

        Raises:
            StoreError: As :meth:`read`.
        """
        return list(self._ask(Database.rows, keys))

    def put(self, rows: Sequence[tuple[StoredRow, str]]) -> None:
        """Store rows as they are, each with the id of its cell: all or none.

        Raises:
            StoreError: As :meth:`write`.
        """
        if rows:
            self._do(partial(Database.add, rows=rows), "cannot save results")

    def as_read(self, row: StoredRow, attempts: Sequence[Evidence]) -> Sequence[Evidence]:
        """Return the attempts of a row, read with the present rules of diagnosis."""
        return self._read(row, tuple(attempts)) or attempts

    def artifact_names_of(self, row: StoredRow, attempts: Sequence[Evidence]) -> Iterator[str]:
        """Return the names of artifacts in a row, perhaps with repetitions."""
        for evidence in as_read(row, tuple(attempts)) or attempts:
            names = (
                *evidence.artifacts.values(),
                evidence.diagnosis.reproducer,
                evidence.diagnosis.ir,
            )
            yield from (name for name in names if name and Path(name).name == name)

    def seconds(self, kernels: Iterable[str]) -> Iterator[tuple[str, float]]:
        """Return cell id and seconds of each stored result of these kernels, all attempts together.

        Raises:
            StoreError: The database cannot be read, and not because it is damaged.
        """
        unique_kernels = sorted(set(kernels))
        for start in range(0, len(unique_kernels), _CHUNK):
            page = partial(Database.seconds, kernels=unique_kernels[start : start + _CHUNK])
            last = ""
            while rows := self._do(partial(page, after=last), "cannot read results"):
                last = rows[-1][0]  # where the next page begins
                yield from ((cell, seconds) for _, cell, seconds in rows)

    def write(self, key: str, cell: Cell, attempts: Sequence[Evidence]) -> None:
        """Store the evidence on a cell.

        Raises:
            StoreError: The disk refuses it.
        """
        compiled = any(Compile.do in evidence.requested for evidence in attempts)
        # The name of the action keeps this time apart from times of compiles.
        name = cell.id if compiled else f"{attempts[0].requested[0]} {cell.id}"
        self._together(_PendingRow(row=row_of(key, toolchains.of(cell.env), attempts), cell=name))

    def _together(self, mine: _PendingRow) -> None:
        """Write a row.

        One transaction writes all rows that threads add while one of them writes.
        """
        self._pending.append(mine)
        with self._writing:
            if not mine.done:
                group = [self._pending.popleft() for _ in range(len(self._pending))]
                try:
                    self._do(
                        partial(
                            Database.add,
                            rows=[(pending_row.row, pending_row.cell) for pending_row in group],
                        ),
                        "cannot save a result",
                    )
                except BaseException as error:
                    for pending_row in group:
                        pending_row.trouble = error
                    raise
                finally:
                    for pending_row in group:
                        pending_row.done = True
        if mine.trouble is not None:
            raise mine.trouble

    def launch_rows(self, identities: Iterable[str]) -> list[LaunchedRow]:
        """Return the launch results of these identities.

        Raises:
            StoreError: As :meth:`read`.
        """
        return list(self._ask(Database.launch_rows, sorted(set(identities))))

    def add_launched(self, rows: Sequence[LaunchedRow]) -> None:
        """Store launch results, replacing earlier ones.

        Raises:
            StoreError: As :meth:`write`.
        """
        self._do(partial(Database.add_launched, rows=rows), "cannot save results")

    def _ask(
        self, query: Callable[[Database, Sequence[str]], list[_T]], names: Iterable[str]
    ) -> Iterator[_T]:
        """Yield the rows of a query for names, of which SQLite takes a limited number at once."""

        def part(some: Sequence[str]) -> Callable[[Database], list[_T]]:
            return lambda file: query(file, some)

        remaining = iter(names)
        while some := list(islice(remaining, _CHUNK)):
            yield from self._do(part(some), "cannot read results")

    def _do(self, act: Callable[[Database], _T], trouble: str) -> _T:
        """Read or write the database.

        If it is damaged, a new one replaces it, and the same is done there.
        """
        with self._lock:
            try:
                try:
                    return act(self._file)
                except DamagedDatabase as damaged:
                    self._file.close()
                    self._put_aside(self._file.path, damaged)
                    self._file = self._open_database()
                    return act(self._file)
            except (sqlite3.Error, DamagedDatabase) as error:
                raise _problem(trouble, self._file.path, error) from error

    def keep(self, suffix: str, data: bytes) -> str:
        """Store an artifact.

        Returns:
            Its name: the hash of its content with ``suffix``.
        """
        name = artifact_name(suffix, data)
        self._write_artifact(name, data)
        return name

    def add(self, artifacts: Mapping[str, bytes]) -> None:
        """Store artifacts that have names.

        An artifact whose content does not match the hash in its name is left out.
        """
        for name, data in artifacts.items():
            if _has_name(name, data):
                self._write_artifact(name, data)

    def _write_artifact(self, name: str, data: bytes) -> None:
        path = self.artifacts / name
        try:
            if not path.is_file() or path.stat().st_size != len(data):
                replace_file(path, data)
        except OSError as error:
            raise StoreError(
                f"cannot save an artifact: {error}", where=str(path), hint=_hint_on(error)
            ) from error

    def artifact(self, name: str) -> bytes | None:
        """Return the content of an artifact. ``None``: it is missing or damaged."""
        if Path(name).name != name:
            return None
        data = content_of(self.artifacts / name, _LARGEST)
        return data if data is not None and _has_name(name, data) else None

    def close(self) -> None:
        """Close the database."""
        self._file.close()
        self.claims.close()


def _hint_on_folder(error: OSError) -> str:
    """A hint for a folder that cannot be created."""
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        place = "beside matrix.toml, else in the current folder"
        return (
            f"Results are saved {place}. Run the command in a writable folder, and name the kernels"
            " by their paths."
        )
    return _hint_on(error)


def _open_alone(path: Path) -> Database:
    """Open a database while no other process puts its files aside, as :class:`Database` does."""
    with alone_in(path.parent):
        return Database(path)


def _problem(trouble: str, path: Path, error: Exception) -> CompatError:
    if isinstance(error, sqlite3.Error) and lacks_memory(error):
        return MachineError.about(errno.ENOMEM, f"{trouble}: {error}", where=str(path))
    return StoreError(f"{trouble}: {error}", where=str(path), hint=_hint_on(error))


def _hint_on(error: Exception) -> str:
    """A hint for a database or folder that cannot be used."""
    text = str(error)
    if isinstance(error, OtherLayout):
        return "Use the triton-compat that wrote it, or move the file away to start a new one."
    if "locked" in text or "busy" in text:
        return (
            "Another program has locked it. Nothing is lost: run the same command again when that"
            " program has ended."
        )
    if "full" in text or "No space" in text:
        return "Finished work is saved. Free some space, then run the same command again."
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "Move the other file out of its place."
    return (
        "Finished work is saved. Make the folder and the file writable, or move the file away to"
        " start a new one."
    )


def cut_short(attempts: Sequence[Evidence], deadline: float, memory: int) -> bool:
    """Whether a limit that is larger now ended the first attempt."""
    first = attempts[0]
    return (first.deadline is not None and first.deadline < deadline) or (
        first.memory is not None and first.memory < memory
    )


def artifact_name(suffix: str, data: bytes) -> str:
    """The name of an artifact: the beginning of its hash, and a suffix."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS] + suffix


def _has_name(name: str, data: bytes) -> bool:
    """Whether data has the hash in an artifact's name, and the name is not a path."""
    return "/" not in name and name.startswith(artifact_name("", data))
