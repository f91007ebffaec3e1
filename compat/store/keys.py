"""The dependencies of a result: its key, and files that no source shows; and claims of keys.

A key is a hash over everything that is known before a cell is compiled: the kernel's source
closure, the specialization, the target, the env as it resolved, the environment variables that
reach a toolchain, and the worker.

``importlib`` and the finders of editable installs lead to files that are known only after they were
imported. These files are witnesses. Their contents, and the names of the modules beside them, are
stored with the result. The result is valid as long as both are the same. A file that a kernel's
source asked for in vain is a witness, too, as long as it is missing.

If several commands store their results in one folder, only one of them compiles each cell. It has a
claim: a lock on one byte of the file ``compiling`` there, at an offset that the cell's key gives.
The operating system releases the lock when the process ends, for any reason. If the file system has
no locks, every command compiles everything.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePath

from compat import interruption, toolchains
from compat.files import folder_digest
from compat.model import BuiltEnv, Cell, Evidence, Specialization
from compat.processes import supervisor
from compat.source.closure import roots_of
from compat.text import JsonMapping, printable, shorten, text_digest
from compat.workers.attempt import PLAIN, Mode
from compat.workers.spawn import NUMERICS, STANDIN, variable_dependencies

_MARGIN = 0.1
"""Seconds that a file must be older than an import to count as the imported one, because clocks of
file systems lag behind.
"""
_SUFFIXES = (".py", ".so")
_MISSING = "missing"
"""The digest of a file that does not exist."""


def cell_key(cell: Cell, env: BuiltEnv, worker: str, mode: Mode = PLAIN) -> str:
    """Return the key of a cell. Equal keys mean equal results, wherever the files are.

    Limits are not part of the key. :meth:`Store.read` leaves out evidence that a larger limit could
    change.

    Args:
        cell: The cell. For the interpreter, its target does not matter.
        env: Its environment.
        worker: Digest of the worker's files (:func:`compat.files.folder_digest`).
        mode: The actions that make the result.
    """
    return CellKeys(worker, mode).of(cell, env)


def is_about(cell: Cell, attempts: Sequence[Evidence]) -> bool:
    """Whether attempts that are stored under a cell's key are valid for its present files.

    A compile depends only on the facts in the key. A failure names lines, also of files that the
    kernel does not use.
    """
    return attempts[0].closure in ("", cell.spec.closure)


class CellKeys:
    """The keys of many cells at one moment. Facts about the machine are read once."""

    def __init__(self, worker: str, mode: Mode = PLAIN) -> None:
        """See :func:`cell_key`."""
        self._worker = worker
        self._actions = [action.document() for action in mode.actions]
        self._conditions = _conditions(mode)
        self._interprets, self._tells_problem = mode.interprets, mode.tells_problem
        self._of_machine = cache(self._read_machine)

    def of(self, cell: Cell, env: BuiltEnv) -> str:
        """The key of a cell in an env (:func:`cell_key`)."""
        spec, target = cell.spec, cell.target
        if self._interprets:
            return self._of_numbers(cell, env)
        depends, adapter = self._of_machine(cell.env.toolchain, target.backend)
        facts: JsonMapping = {
            "closure": spec.relevant_digest,
            "function": spec.function,
            "compile": spec.compile.document(),
            "target": toolchains.of(cell.env).facts(target, cell.env.release),
            "env": env.digest,
            "variables": depends,
            "worker": [self._worker, adapter, *map(folder_digest, STANDIN)],
            "actions": self._actions,
            **self._conditions,
        }
        if self._tells_problem and spec.problem:
            facts = {**facts, "problem": dict(spec.problem.parameters)}
        return text_digest(json.dumps(facts))

    def _of_numbers(self, cell: Cell, env: BuiltEnv) -> str:
        """Return the key of a cell's result in an interpreter.

        An interpreter knows neither targets, options nor hints.
        """
        spec, document = cell.spec, cell.spec.compile.document()
        _, adapter = self._of_machine(cell.env.toolchain, cell.target.backend)
        facts: JsonMapping = {
            "closure": spec.closure,
            "function": spec.function,
            "compile": {name: document[name] for name in ("signature", "launch", "constexprs")},
            "problem": spec.problem.document() if spec.problem else None,
            "env": env.digest,
            "worker": [
                self._worker,
                adapter,
                *map(folder_digest, STANDIN),
                folder_digest(NUMERICS),
            ],
            "actions": self._actions,
        }
        return text_digest(json.dumps(facts))

    @staticmethod
    def _read_machine(toolchain_name: str, backend: str) -> tuple[dict[str, str], str]:
        toolchain = toolchains.look_up(toolchain_name)
        return variable_dependencies(toolchain, backend), folder_digest(toolchain.adapter)


def _conditions(mode: Mode) -> dict[str, object]:
    """The facts of a mode that are in keys besides its actions; empty for a plain mode."""
    conditions = {"set": dict(sorted(mode.variables.items())), "stages": list(mode.stages)}
    return {name: value for name, value in conditions.items() if value}


# --- witnesses ------------------------------------------------------------------------------------


def witnesses_of(
    spec: Specialization, files: Sequence[Path] | None, since: float
) -> dict[str, str] | None:
    """Return path → digest, of files and of the folders that they and the kernel's roots are in.

    ``since`` is a time before the first of them was imported, in seconds since the epoch. Returns
    ``None`` without files, if a file or a folder may have changed since then, or if there is a
    relative path: it stands for imports that were left out, because there were too many.
    """
    if files is None or not all(map(Path.is_absolute, files)):
        return None
    if not files:
        return {}
    roots = map(Path, spec.roots) if spec.roots else roots_of(Path(spec.source))
    places = dict.fromkeys(
        [*files, *roots, *(folder for file in files for folder in _folders(file))]
    )
    witnesses: dict[str, str] = {}
    for place in places:
        digest = _digest(place)
        if digest is None or _change_time(place) > since - _MARGIN:
            return None
        witnesses[str(place)] = digest
    return witnesses


def witnesses_hold(witnesses: Mapping[str, str], digests: dict[str, str | None]) -> bool:
    """Return whether all witnesses are unchanged.

    ``digests`` has the digests that were computed before, and gets those that are computed now.
    """
    for path in witnesses:
        if path not in digests:
            digests[path] = _digest(Path(path))
    return all(digests[path] == digest for path, digest in witnesses.items())


def _folders(file: Path) -> Iterator[Path]:
    """Yield the folders in which modules beside a file would be found.

    These are its own folder and, if that is a package, the folders above it up to the root.
    """
    (root,) = roots_of(file)
    folder = file.parent
    while folder != root:
        yield folder
        folder = folder.parent
    yield root


def _digest(place: Path) -> str | None:
    """Return the digest of a file's content, or of the names of the modules in a folder.

    Returns :data:`_MISSING` if there is neither, and ``None`` if it cannot be read.
    """
    try:
        if place.is_dir():
            return hashlib.sha256(
                "\0".join(sorted(_modules(place))).encode("utf-8", "surrogateescape")
            ).hexdigest()
        return hashlib.sha256(place.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return _MISSING
    except OSError:
        return None


def _modules(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIXES) or _is_package(entry):
                yield entry.name


def _is_package(entry: os.DirEntry[str]) -> bool:
    """Whether a folder may have modules, unlike a folder of reports."""
    if not entry.name.isidentifier() or entry.name == "__pycache__" or not entry.is_dir():
        return False
    try:
        names = [path.name for path in Path(entry).iterdir()]
    except OSError:
        return False
    return any(name.endswith(_SUFFIXES) or name.isidentifier() for name in names)


def _change_time(place: Path) -> float:
    """The time of the last change to a file or folder, which no program can set back.

    If it is missing, this is the time of the first folder above it that exists.
    """
    try:
        return place.stat().st_ctime
    except (FileNotFoundError, NotADirectoryError):
        return _change_time(place.parent)
    except OSError:
        return float("inf")


# --- claims ---------------------------------------------------------------------------------------

_EVERY = 0.1
"""Seconds between two checks of another process's claim."""
_DIGITS = 15
"""Hexadecimal digits of a key that give the offset of its lock. Offsets have 63 bits."""
_WIDTH = 80
"""Characters of another process's command that are shown."""
_FLOCK = struct.Struct("hhqqi4x")
"""``struct flock`` of Linux on 64 bits: kind, whence, start, length, process."""


