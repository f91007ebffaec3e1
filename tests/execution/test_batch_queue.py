"""Batches that nobody has taken yet."""

from __future__ import annotations

from collections.abc import Sequence

from compat.execution.batch_queue import BatchQueue
from compat.execution.executors.base import EnvLeft, Executor
from compat.execution.executors.local import LocalExecutor
from compat.model import BuiltEnv, Cell, Env
from tests.cells import cell

ENVS = {name: BuiltEnv(env=Env(name=name), digest=f"of {name}") for name in ("old", "new")}


class Choosing(LocalExecutor):
    """Takes the env that has most batches left, and notes what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.released: list[str] = []

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        self.asked.append(" ".join(f"{env.digest}:{env.batches}" for env in envs))
        return max(range(len(envs)), key=lambda number: envs[number].batches)

    def release(self, env: str) -> None:
        self.released.append(env)


def queue_of(executor: Executor, *names: str) -> tuple[BatchQueue, list[Cell]]:
    """Batches of two cells of these envs, and the cells."""
    cells = [cell(ENVS[name], "faces", "fine", case=str(number)) for number, name in enumerate(names) for _ in range(2)]
    return BatchQueue([(at, at + 1) for at in range(0, len(cells), 2)], cells, ENVS, executor), cells


def test_the_executor_says_of_which_env_the_next_batch_is() -> None:
    executor = Choosing()
    queue, cells = queue_of(executor, "old", "new", "new", "new")
    taken = []
    while (batch := queue.take()) is not None:
        assert len(batch) == 2
        taken.append(f"{cells[batch[0]].env.name} {cells[batch[0]].spec.case}")
    assert taken == ["new 1", "new 2", "old 0", "new 3"]
    assert executor.asked == ["of old:1 of new:3", "of old:1 of new:2", "of old:1 of new:1"], "not where there is one env"


def test_on_this_machine_they_keep_their_order() -> None:
    queue, _ = queue_of(LocalExecutor(), "old", "old", "new")
    assert [batch and list(batch) for batch in (queue.take() for _ in range(4))] == [[0, 1], [2, 3], [4, 5], None]


def test_an_env_is_released_when_its_last_batch_is_done() -> None:
    executor = Choosing()
    queue, _ = queue_of(executor, "old", "new", "old")
    told = []
    for batch in ((4, 5), (2, 3), (0, 1)):
        queue.done(batch)
        told.append(list(executor.released))
    assert told == [[], ["new"], ["new", "old"]]
