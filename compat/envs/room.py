"""A folder of envs that stays within a size: what nobody uses makes room, the least recently used first."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compat.envs import locks
from compat.envs.cache import EnvCache, EnvFolder
from compat.envs.inventory import size_of
from compat.errors import EnvError
from compat.files import replace_file
from compat.sizes import in_bytes

_LOCK = ".room.lock"
"""Who looks for room holds this file in the folder, so that no two count on the same."""
_EXPECTED = "expected"
"""The file in the folder of an env that says how many bytes it will take. It counts while the env is being built."""


class WorkerLacks(EnvError):
    """A machine cannot have an env, and another perhaps can: what it lacks."""


class NoRoom(WorkerLacks):
    """There is no room for an env as long as others are in use."""


def make_room(cache: EnvCache, folder: EnvFolder, needed: int, budget: int) -> None:
    """Have ``needed`` bytes free, of the ``budget`` of all envs in a cache, for the env in ``folder``, and note them as taken.

    Whoever calls this builds that env (:func:`compat.envs.locks.building`). What is in use or being built is never removed.
    Raises WorkerLacks where the budget is too small for that env alone, NoRoom where others use what is missing, and OSError.
    """
    if needed > budget:
        raise WorkerLacks(f"it takes {in_bytes(needed)}, and all envs may take {in_bytes(budget)} here", where=str(cache.folder))
    with _alone(cache.folder):
        taken = _evicted(cache, folder, budget - needed)
        if taken > budget - needed:
            said = f"it takes {in_bytes(needed)}; of {in_bytes(budget)}, {in_bytes(taken)} are taken by envs in use"
            raise NoRoom(said, where=str(cache.folder))
        replace_file(folder.path / _EXPECTED, str(needed))


def keep_within(cache: EnvCache, budget: int) -> None:
    """Remove envs that nobody uses while all of them take more than ``budget`` bytes. Raises OSError."""
    with _alone(cache.folder):
        _evicted(cache, None, budget)


def _evicted(cache: EnvCache, but: EnvFolder | None, limit: int) -> int:
    """Remove what nobody uses until the envs, without one of them, take ``limit`` bytes; how many they take then."""
    sizes = {each: _size(each) for each in cache.folders() if each != but}
    taken = sum(sizes.values())
    for each in sorted(sizes, key=locks.last_used):
        if taken <= limit:
            break
        if locks.remove(each) is None:
            taken -= sizes[each]
    return taken


def _size(folder: EnvFolder) -> int:
    """The bytes that an env takes, or will take."""
    size = size_of(folder.path)
    if locks.is_being_built(folder):
        with suppress(OSError, ValueError):
            return max(size, int((folder.path / _EXPECTED).read_text()))
    return size


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else looks for room meanwhile."""
    with open(folder / _LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
