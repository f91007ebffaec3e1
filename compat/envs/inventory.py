"""What is in the cache of envs, and removing what nobody uses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from attrs import asdict, frozen

from compat.envs import locks
from compat.envs.cache import EnvCache, EnvFolder
from compat.envs.record import INTERRUPTED, NotInstalled, inspect, read_record
from compat.errors import EnvError


@frozen(kw_only=True)
class KeptEnv:
    """One env in the cache, whoever asked for it."""

    folder: EnvFolder
    requirements: tuple[str, ...] = ()
    """What is asked for, as pip reads it."""
    specifier: str = ""
    """The Pythons that are asked for, where only some are: ``>=3.12``."""
    python: str | None = None
    """The version of its Python, three numbers; ``None`` where it has none."""
    backend: str | None = None
    state: str
    """``complete``, ``failed``, ``interrupted``, ``damaged`` or ``being built``."""
    error: str | None = None
    """Why it cannot be used, if it cannot."""
    used: float
    """When it was last used or built, in seconds since 1970."""


def kept_envs(cache: EnvCache) -> tuple[KeptEnv, ...]:
    """All envs in a cache, by name. Starts no process."""
    return tuple(_kept(folder) for folder in cache.folders())


def _kept(folder: EnvFolder) -> KeptEnv:
    record = read_record(folder) or {}
    state, error = _state(folder, record)
    return KeptEnv(
        folder=folder,
        requirements=tuple(record.get("requirements", ())),
        specifier=record.get("specifier") or "",
        python=record.get("python"),
        backend=record.get("backend"),
        state=state,
        error=error,
        used=locks.last_used(folder),
    )


def _state(folder: EnvFolder, record: dict[str, object]) -> tuple[str, str | None]:
    if locks.is_being_built(folder):
        return "being built", "it is being built"
    if not record:
        return "damaged", "its record is missing or damaged"
    if not record["ok"]:
        return "interrupted" if record["error"] == INTERRUPTED else "failed", str(record["error"])
    needed = record["distributions"]
    assert isinstance(needed, list)
    try:
        installation = inspect(folder.path / str(record["location"]), needed)
    except NotInstalled as error:
        return "damaged", str(error)
    same = [asdict(package) for package in installation.packages] == record["packages"]
    return ("complete", None) if same else ("damaged", "its packages are not those that were installed")


def size_of(path: Path) -> int:
    """Bytes that a folder takes, each file counted once. Installers may share files with their own caches by hard links."""
    seen: dict[tuple[int, int], int] = {}
    folders = [os.fspath(path)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    seen[status.st_dev, status.st_ino] = status.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:  # it goes away while we look
            continue
    return sum(seen.values())


# --- removing ----------------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Pruned:
    """An env that was removed, or would be."""

    env: KeptEnv
    size: int
    """Bytes on disk."""
    kept: str | None
    """Why it is still there, where it could not be removed."""


def prune(cache: EnvCache, *, unused_since: float, dry_run: bool = False) -> Iterator[Pruned]:
    """Remove the envs that have not been used since then (seconds since 1970), but none that is in use or being built.

    With ``dry_run`` they are only told. Raises EnvError where one cannot be removed.
    """
    for env in kept_envs(cache):
        if env.used > unused_since:
            continue
        size = size_of(env.folder.path)
        try:
            kept = locks.reason_to_keep(env.folder) if dry_run else locks.remove(env.folder)
        except OSError as error:
            raise EnvError(f"it cannot be removed: {error.strerror or error}", where=str(env.folder.path)) from error
        yield Pruned(env=env, size=size, kept=kept)
