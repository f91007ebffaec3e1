"""A batch on its way to the workers of a Dask cluster and back: placed, tried elsewhere where a worker is lost, and isolated."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Generator, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from compat import interruption, toolchains
from compat.bundle.tree import Tree
from compat.errors import ClusterError, MachineError
from compat.execution import variables
from compat.execution.executors.base import Batch, CellAttempts, EnvLeft
from compat.execution.executors.dask.gpus import GpuWorkers
from compat.execution.executors.dask.parcel import Answer, Parcel, folders_for, origins_of
from compat.execution.executors.dask.placement import Losses, Nobody, Place
from compat.execution.executors.dask.session import DaskSession
from compat.execution.executors.dask.task import Fate, ask
from compat.execution.executors.local import LocalExecutor
from compat.execution.spawn import WORKER
from compat.interruption import Stopped
from compat.model import SOURCE_STAGE, Evidence

_DISPLACED = 5
"""How often a batch may be taken away by no fault of a worker, such as a connection that breaks, while nothing else gets done."""


@frozen
class _Way:
    """Cells of a batch on their way, and what has become of it so far."""

    parcel: Parcel
    positions: tuple[int, ...]
    """Of its cells, in the batch that was submitted."""
    whole: bool = False
    """Whether it has its whole tree."""
    losses: Losses = field(factory=Losses)
    displaced: int = 0
    """How often it was taken away since the cluster last did anything."""
    done_before: int = 0
    """``DaskSession.done`` when it was taken away last."""

    def part(self, keep: Sequence[int]) -> _Way:
        """The same of some of its cells."""
        batch = self.parcel.batch
        fewer = evolve(batch, specs=tuple(batch.specs[number] for number in keep))
        return evolve(self, parcel=evolve(self.parcel, batch=fewer), positions=tuple(self.positions[number] for number in keep))


_Step = tuple[list[CellAttempts], list[_Way]]
"""What is known after one more try, and what is left to be tried."""


class DaskExecutor:
    """Batches are tasks of a cluster; what came of one is told all at once."""

    def __init__(self, session: DaskSession, *, worker: Path, idle_timeout: float = 0.0, stop: threading.Event) -> None:
        """See :class:`compat.execution.executors.base.OpenExecutor`. Nothing is connected before something is submitted.

        Servers stay on the workers as those see fit, whatever ``idle_timeout``.
        """
        self._session, self._stop = session, stop
        self._here = LocalExecutor(worker=worker, stop=stop)
        """For batches that name files of this machine."""
        self._program = None if worker == WORKER else str(worker)
        self._closed = threading.Event()

    @property
    def slots(self) -> int:
        """How many batches are on their way at the same time: two for each thread of the workers, or as the user says."""
        return self._session.slots

    @property
    def gpus(self) -> GpuWorkers:
        """The GPUs of the workers, which launch."""
        return GpuWorkers(self._session, self._check)

    def submit(self, batch: Batch) -> Generator[CellAttempts]:
        """What happens to each cell, once it is known of all that went together.

        Cells that no worker can attempt, and those that workers were lost with, have evidence that says so.
        """
        if _names_files(batch):
            yield from self._here.submit(batch)
            return
        ways = [self._begun(batch)]
        while ways:
            told, left = self._step(ways.pop(0))
            yield from told
            ways = [*left, *ways]

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """One that the worker which is free is warm for, so that not every worker has servers of all envs."""
        return self._session.next_env(envs)

    def release(self, env: str) -> None:
        """Workers let the servers of an env go by themselves."""
        self._here.release(env)

    def close(self) -> None:
        """Nothing further is done for this run."""
        self._closed.set()
        self._here.close()

    # --- a batch's way ---------------------------------------------------------------------------------------------------------

    def _begun(self, batch: Batch) -> _Way:
        whole = frozenset(origins_of(batch)) in self._session.wholes
        parcel = Parcel(
            batch=evolve(batch, packages=()),
            tree=self._tree(batch, whole=whole),
            folders=folders_for(batch.python),
            depends=variables.dependencies(toolchains.of(batch.env), batch.target.backend),
            wanted=None if self._program else self._session.wanted(batch.built),
            worker=self._program,
            leave=self._session.settings.leave if batch.leave else None,
        )
        return _Way(parcel, tuple(range(len(batch.specs))), whole=whole)

    def _tree(self, batch: Batch, *, whole: bool) -> Tree:
        origins = origins_of(batch)
        tree = self._session.trees.of(origins, whole=whole)
        if tree is None:
            tree = self._session.trees.of(origins)
        assert tree is not None
        return tree

    def _step(self, way: _Way) -> _Step:
        """One more try of what is on its way."""
        env = way.parcel.batch.digest
        suspect = way.losses.suspect
        with self._session.place_for(env, alone=suspect, not_again=way.losses.hosts, ended=self._check) as place:
            if isinstance(place, Nobody):
                return self._of_nobody(way, place), []
            answer = self._asked(place, way.parcel)
            if answer is None:
                return self._after_loss(way, place)
            return self._after(way, place, answer)

    def _after(self, way: _Way, place: Place, answer: Answer) -> _Step:
        env = way.parcel.batch.digest
        if answer.unknown is not None:
            raise answer.unknown
        if answer.lacks_tree:
            place.trees.discard(way.parcel.tree.digest)
            return [], [way]
        if answer.unable is not None:
            if env not in place.unable:
                self._session.say(f"Dask worker {place.known.name} cannot have {way.parcel.batch.env.name}: {answer.unable}")
            place.unable[env] = answer.unable
            place.envs.discard(env)
            return [], [way]
        if not answer.stopped:
            with self._session.changed:
                self._session.done += 1
        place.trees.add(way.parcel.tree.digest)
        if answer.refused is not None:
            if place.unfit is None:
                self._session.say(f"Dask worker {place.known.name} gets nothing more: {answer.refused}")
            place.unfit = str(answer.refused)
        elif answer.stopped:
            way = self._displaced(way)
        told = self._with_hosts(answer.attempts, place)
        if not way.whole and (wanting := [each.position for each in told if _wants_more(each.attempts)]):
            return self._with_whole_tree(way, told, wanting)
        return self._numbered(way, told), self._rest(way, told)

    def _displaced(self, way: _Way) -> _Way:
        """The same, taken away once more. Raises ClusterError where that goes on and on, and nothing is done meanwhile."""
        done = self._session.done
        way = evolve(way, displaced=way.displaced + 1 if way.done_before == done else 1, done_before=done)
        if way.displaced > _DISPLACED:
            raise ClusterError("the Dask scheduler takes tasks away again and again", hint="Is another program using it up?")
        return way

    def _with_whole_tree(self, way: _Way, told: Sequence[CellAttempts], wanting: Sequence[int]) -> _Step:
        """Kernel files that cannot be imported may lack what no import statement shows: once more, with all of their folder."""
        origins = origins_of(way.parcel.batch)
        tree = self._session.trees.of(origins, whole=True)
        if tree is None:
            return self._numbered(way, told), self._rest(way, told)
        self._session.wholes.add(frozenset(origins))
        fine = [each for each in told if each.position not in wanting]
        rest = self._rest(way, fine)
        return self._numbered(way, fine), [evolve(each, parcel=evolve(each.parcel, tree=tree), whole=True) for each in rest]

    def _after_loss(self, way: _Way, place: Place) -> _Step:
        """A worker is gone with a batch: another one tries it alone, then cell by cell, and then it counts as lost."""
        way = evolve(way, losses=way.losses.and_of(place.known))
        cells = way.parcel.batch.cells
        what = cells[0].id if len(cells) == 1 else f"{len(cells)} cells of {way.parcel.batch.env.name}"
        if way.losses.are_enough:
            self._session.say(f"Dask worker {place.known.name} ended with {what}, which is not tried again")
            return [_lost(position, way.losses) for position in way.positions], []
        self._session.say(f"Dask worker {place.known.name} ended with {what}; another one tries again")
        return [], [way.part([number]) for number in range(len(cells))] if way.losses.divide else [way]

    def _of_nobody(self, way: _Way, nobody: Nobody) -> list[CellAttempts]:
        """The evidence of cells that no worker can attempt. Raises ClusterError where none can attempt anything."""
        if all(place.unfit for place in self._session.placement.places.values()):
            hint = "What was finished is kept. Mend the workers, and run the same command again."
            raise ClusterError(f"no Dask worker can go on: {nobody.words}", hint=hint)
        words = f"no Dask worker has this env, or can have it: {nobody.words}"
        broken = Evidence(answered=False, asked=way.parcel.batch.mode.asked, toolchain_broken=True, printed=words, stderr=words)
        return [CellAttempts(position=position, attempts=(broken,)) for position in way.positions]

    def _with_hosts(self, told: Sequence[CellAttempts], place: Place) -> tuple[CellAttempts, ...]:
        """Attempts with where the artifacts are that stayed there."""
        host, scheduler = place.known.host, self._session.settings.address or ""
        here = [tuple(evolve(record, host=host, scheduler=scheduler) for record in each.elsewhere) for each in told]
        return tuple(evolve(each, elsewhere=records) for each, records in zip(told, here, strict=True))

    def _numbered(self, way: _Way, told: Sequence[CellAttempts]) -> list[CellAttempts]:
        return [evolve(each, position=way.positions[each.position]) for each in told]

    def _rest(self, way: _Way, told: Sequence[CellAttempts]) -> list[_Way]:
        known = {each.position for each in told}
        left = [number for number in range(len(way.positions)) if number not in known]
        return [way.part(left)] if left else []

    # --- one task --------------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise Stopped where nothing is to be waited for any more."""
        interruption.check()
        if self._stop.is_set() or self._closed.is_set():
            raise Stopped

    def _asked(self, place: Place, parcel: Parcel) -> Answer | None:
        """What a worker makes of a parcel; ``None`` where it is gone. Raises Stopped, having cancelled it; and ClusterError."""
        from compat.execution.executors.dask import there

        sent = parcel.light if parcel.tree.digest in place.trees else parcel
        key = f"{parcel.batch.env.name}-{uuid.uuid4()}"
        try:
            answer = ask(self._session, place, there.attempt, sent, key=key, check=self._check)
        except MachineError as error:
            return Answer(refused=error)
        if isinstance(answer, Fate):
            return None if answer is Fate.GONE else Answer(stopped=True)
        return answer


def _names_files(batch: Batch) -> bool:
    """Whether it is to be attempted with files of this machine, such as another assembler."""
    return any(os.path.isabs(value) and os.path.exists(value) for value in batch.mode.variables.values())


def _wants_more(attempts: Sequence[Evidence]) -> bool:
    """Whether a kernel's file could not be imported, by what its last attempt says."""
    last = attempts[-1]
    return last.stage == SOURCE_STAGE and not last.complete and not last.toolchain_broken and last.deadline is None


def _lost(position: int, losses: Losses) -> CellAttempts:
    words = f"the Dask workers that tried it ended: {', '.join(losses.names)}"
    return CellAttempts(position=position, attempts=(Evidence(answered=False, printed=words, stderr=words),))
