"""Batches that nobody has taken yet."""

from __future__ import annotations

from compat.engine.plan import BatchQueue, batches
from compat.executors.executor import LocalExecutor
from compat.model import BuiltEnv, Env
from tests.cells import cell

ENVS = {name: BuiltEnv(env=Env(name=name), digest=f"of {name}") for name in ("old", "new")}


class Noting(LocalExecutor):
    """Notes which envs have no batches any more."""

    def __init__(self) -> None:
        super().__init__()
        self.released: list[str] = []

    def release(self, env: str) -> None:
        self.released.append(env)


def queued(executor: LocalExecutor, *names: str) -> BatchQueue:
    """A queue with one cell per name. Each has a source of its own, so that it is a batch."""
    cells = [
        cell(ENVS[name], "faces", "fine", source=f"{number}.py")
        for number, name in enumerate(names)
    ]
    return BatchQueue(batches(cells, range(len(cells)), slots=1), executor)


def test_batches_of_one_env_are_taken_together() -> None:
    queue = queued(LocalExecutor(), "old", "new", "old")
    assert [queue.take() for _ in range(4)] == [(0,), (2,), (1,), None]


def test_an_env_is_released_when_its_last_batch_is_done() -> None:
    executor = Noting()
    queue = queued(executor, "old", "new", "old")
    snapshots = []
    for env in ("old", "new", "old"):
        queue.finish_cells(env, 1)
        snapshots.append(list(executor.released))
    assert snapshots == [[], ["new"], ["new", "old"]]
