"""Which cells a command is compiling: of several commands that keep their results in one folder, one compiles each cell.

A claim is a lock on one byte of the file ``compiling`` there, at a place that the cell's key says. The system takes it back when
the process ends, however it ends. Where the file system has no locks, everybody compiles everything.
"""

from __future__ import annotations

import fcntl
import os
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compat import interruption
from compat.printable import printable
from compat.processes import procfs

_EVERY = 0.1
"""Seconds between two looks at what another process holds."""
_DIGITS = 15
"""Hexadecimal digits of a key that say its place: places have 63 bits."""
_WIDTH = 80
"""Characters of another process's command that are shown."""
_FLOCK = struct.Struct("hhqqi4x")
"""``struct flock`` of Linux on 64 bits: kind, whence, start, length, process."""


class Claims:
    """The claims of this process in one folder. Safe to use from several threads, which must not claim the same keys."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """``say`` hears which process is waited for."""
        self._path, self._say = folder / "compiling", say
        self._descriptor: int | None = None
        self._opening = threading.Lock()
        self._named: set[int] = set()

    def take(self, key: str) -> bool:
        """Claim a key, unless another process has; whether that is done."""
        try:
            fcntl.lockf(self._file(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except BlockingIOError:
            return False
        except OSError:  # no locks here, or nothing can be written
            return True
        return True

    def release(self, key: str) -> None:
        """Let others have a key, claimed or not."""
        with suppress(OSError):
            fcntl.lockf(self._file(), fcntl.LOCK_UN, 1, _place(key))

    def holder(self, key: str) -> int | None:
        """The process that has claimed a key, by number (0 where that is not known here); ``None`` where no other one has."""
        request = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _place(key), 1, 0)
        try:
            kind, *_, process = _FLOCK.unpack(fcntl.fcntl(self._file(), fcntl.F_GETLK, request))
        except OSError:
            return None
        return None if kind == fcntl.F_UNLCK else process

    def name_holder(self, key: str) -> None:
        """Say who has claimed a key, once of each process."""
        process = self.holder(key)
        if process is not None and process not in self._named:
            self._named.add(process)
            self._say(f"waiting for {_named(process)}, which compiles some of the same")

    @contextmanager
    def all_of(self, keys: Iterable[str]) -> Iterator[None]:
        """Claim keys, and let go of them in the end. Waits for those of others. Raises Stopped when the command is to end."""
        ordered, taken = sorted(keys), list[str]()  # in one order everywhere, so that no two wait for each other
        try:
            for key in ordered:
                while not self.take(key):
                    interruption.check()
                    self.name_holder(key)
                    time.sleep(_EVERY)
                taken.append(key)
            yield
        finally:
            for key in taken:
                self.release(key)

    def close(self) -> None:
        """Let go of all of them."""
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


def _named(process: int) -> str:
    program, *words = procfs.command(process) or ("",)
    if words and "python" in os.path.basename(program):
        program, *words = words
    command = printable(" ".join((os.path.basename(program), *words)))
    shown = command if len(command) <= _WIDTH else f"{command[: _WIDTH - 1]}…"
    return f"process {process}{f' ({shown})' if shown else ''}" if process else "another process"
