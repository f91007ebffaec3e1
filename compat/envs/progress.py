"""How the building of envs goes, while nox builds them in processes of its own: told by their records."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define

from compat.envs import locks
from compat.envs.cache import EnvCache, EnvFolder
from compat.envs.record import INTERRUPTED, read_record
from compat.model import Env

_EVERY = 0.25
"""Seconds between two looks at the records."""

Tell = Callable[[str], None]


@define
class _Watched:
    """One env that is to be built."""

    env: Env
    folder: EnvFolder
    before: int
    """The time of its record when the watch began, in nanoseconds; 0 without one."""
    began: float | None = None
    """When its installation was first seen, in seconds of the monotonic clock."""
    waits: bool = False
    """Another command is building it, which is waited for."""
    done: bool = False


@define
class _Watch:
    """All of them, looked at again and again."""

    envs: list[_Watched]
    mark: str
    """What the records say of those that are built for this command."""
    echo: Tell
    """Is told of each env that is done, for good."""
    now: Tell
    """Is told what is going on, time and again."""

    def begin(self) -> None:
        """Tell what is built, and what is built by another command already."""
        others = [each for each in self.envs if locks.is_being_built(each.folder)]
        own = [each.env.name for each in self.envs if each not in others]
        if own:
            self.echo(f"building {', '.join(own)}")
        self._wait_for(others)

    def look(self, *, ended: bool = False) -> None:
        """Look once at every env that is not done; ``ended`` where nothing is built any more."""
        for each in self.envs:
            if not each.done:
                self._look_at(each, ended=ended)
        going_on = [each for each in self.envs if each.began is not None and not each.done]
        parts = [f"{self._count()} done", _listed("now", (each for each in going_on if not each.waits))]
        self.now(", ".join(filter(None, (*parts, _listed("waiting for", (each for each in going_on if each.waits))))))

    def _look_at(self, each: _Watched, *, ended: bool) -> None:
        record = read_record(each.folder)
        if record is None or not (ended or _time_of(each.folder) != each.before):
            return
        if record["error"] == INTERRUPTED:
            self._look_at_start(each, own=record.get("built_for") == self.mark)
        elif _time_of(each.folder) != each.before or record["ok"]:
            each.done = True
            self._tell(each, record)

    def _look_at_start(self, each: _Watched, *, own: bool) -> None:
        """Its installation has begun: here, perhaps after another command gave it up, or in another command."""
        if own and (each.waits or each.began is None):
            each.waits, each.began = False, time.monotonic()
        elif not own and not each.waits:
            self._wait_for([each])

    def _tell(self, each: _Watched, record: Mapping[str, Any]) -> None:
        seconds = 0.0 if each.began is None else time.monotonic() - each.began
        other = record.get("built_for") != self.mark
        if record["ok"] and _time_of(each.folder) == each.before:
            became = "was there already"
        elif record["ok"]:
            became = f"another command has built it, waited for {seconds:.1f} s" if other else f"built in {seconds:.1f} s"
        else:
            became = f"failed{' in another command' if other else ''}: {_in_short(record['error'])}"
        self.echo(f"{each.env.name}: {became}{f' ({self._count()})' if len(self.envs) > 1 else ''}")

    def _wait_for(self, others: Sequence[_Watched]) -> None:
        if others:
            self.echo(f"another command is building {', '.join(each.env.name for each in others)}: waiting for it")
        for each in others:
            each.waits, each.began = True, each.began or time.monotonic()

    def _count(self) -> str:
        return f"{sum(each.done for each in self.envs)} of {len(self.envs)}"


def _listed(what: str, some: Iterable[_Watched]) -> str:
    names = ", ".join(each.env.name for each in some)
    return f"{what} {names}" if names else ""


@contextmanager
def told(envs: Sequence[Env], cache: EnvCache, mark: str, echo: Tell, now: Tell) -> Iterator[None]:
    """While this lasts, ``echo`` is told of each env that has been built or has failed, and ``now`` of what is going on.

    The records of those that this command has built have its ``mark``; others are built by another command.
    """
    folders = ((env, cache.folder_of(env)) for env in envs)
    watch = _Watch([_Watched(env, folder, _time_of(folder)) for env, folder in folders], mark, echo, now)
    watch.begin()
    ended = threading.Event()

    def look_on() -> None:
        while not ended.wait(_EVERY):
            watch.look()

    thread = threading.Thread(target=look_on, name="env progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        watch.look(ended=True)


def _time_of(folder: EnvFolder) -> int:
    try:
        return folder.record.stat().st_mtime_ns
    except OSError:
        return 0


def _in_short(error: str) -> str:
    """The line of an installer's words that says most: the last one that names an error, or else the last."""
    lines = error.splitlines() or [""]
    return next((line for line in reversed(lines) if line.lower().startswith("error")), lines[-1]).strip()
