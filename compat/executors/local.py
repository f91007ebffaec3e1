"""Compiling on this machine, in workers that this process starts or that have stayed. Only here do workers attempt cells."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

from attrs import define, evolve, field

from compat import toolchains
from compat.diagnosis import classify
from compat.diagnosis.diagnose import Keep
from compat.diagnosis.knowledge import Knowledge
from compat.executors.base import Batch, CellAttempts, EnvLeft
from compat.model import SOURCE_STAGE, Cell, Evidence, Status
from compat.store.store import artifact_name
from compat.workers.attempt import Limits, Mode, PreloadedPackage
from compat.workers.client import WorkerClient
from compat.workers.pool import WorkerPool
from compat.workers.spawn import WORKER
from compat.workers.watch import attempt

_log = logging.getLogger(__name__)

_CONFIRM_GRACE = 1.5
"""Seconds a hanging cell's confirmation sits in the stage where it hung before, to see in which pass that is."""


@define
class _ArtifactBuffer:
    """The artifacts of one batch, on their way to a store."""

    _data: dict[str, bytes] = field(factory=dict)

    def keep(self, suffix: str, data: bytes) -> str:
        """Keep an artifact and return its name."""
        name = artifact_name(suffix, data)
        self._data[name] = data
        return name

    def of(self, attempts: Iterable[Evidence]) -> dict[str, bytes]:
        """Those that these attempts name."""
        names = {name for attempt in attempts for name in (*attempt.kept.values(), attempt.diagnosis.ir) if name is not None}
        return {name: self._data[name] for name in sorted(names) if name in self._data}


class LocalExecutor:
    """An executor whose batches are compiled while they are iterated, in the thread that does."""

    slots = None
    gpus = None

    def __init__(self, *, worker: Path = WORKER, idle_timeout: float = 0.0, stop: threading.Event | None = None) -> None:
        """See :class:`compat.executors.base.OpenExecutor`."""
        self._workers = WorkerPool(worker=worker, idle_timeout=idle_timeout)
        self._stop = stop or threading.Event()

    def submit(self, batch: Batch, stop: threading.Event | None = None) -> Generator[CellAttempts]:
        """What happens to each cell; what is ok is told at once, and what must be confirmed after that.

        ``stop`` ends this batch alone; by default it ends with all others.
        """
        artifacts, stop = _ArtifactBuffer(), stop or self._stop
        keep = artifacts.keep if batch.keep else None
        stream = _Confirming(batch, self._workers, stop, keep).run() if batch.confirm else self._once(batch, stop, keep)
        with closing(stream):
            for position, attempts in stream:
                told_as = tuple(map(batch.places.evidence, attempts))
                yield CellAttempts(position=position, attempts=told_as, artifacts=artifacts.of(attempts))

    def _once(self, batch: Batch, stop: threading.Event, keep: Keep | None) -> Generator[tuple[int, tuple[Evidence, ...]]]:
        """One attempt at each cell; with diagnostics on, in a process of its own."""
        together = [batch.cells] if not batch.mode.diagnose else [(cell,) for cell in batch.cells]
        position = 0
        for cells in together:
            server = self._server(batch, cells)
            attempted = attempt(server, cells, batch.limits, stop=stop, mode=batch.mode, keep=keep, places=batch.places)
            with closing(attempted):
                for _, evidence in attempted:
                    yield position, (evidence,)
                    position += 1

    def _server(self, batch: Batch, cells: Sequence[Cell]) -> WorkerClient:
        if batch.mode.interprets:
            return self._workers.interpreter(batch.built)
        return self._workers.begun(batch.built, _beginning(cells, batch.mode))

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """The first: all slots share an env's server, and one that has no batches left is let go."""
        return 0

    def release(self, env: str) -> None:
        """Let an env's worker go."""
        self._workers.release(env)

    def close(self) -> None:
        """Let all workers go."""
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Confirming:
    """One batch whose failures are confirmed."""

    def __init__(self, batch: Batch, workers: WorkerPool, stop: threading.Event, keep: Keep | None) -> None:
        self.batch, self.cells, self.built = batch, batch.cells, batch.built
        self.workers, self.stop, self.keep = workers, stop, keep

    def run(self) -> Generator[tuple[int, tuple[Evidence, ...]]]:
        """Position and attempts of every cell.

        They share a source: where that cannot be imported for one of them, it is not tried for the rest.
        """
        done = 0
        while done < len(self.cells):
            suspects: list[tuple[int, Evidence]] = []
            with closing(self._attempt(self.cells[done:])) as attempted:
                for cell, evidence in attempted:
                    done += 1
                    if evidence.complete or evidence.toolchain_broken:
                        yield done - 1, (evidence,)
                        continue
                    suspects.append((done - 1, evidence))
                    if _not_importable(cell, (evidence,)):
                        break
            for position, evidence in suspects:
                attempts = self._confirmed(self.cells[position], evidence)
                yield position, attempts
                if _not_importable(self.cells[position], attempts):
                    yield from ((other, attempts) for other in range(done, len(self.cells)))
                    return

    def _confirmed(self, cell: Cell, first: Evidence) -> tuple[Evidence, ...]:
        """The first attempt, one more alone with diagnostics on, and where the two disagree a third to settle it."""
        limits = self.batch.limits
        if first.deadline is not None:  # it hung once for all its time: now it is enough to see where
            limits = evolve(
                limits,
                deadline=min(limits.deadline, 2 * first.entered + _CONFIRM_GRACE),
                import_deadline=_CONFIRM_GRACE if first.stage == SOURCE_STAGE else limits.import_deadline,
            )
        _log.debug("%s: not ok, so it is tried again alone", cell.id)
        second = self._alone(cell, limits)
        if classify.agree(first, second, target=cell.target, knowledge=_knowledge(cell)):
            return first, second
        _log.info("%s: two attempts disagree, so there is a third", cell.id)
        return first, second, self._alone(cell, self.batch.limits)

    def _attempt(self, cells: tuple[Cell, ...]) -> Generator[tuple[Cell, Evidence]]:
        server = self.workers.begun(self.built, _beginning(cells, self.batch.mode))
        return attempt(
            server, cells, self.batch.limits, stop=self.stop, mode=self.batch.mode, keep=self.keep, places=self.batch.places
        )

    def _alone(self, cell: Cell, limits: Limits) -> Evidence:
        server = self.workers.begun(self.built, _beginning((cell,), self.batch.mode))
        mode = evolve(self.batch.mode, diagnose=True)
        ((_, evidence),) = attempt(server, [cell], limits, stop=self.stop, mode=mode, keep=self.keep, places=self.batch.places)
        return evidence


def _beginning(cells: Sequence[Cell], mode: Mode) -> PreloadedPackage | None:
    """The package that all of these cells are of, if they are of one."""
    packages = {PreloadedPackage.of(cell, mode) for cell in cells}
    return packages.pop() if len(packages) == 1 else None


def _knowledge(cell: Cell) -> Knowledge:
    return toolchains.of(cell.env).failures


def _not_importable(cell: Cell, attempts: tuple[Evidence, ...]) -> bool:
    """Whether the cell's file cannot be imported, whichever of its functions is asked for."""
    if any(evidence.stage != SOURCE_STAGE for evidence in attempts):
        return False
    broken = classify.classify(attempts, target=cell.target, knowledge=_knowledge(cell)).status is Status.SOURCE_BROKEN
    return broken and not any(cell.spec.source in evidence.imported for evidence in attempts)
