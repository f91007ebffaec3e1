"""The batches of a run that nobody has taken yet."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence

from compat.execution.executors.base import EnvLeft, Executor
from compat.model import BuiltEnv, Cell


class BatchQueue:
    """Batches by env, in their order; the executor says of which env the next one is, and hears when an env has none any more."""

    def __init__(
        self, batches: Iterable[Sequence[int]], cells: Sequence[Cell], envs: Mapping[str, BuiltEnv], executor: Executor
    ) -> None:
        """Batches are positions in ``cells``; ``envs`` are by name."""
        self._cells, self._executor, self._digests = cells, executor, {name: built.digest for name, built in envs.items()}
        self._waiting: dict[str, _Waiting] = {}
        for batch in batches:
            self._waiting.setdefault(self._env_of(batch), _Waiting()).add(batch)
        self._unfinished = {name: len(waiting) for name, waiting in self._waiting.items()}
        self._lock = threading.Lock()

    def take(self) -> Sequence[int] | None:
        """The next batch; ``None`` where all are taken."""
        with self._lock:
            if not self._waiting:
                return None
            names = list(self._waiting)
            left = [EnvLeft(digest=self._digests[name], batches=len(self._waiting[name])) for name in names]
            name = names[self._executor.next_env(left) if len(left) > 1 else 0]
            batch = self._waiting[name].take()
            if not self._waiting[name]:
                del self._waiting[name]
            return batch

    def done(self, batch: Sequence[int]) -> None:
        """A batch that was taken is finished."""
        name = self._env_of(batch)
        with self._lock:
            self._unfinished[name] -= 1
            last = self._unfinished[name] == 0
        if last:
            self._executor.release(name)

    def _env_of(self, batch: Sequence[int]) -> str:
        return self._cells[batch[0]].env.name


class _Waiting:
    """The batches of an env that nobody has taken. In few bytes: tuples of all cells take 40 for each cell."""

    def __init__(self) -> None:
        self._positions, self._ends = array("L"), array("L")
        self._taken = 0

    def __len__(self) -> int:
        return len(self._ends) - self._taken

    def add(self, batch: Iterable[int]) -> None:
        """The last one."""
        self._positions.extend(batch)
        self._ends.append(len(self._positions))

    def take(self) -> Sequence[int]:
        """The first one."""
        start = self._ends[self._taken - 1] if self._taken else 0
        self._taken += 1
        return self._positions[start : self._ends[self._taken - 1]]
