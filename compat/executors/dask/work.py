"""Work for a Dask worker, which is retried on other workers if that worker ends.

The first retry runs alone on a worker. The second one also runs each cell separately.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import ClassVar, Generic, Self, TypeVar

from attrs import evolve, frozen

from compat.errors import ClusterError
from compat.executors.dask.session import ClusterWorker, DaskSession, InterruptedTask, WorkerLost
from compat.text import group_by_key, join_words

_LOSSES = 3
"""The number of lost workers after which work counts as lost: the first, and those of two retries.
"""
_DISPLACED = 5
"""How often work may be taken away for a reason other than a worker, such as a broken connection,
while no other task returns.
"""

_NAMED = 3
"""The most workers that a message names."""

_Outcome = TypeVar("_Outcome")


@frozen(kw_only=True)
class Work(ABC, Generic[_Outcome]):
    """Cells without a result, and the workers that were lost with them so far."""

    ENDED: ClassVar[str] = "ended during"
    """The verb for a lost worker in messages, before its cells."""
    session: DaskSession
    check: Callable[[], None]
    """Raises an exception if all work must end."""
    losses: tuple[ClusterWorker, ...] = ()
    """The workers that ended while they had this work."""
    displacements: int = 0
    """How often this work was taken away since the last task of the session returned."""
    done_before: int = 0
    """``DaskSession.done`` when this work was taken away last."""

    def run(self) -> Generator[_Outcome]:
        """Yield all results as they arrive. Raises ClusterError, and the errors of ``check``."""
        queue = [self]
        while queue:
            work = queue.pop(0)
            try:
                outcomes, remaining = work.attempt()
            except WorkerLost as loss:
                outcomes, remaining = work.after_loss(loss.worker, self.ENDED)
            except InterruptedTask:
                outcomes, remaining = [], [work.again()]
            yield from outcomes
            queue[:0] = remaining

    @abstractmethod
    def attempt(self) -> tuple[Sequence[_Outcome], Sequence[Self]]:
        """Send the work to a worker once, and return the results and the remaining work.

        Raises WorkerLost and InterruptedTask.
        """

    @property
    @abstractmethod
    def cells(self) -> Sequence[str]:
        """The names of the cells."""

    @abstractmethod
    def part(self, numbers: Sequence[int]) -> Self:
        """Return the work for some of the cells."""

    @abstractmethod
    def results_if_lost(self) -> Sequence[_Outcome]:
        """Return the results for work that is not retried."""

    def after_loss(
        self, worker: ClusterWorker, how: str
    ) -> tuple[Sequence[_Outcome], Sequence[Self]]:
        """Return the results and the remaining work after the loss of a worker.

        The first retry runs alone, the second one cell by cell. Then the work counts as lost.
        ``how`` says in messages how the worker was lost.
        """
        work = evolve(self, losses=(*self.losses, worker))
        cells = self.cells
        what = (
            f"Dask worker {worker.name} {how}"
            f" {cells[0] if len(cells) == 1 else f'{len(cells)} cells'}"
        )
        if len(work.losses) == _LOSSES:
            self.session.say(f"{what}; no worker tries again")
            return work.results_if_lost(), []
        self.session.say(f"{what}; another worker tries again")
        return [], (
            [work.part([number]) for number in range(len(cells))]
            if len(work.losses) == _LOSSES - 1
            else [work]
        )

    def again(self) -> Self:
        """Return this work after it was taken away once more.

        Raises ClusterError if that happens more than :data:`_DISPLACED` times while no task of the
        session returns.
        """
        done = self.session.done
        displaced = self.displacements + 1 if self.done_before == done else 1
        if displaced > _DISPLACED:
            raise ClusterError(
                "the Dask scheduler keeps taking tasks back",
                hint="Check whether another program uses all of its workers.",
            )
        return evolve(self, displacements=displaced, done_before=done)

    @property
    def hosts(self) -> set[str]:
        """The hosts of the workers that were lost with this work."""
        return {worker.host for worker in self.losses}

    @property
    def names(self) -> str:
        """The names of the workers that were lost with this work."""
        return ", ".join(worker.name for worker in self.losses)


def by_reason(reasons: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return reason → the names of its workers, from pairs of a worker's name and a reason."""
    names = group_by_key((reason, name) for name, reason in reasons)
    return {reason: join_words(some, _NAMED) for reason, some in names.items()}
