"""The batches of a run that nobody has taken yet."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from compat.execution.executors.base import EnvLeft, Executor
from compat.execution.plan import Share
from compat.model import BuiltEnv


class BatchQueue:
    """Batches by env, in their order; the executor says of which env the next one is, and hears when an env has none any more."""

    def __init__(self, shares: Mapping[str, Share], envs: Mapping[str, BuiltEnv], executor: Executor) -> None:
        """Both by the name of an env."""
        self._executor = executor
        self._waiting = dict(shares)
        self._digests = {name: envs[name].digest for name in shares}
        self._unfinished = {name: share.cells for name, share in shares.items()}
        self._lock = threading.Lock()

    def take(self) -> Sequence[int] | None:
        """The next batch, as positions of cells; ``None`` where all are taken."""
        with self._lock:
            if not self._waiting:
                return None
            name = self._next_env()
            share = self._waiting[name]
            batch = next(share.batches)
            share.cells -= len(batch)
            if not share.cells:
                del self._waiting[name]
            return batch

    def _next_env(self) -> str:
        names = list(self._waiting)
        if len(names) == 1:
            return names[0]
        left = [EnvLeft(digest=self._digests[name], cells=share.cells) for name, share in self._waiting.items()]
        return names[self._executor.next_env(left)]

    def done(self, env: str, cells: int) -> None:
        """So many cells of an env are finished, of those that were taken."""
        with self._lock:
            self._unfinished[env] -= cells
            last = self._unfinished[env] == 0
        if last:
            self._executor.release(env)
