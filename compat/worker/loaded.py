"""The files that a server has its code from, as they were when it read them.

A server that stays for hours must not answer for a toolchain that has been edited in the meantime.
"""

from __future__ import annotations

import os
import sys
from typing import Iterable


class Loaded:
    """What was loaded, and when it was last changed."""

    def __init__(self, files: Iterable[str]) -> None:
        """Remember the files of every imported module, and ``files`` besides."""
        modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        self._stamps = {path: _stamp(path) for path in {*modules, *files} if path}

    def changed(self) -> bool:
        """Whether one of them is not what it was. Takes about a millisecond."""
        return any(_stamp(path) != stamp for path, stamp in self._stamps.items())


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
