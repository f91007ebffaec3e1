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


def private_bytes(pid: int) -> int:
    """Bytes in memory of one process that are no pages of files, which the system could drop. 0 if it is gone."""
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return int(fields["RssAnon"].split()[0]) * 1024
    except (OSError, KeyError, IndexError, ValueError):
        return 0


def working_folder(pid: int) -> str | None:
    """The folder that a process is in; ``None`` if it is gone or somebody else's."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None
