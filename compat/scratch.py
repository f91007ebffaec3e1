"""Folders for temporary files, none of which outlives the command, however it ends.

A command that is killed with SIGKILL removes nothing. So each folder is locked while its command lives, and the first folder that a
later command makes has it remove those that nobody holds.
"""

from __future__ import annotations

import atexit
import fcntl
import logging
import os
import secrets
import shutil
import stat
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from compat.errors import MachineError
from compat.interruption import Stopped
from compat.patterns import lazy_pattern

_log = logging.getLogger(__name__)

_LOCK = threading.Lock()
_CLAIMED: set[Path] = set()
_cleared: set[str] = set()
"""Folders for temporary files that this process has looked through for what others have left."""
_swept = False

_NAME = lazy_pattern(r"compat-[a-z]+-[0-9a-f]{16}")  # versions that did not lock their folders gave them shorter names
_ATTEMPTS = 10
"""Names that are tried where another command takes a new folder away before it is locked."""


class Folder:
    """A private folder, removed with all that is in it when it is closed, and at the latest when the command ends."""

    def __init__(self, prefix: str) -> None:
        """Make it. Raises MachineError where that cannot be, and Stopped where the command is ending."""
        try:
            place = tempfile.gettempdir()
            _clear(place)
            self.path, self._lock = _made(place, prefix)
        except OSError as error:
            raise MachineError.of(error, where=os.environ.get("TMPDIR") or "/tmp") from error

    def close(self) -> None:
        """Remove it."""
        remove(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def claim(path: Path) -> None:
    """Have a folder removed when the command ends, unless it is released; to be called before it is made."""
    with _LOCK:
        if _swept:
            raise Stopped
        _CLAIMED.add(path)


def release(path: Path) -> None:
    """Let a folder that was claimed outlive the command."""
    with _LOCK:
        _CLAIMED.discard(path)


def remove(path: Path) -> None:
    """Remove a folder that was claimed, as far as that can be."""
    _remove(path)
    release(path)


def sweep() -> None:
    """Remove all that is claimed; from now on nothing can be claimed."""
    global _swept
    with _LOCK:
        _swept = True
        left = set(_CLAIMED)
    for path in left:
        remove(path)


atexit.register(sweep)  # for programs that use this package and end as Python does


def _made(place: str, prefix: str) -> tuple[Path, int | None]:
    """A new folder, and the open file that its lock goes with; without one where the file system has no locks."""
    for _ in range(_ATTEMPTS):
        path = Path(place, prefix + secrets.token_hex(8))
        claim(path)
        path.mkdir(mode=0o700)
        try:
            lock = _lock(path)
        except (FileNotFoundError, BlockingIOError):  # another command took it for one that was left, before it was locked
            release(path)
            continue
        except OSError:
            return path, None
        if path.exists():
            return path, lock
        os.close(lock)
        release(path)
    raise FileNotFoundError(f"{place}: what is made there is removed at once")


def _clear(place: str) -> None:
    """Remove, once in a process, the folders there that killed commands of this user have left."""
    if place in _cleared:
        return
    _cleared.add(place)
    with os.scandir(place) as entries:
        found = [entry.path for entry in entries if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]
    for path in found:
        with suppress(OSError):
            _remove_abandoned(path)


def _remove_abandoned(path: str) -> None:
    if os.lstat(path).st_uid != os.getuid():
        return
    lock = _lock(path)
    try:
        _log.info("removing %s, which a killed command left", path)
        _remove(Path(path))
    finally:
        os.close(lock)


def _lock(path: str | Path) -> int:
    """Lock a folder for as long as the descriptor is open. Raises BlockingIOError where somebody has it, OSError where none can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():  # a kernel file can take the permissions away from what it makes
        _open_up(str(path))
        shutil.rmtree(path, ignore_errors=True)


def _open_up(folder: str) -> None:
    with suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                _open_up(entry.path)
