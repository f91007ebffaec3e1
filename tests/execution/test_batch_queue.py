"""Batches that nobody has taken yet."""

from __future__ import annotations

from collections.abc import Sequence

from compat.engine.plan import BatchQueue, batches
from compat.executors.executor import EnvLeft, LocalExecutor
from compat.model import BuiltEnv, Cell, Env
from tests.cells import cell

ENVS = {name: BuiltEnv(env=Env(name=name), digest=f"of {name}") for name in ("old", "new")}


class Choosing(LocalExecutor):
    """Takes the env that has most cells left, and notes what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.released: list[str] = []

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        self.asked.append(" ".join(f"{env.digest}:{env.cells}" for env in envs))
        return max(range(len(envs)), key=lambda number: envs[number].cells)

    def release(self, env: str) -> None:
        self.released.append(env)


def queued(executor: Choosing | LocalExecutor, *names: str) -> tuple[BatchQueue, list[Cell]]:
    """Cells of these envs, each of a source of its own, so that it is a batch."""
    cells = [cell(ENVS[name], "faces", "fine", source=f"{number}.py") for number, name in enumerate(names)]
    return BatchQueue(batches(cells, range(len(cells)), slots=1), ENVS, executor), cells


def test_the_executor_says_of_which_env_the_next_batch_is() -> None:
    executor = Choosing()
    queue, cells = queued(executor, "old", "new", "new", "new")
    taken = []
    while (batch := queue.take()) is not None:
        taken += [f"{cells[position].env.name} {position}" for position in batch]
    assert taken == ["new 1", "new 2", "old 0", "new 3"]
    assert executor.asked == ["of old:1 of new:3", "of old:1 of new:2", "of old:1 of new:1"], "not where there is one env"


def test_on_this_machine_they_keep_their_order() -> None:
    queue, _ = queued(LocalExecutor(), "old", "old", "new")
    assert [queue.take() for _ in range(4)] == [(0,), (1,), (2,), None]


def test_an_env_is_released_when_its_last_batch_is_done() -> None:
    executor = Choosing()
    queue, _ = queued(executor, "old", "new", "old")
    told = []
    for env in ("old", "new", "old"):
        queue.done(env, 1)
        told.append(list(executor.released))
    assert told == [[], ["new"], ["new", "old"]]