class Claims:
    """The claims of this process in one folder.

    Several threads may use it, but they must not claim the same keys.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """``say`` gets a message that names the process to wait for."""
        self._path, self._say = folder / "compiling", say
        self._descriptor: int | None = None
        self._opening = threading.Lock()
        self._named: set[int] = set()

    def take(self, key: str) -> bool:
        """Claim a key. Returns whether that succeeded: no other process has claimed it."""
        try:
            fcntl.lockf(self._file(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except BlockingIOError:
            return False
        except OSError:  # no locks here, or nothing can be written
            return True
        return True

    def release(self, key: str) -> None:
        """Release a key, claimed or not."""
        with suppress(OSError):
            fcntl.lockf(self._file(), fcntl.LOCK_UN, 1, _place(key))

    def holder(self, key: str) -> int | None:
        """Return the id of the process that has claimed a key.

        The id is 0 if it is not known here. Returns ``None`` if no other process has claimed the
        key.
        """
        request = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _place(key), 1, 0)
        try:
            kind, *_, process = _FLOCK.unpack(fcntl.fcntl(self._file(), fcntl.F_GETLK, request))
        except OSError:
            return None
        return None if kind == fcntl.F_UNLCK else process

    def name_holder(self, key: str) -> None:
        """Name the process that has claimed a key to the user, once per process."""
        process = self.holder(key)
        if process is not None and process not in self._named:
            self._named.add(process)
            self._say(
                f"waiting for {_describe_process(process)}, which compiles some of the same cells"
            )

    @contextmanager
    def all_of(self, keys: Iterable[str]) -> Iterator[None]:
        """Claim keys, and release them at the end.

        Waits for keys that other processes have claimed. Raises Stopped if the command must end.
        """
        # All processes take keys in one order, so that no two wait for each other.
        ordered, claimed_keys = sorted(keys), list[str]()
        try:
            for key in ordered:
                while not self.take(key):
                    interruption.check()
                    self.name_holder(key)
                    time.sleep(_EVERY)
                claimed_keys.append(key)
            yield
        finally:
            for key in claimed_keys:
                self.release(key)

    def close(self) -> None:
        """Release all claims."""
        with self._opening:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _file(self) -> int:
        with self._opening:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            return self._descriptor


def _place(key: str) -> int:
    return int(key[:_DIGITS], 16)


def _describe_process(process: int) -> str:
    program, *arguments = supervisor.command(process) or ("",)
    if arguments and "python" in PurePath(program).name:
        program, *arguments = arguments
    command = printable(" ".join((PurePath(program).name, *arguments)))
    shown = shorten(command, _WIDTH)
    return f"process {process}{f' ({shown})' if shown else ''}" if process else "another process"
