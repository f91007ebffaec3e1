"""The cost of an action: wall-clock seconds, and CPU seconds of this process and those below it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from attrs import frozen

_TICKS = os.sysconf("SC_CLK_TCK")


@frozen
class Spent:
    """The cost of an action, in seconds."""

    clock: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.clock:8.2f} s, of the processor {self.cpu:8.2f} s"


def seconds_of(action: Callable[[], object]) -> float:
    """Wall-clock seconds of an action."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def spent(action: Callable[[], object]) -> Spent:
    """The cost of an action.

    Ended processes that no process has waited for are not counted.
    """
    before = _cpu()
    clock = seconds_of(action)
    return Spent(clock, _cpu() - before)


def _cpu() -> float:
    """CPU seconds of this process, of those below it, and of those that any has waited for."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)], ticks[int(folder.name)] = (
                    int(fields[1]),
                    sum(map(int, fields[11:15])),
                )
    return sum(ticks[pid] for pid in ticks if _is_below(pid, parents)) / _TICKS


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    while pid not in (0, os.getpid()):
        pid = parents.get(pid, 0)
    return pid != 0
