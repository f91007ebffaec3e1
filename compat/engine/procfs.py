"""What Linux's ``/proc`` tells of a process and those it started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes(pid: int) -> int:
    """Bytes in memory of a process and all its descendants; shared pages count once per process. 0 if it is gone."""
    return sum(_resident(each) for each in family(pid))


def family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield from family(int(child))


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
