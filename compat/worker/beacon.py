"""A few bytes on a shared page that outlive the process which wrote them.

When a compiler aborts, the memory of its process is lost. A memory-mapped file keeps what the
process last wrote: the kernel's source line that was being lowered, whether a pass manager was
running, and, if one call of the compiler goes through several stages, which stage begins once a
file exists. A write takes about a microsecond, so the beacon is always on.
"""

from __future__ import annotations

import glob
import mmap
import os

FILE_NAME = "beacon"
_LOCATION_SIZE = 1023
_PASSES = _LOCATION_SIZE
_NEXT = _LOCATION_SIZE + 1
SIZE = _NEXT + 1024


class Beacon:
    """The writing end.

    Layout: ``path:line`` padded with NUL; one byte, ``P`` while a pass manager runs; the next
    stage, ``stage:path``, padded with NUL.
    """

    def __init__(self, directory: str) -> None:
        with open(os.path.join(directory, FILE_NAME), "w+b") as file:
            # Real zeros raise an error on a full disk. Touching a hole would end the process.
            file.write(b"\0" * SIZE)
            file.flush()
            self._page = mmap.mmap(file.fileno(), SIZE)
        self._last: tuple[str, int] | None = None
        self._next: tuple[str, str] | None = None

    def at(self, path: str, line: int) -> None:
        """Remember the source line in flight."""
        if self._last != (path, line):
            self._last = (path, line)
            text = ("%s:%d" % (path, line)).encode("utf-8", "replace")[-_LOCATION_SIZE:]
            self._page[:_LOCATION_SIZE] = text.ljust(_LOCATION_SIZE, b"\0")

    @property
    def line(self) -> tuple[str, int] | None:
        """The source line in flight: path and number."""
        return self._last

    def in_passes(self, running: bool) -> None:
        """Remember whether a pass manager is running."""
        self._page[_PASSES:_NEXT] = b"P" if running else b"\0"

    def begins(self, stage: str, path: str) -> None:
        """Remember that a stage begins once there is a file whose path begins with ``path``."""
        self._next = (stage, path)
        text = ("%s:%s" % (stage, path)).encode("utf-8", "replace")
        self._page[_NEXT:] = (
            text.ljust(SIZE - _NEXT, b"\0") if len(text) <= SIZE - _NEXT else b"\0" * (SIZE - _NEXT)
        )

    def unreported_stage(self) -> tuple[str, float] | None:
        """Return that stage and its start, in seconds since the epoch, once the file exists."""
        since = _first_write_time(self._next[1]) if self._next else None
        return (self._next[0], since) if self._next and since is not None else None

    def clear(self) -> None:
        """Forget everything: the next cell begins."""
        self._last = self._next = None
        self._page[:] = b"\0" * SIZE


def read(directory: str) -> tuple[str | None, bool]:
    """The reading end: ``(location or None, whether a pass manager was running)``."""
    page = _page(directory)
    location = page[:_LOCATION_SIZE].rstrip(b"\0").decode("utf-8", "replace")
    return location or None, page[_PASSES:_NEXT] == b"P"


def unreported_stage(directory: str) -> tuple[str, float] | None:
    """Return the stage that the process could not report, and when it began.

    The time is in seconds since the epoch. Returns ``None`` if there is no such stage.
    """
    stage, _, path = (
        _page(directory)[_NEXT:].rstrip(b"\0").decode("utf-8", "replace").partition(":")
    )
    since = _first_write_time(path) if path.startswith(os.path.join(directory, "")) else None
    return (stage, since) if since is not None else None


def _first_write_time(path: str) -> float | None:
    """Return when the first of the files whose paths begin with ``path`` was written.

    The time is in seconds since the epoch. Returns ``None`` if there is no such file.
    """
    times = []
    for matching_path in glob.glob(glob.escape(path) + "*"):
        try:
            times.append(os.stat(matching_path).st_mtime)
        except OSError:  # removed meanwhile
            continue
    return min(times, default=None)


def _page(directory: str) -> bytes:
    path = os.path.join(directory, FILE_NAME)
    try:
        if not os.path.isfile(path):  # a pipe would never end
            return b""
        with open(path, "rb") as file:
            return file.read(SIZE)
    except OSError:
        return b""
