"""Send batches to the workers of a Dask cluster, and retry and isolate those of lost workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve, frozen

from compat import interruption, toolchains
from compat.errors import ClusterError
from compat.executors.dask.gpus import GpuWorkers
from compat.executors.dask.parcel import PACKAGE, Parcel, ParcelResult, origins_of
from compat.executors.dask.session import ClusterWorker, DaskSession
from compat.executors.dask.work import Work, by_reason
from compat.executors.executor import Batch, CellAttempts, LocalExecutor
from compat.interruption import Stopped
from compat.model import SOURCE_STAGE, Evidence
from compat.source.tree import Tree
from compat.workers.attempt import folders_of
from compat.workers.spawn import WORKER, variable_dependencies


class DaskExecutor:
    """An executor whose batches are Dask tasks. It reports the results of a task all at once."""

    def __init__(
        self,
        session: DaskSession,
        *,
        worker: Path,
        idle_timeout: float = 0.0,
        stop: threading.Event,
    ) -> None:
        """See :class:`compat.executors.executor.OpenExecutor`.

        It connects when the first batch is submitted. Dask workers decide by themselves how long
        their servers stay, so ``idle_timeout`` has no effect.
        """
        self._session, self._stop = session, stop
        self._local = LocalExecutor(worker=worker, stop=stop)
        """Compiles the batches that name files of this machine."""
        self._program = None if worker == WORKER else str(worker)
        self._closed = threading.Event()
        self.gpus = GpuWorkers(session, self._check)
        """The GPUs of the Dask workers, for launches."""

    @property
    def slots(self) -> int:
        """The number of batches in flight: the user's, or two for each thread of the cluster."""
        return self._session.slots

    def submit(self, batch: Batch) -> Generator[CellAttempts]:
        """Yield the attempts at each cell, after all cells of its task have been attempted.

        If no Dask worker can attempt a cell, or the workers that tried it were lost, its evidence
        says so.
        """
        if _names_files(batch):
            yield from self._local.submit(batch)
            return
        session, origins = self._session, origins_of(batch)
        whole_tree = (
            session.trees.of(origins, whole=True) if frozenset(origins) in session.wholes else None
        )
        tree = whole_tree or session.trees.of(origins)
        assert tree is not None
        built = batch.built
        parcel = Parcel(
            batch=evolve(batch, built=evolve(built, packages=())),
            tree=tree,
            folders=(*folders_of(str(built.python)), str(PACKAGE)),
            depends=variable_dependencies(toolchains.of(built.env), batch.cells[0].target.backend),
            pinned_env=None if self._program else session.pin_env(built),
            worker=self._program,
        )
        yield from _BatchWork(
            session=session,
            check=self._check,
            parcel=parcel,
            positions=tuple(range(len(batch.cells))),
        ).run()

    def release(self, env: str) -> None:
        """Release an env's server on this machine. Dask workers release theirs by themselves."""
        self._local.release(env)

    def close(self) -> None:
        """End the work of this run."""
        self._closed.set()
        self._local.close()

    def _check(self) -> None:
        """Raise Stopped if the command or the run must end, or this executor is closed."""
        interruption.check()
        if self._stop.is_set() or self._closed.is_set():
            raise Stopped


