"""How far a run is, in words: how many cells, how fast, how long still, and what is slow right now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import Factory, frozen

from compat.model import Cell
from compat.report.summary.compact import counted
from compat.text import in_bytes, in_time, printable

LONG = 60.0
"""Seconds from which on a run says at the start how long it will take."""
MANY = 100
"""Cells from which on it says how many there are, where nothing is known of how long they take."""
_TELLING = 5
"""Compiled cells before a speed is told, so that it is one."""
_NAMED = 2
"""Slow cells, and envs, that are named."""


@frozen(kw_only=True)
class Pace:
    """How far a run is."""

    total: int
    done: int
    compiled: int
    """Those of them that were compiled in this run, and not known before."""
    unexpected: int | None
    """``None`` where nothing is expected of them: what fails there was tried to see whether it does."""
    seconds: float
    """Since the first of them was begun."""
    slow: tuple[tuple[Cell, float], ...] = ()
    """Cells that take long, with the seconds that each has taken so far."""
    envs: Mapping[str, tuple[int, int]] = Factory(dict)
    """Env → how many of its cells are done, and how many it has; empty where that is not told."""

    @property
    def rate(self) -> float | None:
        """Cells per second; ``None`` where too few were compiled to say."""
        return self.compiled / self.seconds if self.compiled >= _TELLING and self.seconds > 0 else None

    @property
    def left(self) -> float | None:
        """Seconds until the rest is compiled, at this rate."""
        return (self.total - self.done) / self.rate if self.rate else None


def pace_line(pace: Pace) -> str:
    """All of it in a line: ``120 of 468 cells, 3 unexpected, 10.5 per second, about 33 s left, 1 of 4 envs done, b at 54 %``."""
    return ", ".join(_parts(pace))


def _parts(pace: Pace) -> Iterator[str]:
    yield f"{pace.done:,} of {pace.total:,} cells"
    if pace.unexpected is not None:
        yield f"{pace.unexpected:,} unexpected"
    if pace.rate is not None and pace.left is not None and pace.done < pace.total:
        yield f"{pace.rate:.1f} per second"
        yield f"about {in_time(pace.left)} left"
    if len(pace.envs) > 1 and pace.done < pace.total:
        yield from _env_parts(pace.envs)
    if pace.slow:
        yield f"slow: {slow_words(pace.slow)}"


def _env_parts(envs: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """How many are done, and how far those are that are begun; where these are many, the one with the most cells left."""
    yield f"{sum(done == total for done, total in envs.values())} of {len(envs)} envs done"
    begun = {name: (done, total) for name, (done, total) in envs.items() if 0 < done < total}
    if len(begun) > _NAMED:
        begun = dict([max(begun.items(), key=lambda each: each[1][1] - each[1][0])])
    for name, (done, total) in begun.items():
        yield f"{printable(name)} at {100 * done / total:.0f} %"


def slow_words(slow: Sequence[tuple[Cell, float]]) -> str:
    """The cells that take long: ``kernel/variant/case/target/env (12 s)``."""
    named = [f"{printable(cell.id)} ({in_time(seconds)})" for cell, seconds in slow[:_NAMED]]
    return ", ".join(named) + (f" and {len(slow) - _NAMED} more" if len(slow) > _NAMED else "")


def expectation_line(cells: int, seconds: float | None) -> str | None:
    """What a long run says at its start; ``None`` for a short one."""
    if seconds is None:
        return f"{counted(cells, 'cell')} to compile" if cells >= MANY else None
    return f"{counted(cells, 'cell')} to compile, about {in_time(seconds)} by earlier runs" if seconds >= LONG else None


def cost_words(seconds: float, to_install: int) -> str:
    """What a run takes before it has begun: ``about 9.0 GB of envs to install; about 3 min``. ``to_install`` is in bytes."""
    return (
        f"about {in_bytes(to_install)} of envs to install; about {in_time(seconds)}" if to_install else f"about {in_time(seconds)}"
    )
