"""The batches of a run that nobody has taken yet."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from compat.execution.executors.base import EnvLeft, Executor
from compat.model import BuiltEnv, Cell


class BatchQueue:
    """Batches by env, in their order; the executor says of which env the next one is, and hears when an env has none any more."""

    def __init__(self, batches: Iterable[Sequence[Cell]], envs: Mapping[str, BuiltEnv], executor: Executor) -> None:
        """``envs`` are by name."""
        self._executor, self._digests = executor, {name: built.digest for name, built in envs.items()}
        self._waiting: dict[str, deque[Sequence[Cell]]] = {}
        for batch in batches:
            self._waiting.setdefault(batch[0].env.name, deque()).append(batch)
        self._unfinished = {name: len(waiting) for name, waiting in self._waiting.items()}
        self._lock = threading.Lock()

    def take(self) -> Sequence[Cell] | None:
        """The next batch; ``None`` where all are taken."""
        with self._lock:
            if not self._waiting:
                return None
            names = list(self._waiting)
            left = [EnvLeft(digest=self._digests[name], batches=len(self._waiting[name])) for name in names]
            name = names[self._executor.next_env(left) if len(left) > 1 else 0]
            batch = self._waiting[name].popleft()
            if not self._waiting[name]:
                del self._waiting[name]
            return batch

    def done(self, batch: Sequence[Cell]) -> None:
        """A batch that was taken is finished."""
        name = batch[0].env.name
        with self._lock:
            self._unfinished[name] -= 1
            last = self._unfinished[name] == 0
        if last:
            self._executor.release(name)