@frozen(kw_only=True)
class _BatchWork(Work[CellAttempts]):
    parcel: Parcel
    positions: tuple[int, ...]
    """The positions of its cells in the submitted batch."""
    worker_without_tree: str | None = None
    """The address of a Dask worker that lacks the source tree, so it gets the tree's content."""

    @property
    def cells(self) -> Sequence[str]:
        return [cell.id for cell in self.parcel.batch.cells]

    def part(self, numbers: Sequence[int]) -> _BatchWork:
        batch = self.parcel.batch
        fewer = evolve(batch, cells=[batch.cells[number] for number in numbers])
        positions = tuple(self.positions[number] for number in numbers)
        return evolve(self, parcel=evolve(self.parcel, batch=fewer), positions=positions)

    def results_if_lost(self) -> Sequence[CellAttempts]:
        message = f"the Dask workers that tried it ended: {self.names}"
        return self._same_of_all(Evidence(answered=False, printed=message, stderr=message))

    def _same_of_all(self, evidence: Evidence) -> list[CellAttempts]:
        return [
            CellAttempts(position=position, attempts=(evidence,)) for position in self.positions
        ]

    def attempt(self) -> tuple[Sequence[CellAttempts], Sequence[_BatchWork]]:
        from compat.executors.dask import remote

        with self._workers() as workers:
            if not workers:
                return self._of_nobody(), []
            with_tree = [worker for worker in workers if worker.address == self.worker_without_tree]
            parcel = evolve(
                self.parcel if with_tree else self.parcel.light, alone=bool(self.losses)
            )
            name = self.parcel.batch.built.env.name
            answer = self.session.ask(
                remote.attempt, parcel, with_tree or workers, name=name, check=self.check
            )
        return self._after(answer)

    # --- the choice of workers --------------------------------------------------------------------

    @contextmanager
    def _workers(self) -> Iterator[Sequence[ClusterWorker]]:
        """Wait for the Dask workers that may take the batch, and yield them.

        Yields none if no worker can ever take it. A batch that must run alone reserves its worker.
        """
        chosen = self.session.wait_for(self._choose, self.check)
        try:
            yield chosen
        finally:
            if self.losses:
                with self.session.changed:
                    for worker in chosen:
                        worker.alone = False
                    self.session.changed.notify_all()

    def _choose(self) -> Sequence[ClusterWorker] | None:
        """Return the workers that may take the batch; one reserved worker if it was lost before.

        Only one such batch runs on a host at a time, to find the batch that ends workers. Returns
        ``None`` if the batch must wait, and an empty sequence if no worker can take it.
        """
        session = self.session
        workers = session.workers.values()
        able = [
            worker
            for worker in workers
            if worker.unfit is None and self.parcel.batch.built.digest not in worker.unable
        ]
        if not able:
            return () if session.is_settled else None
        if not self.losses:
            return [worker for worker in able if not worker.alone] or None
        busy_hosts = {worker.host for worker in workers if worker.alone}
        free = [worker for worker in able if worker.host not in busy_hosts]
        if not free:
            return None
        chosen = min(free, key=lambda worker: worker.host in self.hosts)
        chosen.alone = True
        return [chosen]

    def _of_nobody(self) -> list[CellAttempts]:
        """Return the evidence of cells that no Dask worker can attempt.

        Raises ClusterError if no Dask worker can attempt anything.
        """
        workers, env = list(self.session.workers.values()), self.parcel.batch.built.digest
        reasons = by_reason(
            (worker.name, worker.unfit or worker.unable.get(env, "")) for worker in workers
        )
        listed = "; ".join(f"{reason} ({names})" for reason, names in reasons.items())
        if all(worker.unfit for worker in workers):
            hint = "Finished cells are saved. Repair the workers, then run the same command again."
            raise ClusterError(f"no Dask worker can continue: {listed}", hint=hint)
        message = f"no Dask worker can provide this env: {listed}"
        action_names = self.parcel.batch.mode.action_names
        return self._same_of_all(
            Evidence(
                answered=False,
                requested=action_names,
                toolchain_broken=True,
                printed=message,
                stderr=message,
            )
        )

    # --- answers ----------------------------------------------------------------------------------

    def _after(self, answer: ParcelResult) -> tuple[Sequence[CellAttempts], Sequence[_BatchWork]]:
        if answer.lacks_tree:
            return [], [evolve(self, worker_without_tree=answer.worker)]
        self._note(answer)
        attempts = answer.attempts
        tree = self.parcel.tree
        wanting = {cell.position for cell in attempts if _wants_more(cell.attempts, tree)}
        with_whole_tree = self._with_whole_tree() if wanting else None
        final_attempts = [
            cell for cell in attempts if with_whole_tree is None or cell.position not in wanting
        ]
        numbered = [evolve(cell, position=self.positions[cell.position]) for cell in final_attempts]
        finished = {cell.position for cell in final_attempts}
        remaining = [number for number in range(len(self.positions)) if number not in finished]
        return numbered, [
            evolve(with_whole_tree or self, worker_without_tree=None).part(remaining)
        ] if remaining else []

    def _note(self, answer: ParcelResult) -> None:
        """Save what a Dask worker cannot do, and report it once."""
        session, env = self.session, self.parcel.batch.built.env.name
        with session.changed:
            worker = session.workers.get(answer.worker)
            if worker is None:
                return
            if answer.unable is not None and self.parcel.batch.built.digest not in worker.unable:
                worker.unable[self.parcel.batch.built.digest] = answer.unable
                session.say(f"Dask worker {worker.name} cannot provide {env}: {answer.unable}")
            if answer.refused is not None and worker.unfit is None:
                worker.unfit = answer.refused
                session.say(f"no longer using Dask worker {worker.name}: {answer.refused}")

    def _with_whole_tree(self) -> _BatchWork | None:
        """Return this work with the whole source tree; ``None`` if it has that, or it is too large.

        A kernel file may need a file that no import statement names.
        """
        origins = origins_of(self.parcel.batch)
        tree = self.session.trees.of(origins, whole=True)
        if tree is None or tree.digest == self.parcel.tree.digest:
            return None
        self.session.wholes.add(frozenset(origins))
        return evolve(self, parcel=evolve(self.parcel, tree=tree))


def _names_files(batch: Batch) -> bool:
    """Whether a batch's variables name files of this machine, such as another assembler."""
    return any(
        Path(value).is_absolute() and os.path.exists(value)
        for value in batch.mode.variables.values()
    )


def _wants_more(attempts: Sequence[Evidence], tree: Tree) -> bool:
    """Whether the kernel's file could not be imported, or asked for a file that is only here."""
    last = attempts[-1]
    has_failed = (
        last.stage == SOURCE_STAGE
        and not last.complete
        and not last.toolchain_broken
        and last.deadline is None
    )
    return has_failed or any(
        path not in tree.files
        and any(Path(path).is_relative_to(folder) for folder in tree.folders)
        and os.path.isfile(path)
        for path in last.imported
    )
