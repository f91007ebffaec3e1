"""A few bytes on a shared page that outlive the process which wrote them.

When a compiler aborts, everything the process knew is gone. What it last wrote into a memory-mapped file is not: the kernel's
source line being lowered, and whether a pass manager was running. Writing costs about a microsecond, so this is always on.
"""

from __future__ import annotations

import mmap
import os

FILE_NAME = "beacon"
_LOCATION_SIZE = 1023
SIZE = _LOCATION_SIZE + 1


class Beacon:
    """The writing end. Layout: ``path:line`` padded with NUL, then one byte, ``P`` while a pass manager runs."""

    def __init__(self, directory: str) -> None:
        with open(os.path.join(directory, FILE_NAME), "w+b") as file:
            file.write(b"\0" * SIZE)  # really there: on a full disk this fails, where touching a hole would end the process
            file.flush()
            self._page = mmap.mmap(file.fileno(), SIZE)
        self._last: tuple[str, int] | None = None

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
        self._page[_LOCATION_SIZE:] = b"P" if running else b"\0"

    def clear(self) -> None:
        """Forget everything: the next cell begins."""
        self._last = None
        self._page[:] = b"\0" * SIZE


def read(directory: str) -> tuple[str | None, bool]:
    """The reading end: ``(location or None, whether a pass manager was running)``."""
    path = os.path.join(directory, FILE_NAME)
    try:
        if not os.path.isfile(path):  # a pipe would never end
            return None, False
        with open(path, "rb") as file:
            page = file.read(SIZE)
    except OSError:
        return None, False
    location = page[:_LOCATION_SIZE].rstrip(b"\0").decode("utf-8", "replace")
    return location or None, page[_LOCATION_SIZE:] == b"P"
