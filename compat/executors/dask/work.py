"""Work that goes to a worker, and elsewhere if that ends.

Then it goes alone, and in the end cell by cell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import ClassVar, Generic, Self, TypeVar

from attrs import evolve, frozen

from compat.errors import ClusterError
from compat.executors.dask.session import ClusterWorker, DaskSession, TakenAway, WorkerLost

_LOSSES = 3
"""How often it is tried: once, and twice elsewhere."""
_DISPLACED = 5
"""How often it may be taken away by no fault of a worker, such as a connection that breaks, while
nothing else gets done.
"""

_Outcome = TypeVar("_Outcome")


@frozen(kw_only=True)
class Work(ABC, Generic[_Outcome]):
    """Cells that have no outcome yet, and the attempts that failed so far."""

    ENDED: ClassVar[str] = "ended during"
    """The words for a worker that ended, before its cells."""
    session: DaskSession
    check: Callable[[], None]
    """Raises where all is to end."""
    losses: tuple[ClusterWorker, ...] = ()
    """The workers that ended while they had it."""
    displaced: int = 0
    """How often it was taken away since the cluster last did anything."""
    done_before: int = 0
    """``DaskSession.done`` when it was taken away last."""

    def run(self) -> Generator[_Outcome]:
        """All outcomes, as they are known. Raises ClusterError, and what ``check`` raises."""
        queue = [self]
        while queue:
            work = queue.pop(0)
            try:
                outcomes, remaining = work.attempt()
            except WorkerLost as loss:
                outcomes, remaining = work.after_loss(loss.worker, self.ENDED)
            except TakenAway:
                outcomes, remaining = [], [work.again()]
            yield from outcomes
            queue[:0] = remaining

    @abstractmethod
    def attempt(self) -> tuple[Sequence[_Outcome], Sequence[Self]]:
        """Try it once: the results so far, and the rest. Raises WorkerLost, and TakenAway."""

    @property
    @abstractmethod
    def cells(self) -> Sequence[str]:
        """The names of its cells."""

    @abstractmethod
    def part(self, numbers: Sequence[int]) -> Self:
        """The same of some of its cells."""

    @abstractmethod
    def lost(self) -> Sequence[_Outcome]:
        """The results if it is not tried again."""

    def after_loss(
        self, worker: ClusterWorker, how: str
    ) -> tuple[Sequence[_Outcome], Sequence[Self]]:
        """Another worker tries it alone, then cell by cell, and then it counts as lost."""
        work = evolve(self, losses=(*self.losses, worker))
        cells = self.cells
        what = (
            f"Dask worker {worker.name} {how}"
            f" {cells[0] if len(cells) == 1 else f'{len(cells)} cells'}"
        )
        if len(work.losses) == _LOSSES:
            self.session.say(f"{what}; no worker tries again")
            return work.lost(), []
        self.session.say(f"{what}; another worker tries again")
        return [], (
            [work.part([number]) for number in range(len(cells))]
            if len(work.losses) == _LOSSES - 1
            else [work]
        )

    def again(self) -> Self:
        """The same, taken away once more. Raises ClusterError where that goes on and on."""
        done = self.session.done
        displaced = self.displaced + 1 if self.done_before == done else 1
        if displaced > _DISPLACED:
            raise ClusterError(
                "the Dask scheduler keeps taking tasks back",
                hint="Check whether another program uses all of its workers.",
            )
        return evolve(self, displaced=displaced, done_before=done)

    @property
    def hosts(self) -> set[str]:
        """The hosts on which it has been lost."""
        return {worker.host for worker in self.losses}

    @property
    def names(self) -> str:
        """The workers that ended with it."""
        return ", ".join(worker.name for worker in self.losses)


def by_reason(reasons: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Pairs of a worker and what it lacks → each reason once, and who has it."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons:
        names.setdefault(reason, []).append(name)
    return {
        reason: (
            ", ".join(some) if len(some) <= 3 else f"{', '.join(some[:2])} and {len(some) - 2} more"
        )
        for reason, some in names.items()
    }
