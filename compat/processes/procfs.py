"""What Linux tells of a process and those it started, most of it in ``/proc``."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")

AVAILABLE_CORES = len(os.sched_getaffinity(0))
"""Cores that this process may use."""


def resident_bytes(pid: int) -> int:
    """Bytes in memory of a process and all its descendants; shared pages count once per process. 0 if it is gone."""
    return sum(_resident(each) for each in family(pid))


def family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    for child in children(pid):
        yield from family(child)


def children(pid: int) -> list[int]:
    """The processes whose parent a process is; none if it is gone."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def cpu_seconds(pid: int) -> float:
    """CPU seconds that a process and all its descendants have used, those that have ended and were waited for among them."""
    return sum(_ticks(each) for each in family(pid)) / _TICKS


def _ticks(pid: int) -> int:
    """Of the process and of the children that it waited for, as the system counts them. 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))
    except (OSError, ValueError):
        return 0


def private_bytes(pid: int) -> int:
    """Bytes in memory of one process that are no pages of files, which the system could drop. 0 if it is gone."""
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return int(fields["RssAnon"].split()[0]) * 1024
    except (OSError, KeyError, IndexError, ValueError):
        return 0


def command(pid: int) -> tuple[str, ...]:
    """The words that a process was started with; none if it is gone or somebody else's."""
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        return tuple(word.decode(errors="replace") for word in words if word)
    return ()


def working_folder(pid: int) -> str | None:
    """The folder that a process is in; ``None`` if it is gone or somebody else's."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


def state(pid: int) -> str:
    """The letter by which the system tells what a process does: ``T`` where it is stopped; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def inside(folder: Path) -> list[int]:
    """The processes of this user whose working folder that is."""
    found = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in found if working_folder(pid) == str(folder)]


def end_users(folder: Path) -> None:
    """Kill every process of this user that is in a folder or has a file of it open: all that is known of who lost its parents."""
    inside = f"{folder}/"
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                links = [entry / "cwd", *(entry / "fd").iterdir()]
                if any(f"{os.readlink(link)}/".startswith(inside) for link in links):
                    os.kill(int(entry.name), signal.SIGKILL)


def end_family(pid: int) -> None:
    """Kill a process and all its descendants."""
    for each in list(family(pid)):
        with suppress(OSError):
            os.kill(each, signal.SIGKILL)
