"""Batches that nobody has taken yet."""

from __future__ import annotations

from collections.abc import Sequence

from compat.execution.batch_queue import BatchQueue
from compat.execution.executors.base import EnvLeft
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


def batches(*names: str) -> list[tuple[Cell, ...]]:
    return [(cell(ENVS[name], "faces", "fine", case=str(number)),) for number, name in enumerate(names)]


def test_the_executor_says_of_which_env_the_next_batch_is() -> None:
    executor = Choosing()
    queue = BatchQueue(batches("old", "new", "new", "new"), ENVS, executor)
    taken = []
    while (batch := queue.take()) is not None:
        taken.append(f"{batch[0].env.name} {batch[0].spec.case}")
    assert taken == ["new 1", "new 2", "old 0", "new 3"]
    assert executor.asked == ["of old:1 of new:3", "of old:1 of new:2", "of old:1 of new:1"], "not where there is one env"


def test_on_this_machine_they_keep_their_order() -> None:
    given = batches("old", "old", "new")
    queue = BatchQueue(given, ENVS, LocalExecutor())
    assert [queue.take() for _ in range(4)] == [*given, None]


def test_an_env_is_released_when_its_last_batch_is_done() -> None:
    executor = Choosing()
    given = batches("old", "new", "old")
    queue = BatchQueue(given, ENVS, executor)
    told = []
    for batch in (given[2], given[1], given[0]):
        queue.done(batch)
        told.append(list(executor.released))
    assert told == [[], ["new"], ["new", "old"]]
