"""How the building of envs goes, while nox builds them in processes of its own: told by their records."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import define

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
    done: bool = False


@define
class _Watch:
    """All of them, looked at again and again."""

    envs: list[_Watched]
    echo: Tell
    """Is told of each env that is done, for good."""
    now: Tell
    """Is told what is going on, time and again."""

    def look(self) -> None:
        """Look once at every env that is not done."""
        for each in self.envs:
            if not each.done:
                self._look_at(each)
        building = [each for each in self.envs if each.began is not None and not each.done]
        done = sum(each.done for each in self.envs)
        names = ", ".join(each.env.name for each in building)
        self.now(f"{done} of {len(self.envs)} done, now {names}" if names else f"{done} of {len(self.envs)} done")

    def _look_at(self, each: _Watched) -> None:
        record = read_record(each.folder)
        if record is None or _time_of(each.folder) == each.before:
            return
        each.began = each.began or time.monotonic()
        if record["error"] == INTERRUPTED:
            return
        each.done = True
        done = sum(other.done for other in self.envs)
        became = f"built in {time.monotonic() - each.began:.1f} s" if record["ok"] else f"failed: {_in_short(record['error'])}"
        self.echo(f"{each.env.name}: {became} ({done} of {len(self.envs)})")


@contextmanager
def told(envs: Sequence[Env], cache: EnvCache, echo: Tell, now: Tell) -> Iterator[None]:
    """While this lasts, ``echo`` is told of each env that has been built or has failed, and ``now`` of what is going on."""
    folders = ((env, cache.folder_of(env)) for env in envs)
    watch = _Watch([_Watched(env, folder, _time_of(folder)) for env, folder in folders], echo, now)
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
        watch.look()


def _time_of(folder: EnvFolder) -> int:
    try:
        return folder.record.stat().st_mtime_ns
    except OSError:
        return 0


def _in_short(error: str) -> str:
    """The line of an installer's words that says most: the last one that names an error, or else the last."""
    lines = error.splitlines() or [""]
    return next((line for line in reversed(lines) if line.lower().startswith("error")), lines[-1]).strip()
