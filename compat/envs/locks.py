"""Locks on files in an env's folder, for the processes that build or use the env.

A lock ends with the process that holds it. While an env is built, its ``install.log`` is locked.
The installer inherits that file as its output, so the lock holds as long as the installer runs,
even if the process that started it was killed. Commands that use an env lock its file ``used``, and
set its modification time.

The module calls ``flock`` directly. ``filelock`` cannot share a lock, cannot tell whether another
process holds it, and cannot leave the lock of the log to an installer that outlives its command.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from compat.envs.cache import EnvFolder
from compat.interruption import Stopped

_BEING_BUILT, _IN_USE = "it is being built", "it is in use"
_EVERY = 0.1
"""Seconds between two attempts to take a lock that another process holds."""


# --- building -------------------------------------------------------------------------------------


@contextmanager
def building(
    folder: EnvFolder, waiting: Callable[[], None], stop: threading.Event | None = None
) -> Iterator[IO[str]]:
    """Hold the lock for building an env, and yield the env's log, which is empty.

    Calls ``waiting`` if another process is building the env, and then waits for it. Raises OSError,
    and Stopped if ``stop`` is set meanwhile.
    """
    descriptor = _lock_folder(folder, waiting, stop)
    with os.fdopen(descriptor, "w", encoding="utf-8") as log:
        log.truncate(0)
        yield log


def _lock_folder(
    folder: EnvFolder, waiting: Callable[[], None], stop: threading.Event | None
) -> int:
    while True:
        folder.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder.log, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if not _lock(descriptor, fcntl.LOCK_EX):
                waiting()
                _wait(descriptor, stop)
            # The log may have been removed together with the env while we waited.
            if _is_still(descriptor, folder.log):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _wait(descriptor: int, stop: threading.Event | None) -> None:
    if stop is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    while not _lock(descriptor, fcntl.LOCK_EX):
        if stop.wait(_EVERY):
            raise Stopped


def is_being_built(folder: EnvFolder) -> bool:
    """Whether a process is building this env now."""
    try:
        with _descriptor(folder.log, os.O_RDONLY) as log:
            return not _lock(log, fcntl.LOCK_SH)
    except OSError:
        return False


# --- using ----------------------------------------------------------------------------------------


class EnvUse:
    """The shared lock that keeps an env in use until :meth:`close`."""

    def __init__(self, folder: EnvFolder) -> None:
        """Take the lock.

        It has no effect if the env does not exist or its folder is read-only. A user who cannot
        write the folder cannot remove the env either.
        """
        self._path, self._descriptor = folder.last_use_file, -1
        self.renew()

    def renew(self) -> None:
        """Set the time of the last use to now. Takes the lock again if the env was rebuilt."""
        with suppress(OSError):
            while not self.holds():
                self.close()
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                fcntl.flock(self._descriptor, fcntl.LOCK_SH)
            os.utime(self._descriptor)

    def holds(self) -> bool:
        """Whether the lock is held on the present env, which exists and was not replaced."""
        return self._descriptor >= 0 and _is_still(self._descriptor, self._path)

    def is_alone(self) -> bool:
        """Whether no other process holds the lock."""
        alone = _lock(self._descriptor, fcntl.LOCK_EX)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)
        return alone

    def close(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


_uses: dict[Path, EnvUse] = {}
"""Folder of an env → its lock, for the envs that this process uses until it ends."""


def hold(folder: EnvFolder) -> None:
    """Keep an env in use from now until this process ends."""
    if folder.path in _uses:
        _uses[folder.path].renew()
    else:
        _uses[folder.path] = EnvUse(folder)


def last_used(folder: EnvFolder) -> float:
    """Return the time when an env was last used or built, in seconds since 1970; 0 if never."""
    times = [0.0]
    for path in (folder.last_use_file, folder.record):
        with suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times)


def is_used_by_others(folder: EnvFolder) -> bool:
    """Whether another command uses an env, or a process runs one of its programs."""
    use = _uses.get(folder.path)
    if use is not None and use.holds():
        return not use.is_alone() or _runs(folder)
    with suppress(OSError), _descriptor(folder.last_use_file, os.O_RDWR) as used:
        if not _lock(used, fcntl.LOCK_EX):
            return True
    return _runs(folder)


def _runs(folder: EnvFolder) -> bool:
    """Whether a process was started with a program of the env.

    Processes of other users may be invisible, and then do not count.
    """
    inside = os.fsencode(f"{folder.path}{os.sep}")
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError), (process / "cmdline").open("rb") as file:
            if file.read(len(inside)) == inside:
                return True
    return False


# --- removing -------------------------------------------------------------------------------------


def reason_to_keep(folder: EnvFolder) -> str | None:
    """Return the reason why an env must not be removed now; ``None`` if there is none."""
    if is_being_built(folder):
        return _BEING_BUILT
    return _IN_USE if is_used_by_others(folder) else None


def remove(folder: EnvFolder) -> str | None:
    """Remove an env. Returns ``None``, or the reason why it was not removed.

    Raises OSError if its files cannot be removed.
    """
    try:
        with _descriptor(folder.log) as log, _descriptor(folder.last_use_file) as used:
            if not _lock(log, fcntl.LOCK_EX):
                return _BEING_BUILT
            if not _lock(used, fcntl.LOCK_EX) or _runs(folder):
                return _IN_USE
            folder.record.unlink(missing_ok=True)  # first: without it, the env counts as missing
            clear(folder)
            shutil.rmtree(folder.path)
            return None
    except FileNotFoundError:
        return "another command has removed it"


@contextmanager
def _descriptor(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def clear(folder: EnvFolder) -> None:
    """Remove the virtual environments in an env's folder, complete or not. Raises OSError."""
    for path in folder.path.glob("cp*"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


# --- locks ----------------------------------------------------------------------------------------


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file, which is created if missing. Waits for other holders."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
