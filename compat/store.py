"""Results that outlive a run: one SQLite file of evidence, and a folder of artifacts.

What is stored is evidence, not what it was taken to mean, so that a better classification speaks about old cells without compiling
them again. A cell is found again under a key over everything its result depends on: the kernel's source closure, the
specialization, the target, the env as it resolved, and the worker. Each row is committed as it arrives; ``kill -9`` loses none.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import cattrs

from compat.errors import StoreError
from compat.files import replace_file
from compat.model import BuiltEnv, Cell, Evidence

_LAYOUT = 1
_CONVERTER = cattrs.Converter(omit_if_default=True)
_CHUNK = 500


def cell_key(cell: Cell, env: BuiltEnv, worker: str) -> str:
    """The key of a cell: equal exactly when its result must be.

    ``worker`` is the digest of the worker's own files (:func:`folder_digest`). Deadline and memory are no part of it: what they
    cut short is told by the evidence (:meth:`Store.read` leaves out what a larger limit could change).
    """
    spec, target = cell.spec, cell.target
    facts: Mapping[str, Any] = {
        "closure": spec.closure,
        "function": spec.function,
        "signature": list(spec.signature.items()),
        "constexprs": list(spec.constexprs.items()),
        "divisible_by_16": spec.divisible_by_16,
        "equal_to_1": spec.equal_to_1,
        "options": sorted(spec.options.items()),
        "target": [target.backend, target.arch, target.warp_size],
        "env": env.digest,
        "worker": worker,
    }
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@lru_cache
def folder_digest(folder: Path) -> str:
    """SHA-256 over the Python files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


class Store:
    """Evidence by key, and artifacts by name. Safe to use from several threads and several processes."""

    def __init__(self, folder: Path) -> None:
        """Open or make the store in ``folder``. Raises :class:`StoreError` when that cannot be."""
        self.folder = folder
        self.artifacts = folder / "artifacts"
        self._lock = threading.Lock()
        try:
            self.artifacts.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(folder / "results.sqlite", timeout=60, check_same_thread=False, isolation_level=None)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")  # survives the process; a power cut may cost the last rows
            self._migrate()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"the result store cannot be opened: {error}",
                where=str(folder),
                hint="remove the folder to start anew, or choose another with --store",
            ) from error

    def _migrate(self) -> None:
        (layout,) = self._database.execute("PRAGMA user_version").fetchone()
        if layout not in (0, _LAYOUT):
            raise sqlite3.DatabaseError(f"it has layout {layout}, this version of the tool writes {_LAYOUT}")
        self._database.execute("CREATE TABLE IF NOT EXISTS evidence (key TEXT PRIMARY KEY, cell TEXT, attempts TEXT) WITHOUT ROWID")
        self._database.execute(f"PRAGMA user_version = {_LAYOUT}")

    def read(self, keys: Iterable[str], *, deadline: float, memory: int) -> dict[str, tuple[Evidence, ...]]:
        """What is known under these keys, without what would have to be tried again under these limits."""
        wanted = list(keys)
        found: dict[str, tuple[Evidence, ...]] = {}
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            with self._lock:
                rows = self._database.execute(f"SELECT key, attempts FROM evidence WHERE key IN ({marks})", chunk).fetchall()
            for key, text in rows:
                attempts = _attempts(text)
                if attempts and not _cut_short(attempts, deadline, memory):
                    found[key] = attempts
        return found

    def write(self, key: str, cell: Cell, attempts: Sequence[Evidence]) -> None:
        """Keep the evidence on a cell. Raises :class:`StoreError` when the disk will not have it."""
        text = json.dumps(_CONVERTER.unstructure(attempts, tuple[Evidence, ...]))
        try:
            with self._lock:
                self._database.execute("INSERT OR REPLACE INTO evidence VALUES (?, ?, ?)", (key, cell.id, text))
        except sqlite3.Error as error:
            raise StoreError(
                f"a result could not be kept: {error}",
                where=str(self.folder),
                hint="what was finished before is kept; free some space and run the same command again",
            ) from error

    def keep(self, suffix: str, data: bytes) -> str:
        """Keep an artifact and return its name: the hash of its content and ``suffix``."""
        name = hashlib.sha256(data).hexdigest()[:16] + suffix
        path = self.artifacts / name
        if not path.exists():
            try:
                replace_file(path, data)
            except OSError as error:
                raise StoreError(f"an artifact could not be kept: {error}", where=str(self.artifacts)) from error
        return name

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _attempts(text: str) -> tuple[Evidence, ...]:
    """Evidence from its stored form; none from a form that an older version of the tool wrote and this one cannot read."""
    try:
        return _CONVERTER.structure(json.loads(text), tuple[Evidence, ...])
    except (ValueError, TypeError, KeyError, cattrs.BaseValidationError):
        return ()


def _cut_short(attempts: Sequence[Evidence], deadline: float, memory: int) -> bool:
    """Whether a limit ended the first attempt which is now wider."""
    first = attempts[0]
    return (first.deadline is not None and first.deadline < deadline) or (first.memory is not None and first.memory < memory)
