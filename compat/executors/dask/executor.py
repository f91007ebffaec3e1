"""A batch between the driver and the workers of a Dask cluster: placed, retried where a worker is lost, isolated."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Generator, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from compat import interruption, toolchains
from compat.errors import ClusterError, MachineError
from compat.executors.dask.gpus import GpuWorkers
from compat.executors.dask.parcel import Parcel, ParcelResult, folders_for, origins_of
from compat.executors.dask.placement import ClusterWorker, Losses, NoEligibleWorker
from compat.executors.dask.session import DaskSession, TaskEnd, ask
from compat.executors.executor import Batch, CellAttempts, EnvLeft, LocalExecutor
from compat.interruption import Stopped
from compat.model import SOURCE_STAGE, Evidence
from compat.source.tree import Tree
from compat.workers.spawn import WORKER, variable_dependencies

_DISPLACED = 5
"""How often a batch may be taken away by no fault of a worker, such as a connection that breaks, while nothing else gets done."""


@frozen
class _PendingBatch:
    """Cells of a batch that have no result yet, and the attempts that failed so far."""

    parcel: Parcel
    positions: tuple[int, ...]
    """Of its cells, in the batch that was submitted."""
    whole_tree: bool = False
    """Whether it has its whole tree."""
    losses: Losses = field(factory=Losses)
    displaced: int = 0
    """How often it was taken away since the cluster last did anything."""
    done_before: int = 0
    """``DaskSession.done`` when it was taken away last."""

    def part(self, keep: Sequence[int]) -> _PendingBatch:
        """The same of some of its cells."""
        batch = self.parcel.batch
        fewer = evolve(batch, specs=tuple(batch.specs[number] for number in keep))
        return evolve(self, parcel=evolve(self.parcel, batch=fewer), positions=tuple(self.positions[number] for number in keep))


_Step = tuple[list[CellAttempts], list[_PendingBatch]]
"""What is known after one more try, and what is left to be tried."""


class DaskExecutor:
    """Batches are tasks of a cluster; what came of one is told all at once."""

    def __init__(self, session: DaskSession, *, worker: Path, idle_timeout: float = 0.0, stop: threading.Event) -> None:
        """See :class:`compat.executors.executor.OpenExecutor`. Nothing is connected before something is submitted.

        Servers stay on the workers as those see fit, whatever ``idle_timeout``.
        """
        self._session, self._stop = session, stop
        self._local = LocalExecutor(worker=worker, stop=stop)
        """For batches that name files of this machine."""
        self._program = None if worker == WORKER else str(worker)
        self._closed = threading.Event()

    @property
    def slots(self) -> int:
        """How many batches are in flight at the same time: two for each thread of the workers, or as the user says."""
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
            yield from self._local.submit(batch)
            return
        queue = [self._begun(batch)]
        while queue:
            attempts, remaining = self._step(queue.pop(0))
            yield from attempts
            queue = [*remaining, *queue]

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """One that the worker which is free is warm for, so that not every worker has servers of all envs."""
        return self._session.next_env(envs)

    def release(self, env: str) -> None:
        """Workers let the servers of an env go by themselves."""
        self._local.release(env)

    def close(self) -> None:
        """Nothing further is done for this run."""
        self._closed.set()
        self._local.close()

    # --- one batch ---

    def _begun(self, batch: Batch) -> _PendingBatch:
        whole_tree = frozenset(origins_of(batch)) in self._session.wholes
        parcel = Parcel(
            batch=evolve(batch, packages=()),
            tree=self._tree(batch, whole_tree=whole_tree),
            folders=folders_for(batch.python),
            depends=variable_dependencies(toolchains.of(batch.env), batch.target.backend),
            wanted=None if self._program else self._session.wanted(batch.built),
            worker=self._program,
        )
        return _PendingBatch(parcel, tuple(range(len(batch.specs))), whole_tree=whole_tree)

    def _tree(self, batch: Batch, *, whole_tree: bool) -> Tree:
        origins = origins_of(batch)
        tree = self._session.trees.of(origins, whole=whole_tree)
        if tree is None:
            tree = self._session.trees.of(origins)
        assert tree is not None
        return tree

    def _step(self, pending: _PendingBatch) -> _Step:
        """Try a pending batch once more."""
        env = pending.parcel.batch.digest
        suspect = pending.losses.suspect
        with self._session.worker_for(env, alone=suspect, not_again=pending.losses.hosts, ended=self._check) as worker:
            if isinstance(worker, NoEligibleWorker):
                return self._of_nobody(pending, worker), []
            answer = self._asked(worker, pending.parcel)
            if answer is None:
                return self._after_loss(pending, worker)
            return self._after(pending, worker, answer)

    def _after(self, pending: _PendingBatch, worker: ClusterWorker, answer: ParcelResult) -> _Step:
        env = pending.parcel.batch.digest
        if answer.unknown is not None:
            raise answer.unknown
        if answer.lacks_tree:
            worker.trees.discard(pending.parcel.tree.digest)
            return [], [pending]
        if answer.unable is not None:
            if env not in worker.unable:
                self._session.say(f"Dask worker {worker.info.name} cannot have {pending.parcel.batch.env.name}: {answer.unable}")
            worker.unable[env] = answer.unable
            worker.envs.discard(env)
            return [], [pending]
        if not answer.stopped:
            with self._session.changed:
                self._session.done += 1
        worker.trees.add(pending.parcel.tree.digest)
        if answer.refused is not None:
            if worker.unfit is None:
                self._session.say(f"Dask worker {worker.info.name} gets nothing more: {answer.refused}")
            worker.unfit = str(answer.refused)
        elif answer.stopped:
            pending = self._displaced(pending)
        attempts = answer.attempts
        if not pending.whole_tree and (wanting := [cell.position for cell in attempts if _wants_more(cell.attempts)]):
            return self._with_whole_tree(pending, attempts, wanting)
        return self._numbered(pending, attempts), self._rest(pending, attempts)

    def _displaced(self, pending: _PendingBatch) -> _PendingBatch:
        """The same, taken away once more. Raises ClusterError where that goes on and on, and nothing is done meanwhile."""
        done = self._session.done
        pending = evolve(pending, displaced=pending.displaced + 1 if pending.done_before == done else 1, done_before=done)
        if pending.displaced > _DISPLACED:
            raise ClusterError("the Dask scheduler takes tasks away again and again", hint="Is another program using it up?")
        return pending

    def _with_whole_tree(self, pending: _PendingBatch, attempts: Sequence[CellAttempts], wanting: Sequence[int]) -> _Step:
        """Kernel files that cannot be imported may lack what no import statement shows: once more, with all of their folder."""
        origins = origins_of(pending.parcel.batch)
        tree = self._session.trees.of(origins, whole=True)
        if tree is None:
            return self._numbered(pending, attempts), self._rest(pending, attempts)
        self._session.wholes.add(frozenset(origins))
        fine = [item for item in attempts if item.position not in wanting]
        rest = self._rest(pending, fine)
        return self._numbered(pending, fine), [
            evolve(item, parcel=evolve(item.parcel, tree=tree), whole_tree=True) for item in rest
        ]

    def _after_loss(self, pending: _PendingBatch, worker: ClusterWorker) -> _Step:
        """A worker is gone with a batch: another one tries it alone, then cell by cell, and then it counts as lost."""
        pending = evolve(pending, losses=pending.losses.and_of(worker.info))
        cells = pending.parcel.batch.cells
        what = cells[0].id if len(cells) == 1 else f"{len(cells)} cells of {pending.parcel.batch.env.name}"
        if pending.losses.are_enough:
            self._session.say(f"Dask worker {worker.info.name} ended with {what}, which is not tried again")
            return [_lost(position, pending.losses) for position in pending.positions], []
        self._session.say(f"Dask worker {worker.info.name} ended with {what}; another one tries again")
        return [], [pending.part([number]) for number in range(len(cells))] if pending.losses.divide else [pending]

    def _of_nobody(self, pending: _PendingBatch, nobody: NoEligibleWorker) -> list[CellAttempts]:
        """The evidence of cells that no worker can attempt. Raises ClusterError where none can attempt anything."""
        if all(worker.unfit for worker in self._session.placement.workers.values()):
            hint = "What was finished is kept. Mend the workers, and run the same command again."
            raise ClusterError(f"no Dask worker can go on: {nobody.message}", hint=hint)
        message = f"no Dask worker has this env, or can have it: {nobody.message}"
        broken = Evidence(
            answered=False, asked=pending.parcel.batch.mode.asked, toolchain_broken=True, printed=message, stderr=message
        )
        return [CellAttempts(position=position, attempts=(broken,)) for position in pending.positions]

    def _numbered(self, pending: _PendingBatch, attempts: Sequence[CellAttempts]) -> list[CellAttempts]:
        return [evolve(cell, position=pending.positions[cell.position]) for cell in attempts]

    def _rest(self, pending: _PendingBatch, attempts: Sequence[CellAttempts]) -> list[_PendingBatch]:
        finished = {cell.position for cell in attempts}
        remaining = [number for number in range(len(pending.positions)) if number not in finished]
        return [pending.part(remaining)] if remaining else []

    # --- one task --------------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise Stopped where nothing is to be waited for any more."""
        interruption.check()
        if self._stop.is_set() or self._closed.is_set():
            raise Stopped

    def _asked(self, worker: ClusterWorker, parcel: Parcel) -> ParcelResult | None:
        """What a worker makes of a parcel; ``None`` where it is gone. Raises Stopped, having cancelled it; and ClusterError."""
        from compat.executors.dask import remote

        sent = parcel.light if parcel.tree.digest in worker.trees else parcel
        key = f"{parcel.batch.env.name}-{uuid.uuid4()}"
        try:
            answer = ask(self._session, worker, remote.attempt, sent, key=key, check=self._check)
        except MachineError as error:
            return ParcelResult(refused=error)
        if isinstance(answer, TaskEnd):
            return None if answer is TaskEnd.GONE else ParcelResult(stopped=True)
        return answer


def _names_files(batch: Batch) -> bool:
    """Whether it is to be attempted with files of this machine, such as another assembler."""
    return any(os.path.isabs(value) and os.path.exists(value) for value in batch.mode.variables.values())


def _wants_more(attempts: Sequence[Evidence]) -> bool:
    """Whether a kernel's file could not be imported, by what its last attempt says."""
    last = attempts[-1]
    return last.stage == SOURCE_STAGE and not last.complete and not last.toolchain_broken and last.deadline is None


def _lost(position: int, losses: Losses) -> CellAttempts:
    message = f"the Dask workers that tried it ended: {', '.join(losses.names)}"
    return CellAttempts(position=position, attempts=(Evidence(answered=False, printed=message, stderr=message),))
