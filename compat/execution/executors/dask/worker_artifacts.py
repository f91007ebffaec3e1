"""Large artifacts on the machine of a worker, for the driver to fetch when somebody asks for one.

::

    ~/.cache/triton-compat/worker-artifacts/
        taken                       the bytes of all that is there
        5e/5e6f7a8b…                an artifact, by the SHA-256 of it

Several worker processes share the folder. It stays within a size: what was neither written nor fetched for longest goes first.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import logging
import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import evolve, frozen

from compat.envs.cache import user_folder
from compat.errors import EnvError
from compat.execution.elsewhere import Elsewhere
from compat.execution.executors.base import CellAttempts
from compat.files import content_of, replace_file
from compat.sizes import size_of_text

FOLDER, BUDGET = "COMPAT_WORKER_ARTIFACTS", "COMPAT_WORKER_ARTIFACTS_SIZE"
"""The environment variables of a worker that name the folder for its artifacts, and what all of them may take."""
_BUDGET = "4 GiB"
_SPARE = 256 << 20
"""Bytes of the disk that are left to others."""
_LEFT = 0.9
"""The part of the budget that is still taken once what was used least recently has gone: not each new one looks at all others."""
_LARGEST = 1 << 30
_LOCK, _TAKEN = ".lock", "taken"

_log = logging.getLogger(__name__)


@frozen(kw_only=True)
class WorkerArtifacts:
    """The artifacts of a machine. Processes and threads may share the folder."""

    folder: Path
    budget: int
    """Bytes that all of them may take."""
    spare: int = _SPARE
    """Bytes of the disk that they leave free."""

    def keep(self, data: bytes) -> str | None:
        """Keep an artifact, and return its hash; ``None`` where there is no room for it. Raises OSError."""
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        if content_of(path, _LARGEST) == data:
            os.utime(path)
            return digest
        if len(data) > self.budget:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():  # also while it is written: who looks at all others has to see it
            if shutil.disk_usage(self.folder).free < len(data) + self.spare:
                return None
            self._make_room(len(data))
            replace_file(path, data)
        return digest

    def has(self, digest: str) -> bool:
        """Whether there is an artifact of that hash."""
        return self._path(digest).is_file()

    def read(self, digest: str) -> bytes | None:
        """The artifact of that hash, which then counts as used; ``None`` where it is not there.

        Raises ValueError where its content is another: it is removed, so that it can be kept anew.
        """
        path = self._path(digest)
        data = content_of(path, _LARGEST)
        if data is None:
            return None
        same = hashlib.sha256(data).hexdigest() == digest
        with suppress(OSError):  # a folder that can only be read
            os.utime(path) if same else path.unlink()
        if not same:
            raise ValueError("its file there was damaged")
        return data

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest

    def _make_room(self, needed: int) -> None:
        """Count an artifact that comes, having removed what was used least recently where all would be more than is allowed."""
        taken = self._taken()
        if taken is None or taken + needed > self.budget:
            taken = self._evicted(self.budget - needed)
        replace_file(self.folder / _TAKEN, str(taken + needed))

    def _taken(self) -> int | None:
        """The bytes that all take, as was counted; ``None`` where nobody knows."""
        try:
            return max(0, int((self.folder / _TAKEN).read_text()))
        except (OSError, ValueError):
            return None

    def _evicted(self, limit: int) -> int:
        """Look at all artifacts, and remove some if they take more than ``limit`` bytes; how many they take then."""
        found = sorted(self._all(), key=lambda each: each[1].st_mtime)
        taken = sum(status.st_size for _, status in found)
        goal = limit if taken <= limit else min(limit, int(_LEFT * self.budget))
        for path, status in found:
            if taken <= goal:
                break
            with suppress(FileNotFoundError):
                path.unlink()
            taken -= status.st_size
        return taken

    def _all(self) -> Iterator[tuple[Path, os.stat_result]]:
        """All files below the folder's folders, those that are being written among them."""
        for path in self.folder.glob("*/*"):
            with suppress(FileNotFoundError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    yield path, status

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else counts or writes meanwhile."""
        with open(self.folder / _LOCK, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def worker_artifacts(environ: Mapping[str, str] = os.environ) -> WorkerArtifacts:
    """Those of this machine as the environment says (``$COMPAT_WORKER_ARTIFACTS``, ``$COMPAT_WORKER_ARTIFACTS_SIZE``).

    Raises EnvError.
    """
    said = environ.get(BUDGET) or _BUDGET
    budget = size_of_text(said)
    if budget is None:
        raise EnvError(f'{said} is not a size, such as "{_BUDGET}"', where=f"${BUDGET}")
    named = environ.get(FOLDER)
    folder = Path(os.path.abspath(os.path.expanduser(named))) if named else user_folder("worker-artifacts", FOLDER)
    return WorkerArtifacts(folder=folder, budget=budget)


def staying(told: Sequence[CellAttempts], limit: int) -> tuple[CellAttempts, ...]:
    """Attempts without their artifacts of more than ``limit`` bytes, which stay on this machine as far as it has room for them."""
    return tuple(_staying(each, limit) if any(len(data) > limit for data in each.artifacts.values()) else each for each in told)


def _staying(told: CellAttempts, limit: int) -> CellAttempts:
    back, left = dict[str, bytes](), list[Elsewhere]()
    for name, data in told.artifacts.items():
        digest = _kept(data) if len(data) > limit else None
        if digest is None:
            back[name] = data
        else:
            left.append(Elsewhere(name=name, digest=digest, size=len(data)))
    return evolve(told, artifacts=back, elsewhere=tuple(left))


def _kept(data: bytes) -> str | None:
    """The hash of an artifact that is kept here; ``None`` where it cannot be."""
    try:
        return worker_artifacts().keep(data)
    except (OSError, EnvError) as error:
        _log.warning("an artifact of %d bytes is sent to the driver: it cannot be kept here: %s", len(data), error)
        return None


# --- what a driver asks --------------------------------------------------------------------------------------------------------


def held(digests: Collection[str]) -> frozenset[str]:
    """Which of these artifacts this machine has."""
    mine = worker_artifacts()
    return frozenset(filter(mine.has, digests))


async def given(digest: str) -> bytes | str | None:
    """An artifact, or what is wrong with it; ``None`` where it is not here. A worker does other things meanwhile."""
    try:
        return await asyncio.to_thread(worker_artifacts().read, digest)
    except ValueError as error:
        return str(error)
