"""The input and output of an executor, and the executor that compiles on this machine.

Only :class:`LocalExecutor` lets workers attempt cells. This process starts its workers, or they
have stayed from an earlier command. All input and output can be pickled, and nothing in it refers
back to the driver.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Protocol

from attrs import Factory, define, evolve, field, frozen

from compat import toolchains
from compat.diagnosis import classify
from compat.diagnosis.failure_class import Knowledge
from compat.diagnosis.pipeline import Keep
from compat.executors.gpus import Gpus
from compat.files import Closing
from compat.model import SOURCE_STAGE, BuiltEnv, Cell, Evidence, Status
from compat.store.store import artifact_name
from compat.workers.attempt import NOWHERE_ELSE, PLAIN, Limits, Mode, Places, PreloadedPackage
from compat.workers.pool import WorkerPool
from compat.workers.spawn import WORKER
from compat.workers.watch import attempt


@frozen
class Batch:
    """Cells of one env and one target, and the way to attempt them."""

    cells: tuple[Cell, ...] = field(converter=tuple[Cell, ...])
    built: BuiltEnv
    """Their env on the machine that made the batch. It has an interpreter."""
    limits: Limits
    mode: Mode = field(default=PLAIN, kw_only=True)
    confirm: bool = field(default=False, kw_only=True)
    """Attempt cells that are not ok again, alone and with diagnostics on.

    Then all cells must have the same source.
    """
    keep: bool = field(default=True, kw_only=True)
    """Return the artifacts, too: printed text, reproducers, IR."""
    places: Places = field(default=NOWHERE_ELSE, kw_only=True)
    """The folders of the compiling machine, and their names on the driver. Attempts have the
    driver's names.
    """

    def __attrs_post_init__(self) -> None:
        assert self.built.python is not None, (
            "an env without an interpreter is broken, and nothing is compiled in a broken env"
        )
        assert len({cell.target for cell in self.cells}) == 1


@frozen(kw_only=True)
class CellAttempts:
    """The attempts at one cell of a batch."""

    position: int
    """The position of the cell in ``Batch.cells``."""
    attempts: tuple[Evidence, ...]
    """The first attempt, and then the attempts that confirm it."""
    artifacts: Mapping[str, bytes] = Factory(dict)
    """Name → content of the artifacts that the attempts name."""


class Executor(Protocol):
    """Compiles batches on this machine or elsewhere.

    Safe to call from several threads. Each thread compiles one batch at a time.
    """

    @property
    def slots(self) -> int | None:
        """The number of batches that it takes at the same time.

        ``None`` means as many as the run has slots on this machine.
        """

    @property
    def gpus(self) -> Gpus | None:
        """The GPUs of other machines for launches; ``None`` if launches use this machine's GPUs."""

    def submit(self, batch: Batch) -> Generator[CellAttempts]:
        """Attempt the cells of a batch, and yield the attempts at each cell as they arrive.

        Each cell is reported once, in any order. The work happens while the caller iterates, and
        ends when the iterator is closed.

        Raises:
            Stopped: The run must end.
            MachineError: A machine lacks a resource that compiling needs.
            UnknownAction: A worker does not know an action of the batch.
        """

    def release(self, env: str) -> None:
        """Free the resources of an env. The caller submits no further batches of it."""

    def close(self) -> None:
        """End the work and the workers of this executor."""


class OpenExecutor(Protocol):
    """The function that makes an executor. Usually it is the executor's class."""

    def __call__(self, *, worker: Path, idle_timeout: float, stop: threading.Event) -> Executor:
        """Return an executor that runs the worker's program in the folder ``worker``.

        The executor ends its work when ``stop`` is set. Workers that it no longer needs wait for
        the next command for ``idle_timeout`` seconds; with 0 they end.
        """


# --- on this machine ------------------------------------------------------------------------------

_log = logging.getLogger(__name__)

_CONFIRM_GRACE = 1.5
"""Seconds that the confirmation of a hang waits in the stage that hung before, to find the pass."""


@define
class _ArtifactBuffer:
    """The artifacts of one batch in memory, before the driver stores them."""

    _data: dict[str, bytes] = field(factory=dict)

    def keep(self, suffix: str, data: bytes) -> str:
        """Keep an artifact and return its name."""
        name = artifact_name(suffix, data)
        self._data[name] = data
        return name

    def of(self, attempts: Iterable[Evidence]) -> dict[str, bytes]:
        """Return the artifacts that these attempts name."""
        names = {
            name
            for attempt in attempts
            for name in (*attempt.artifacts.values(), attempt.diagnosis.ir)
            if name is not None
        }
        return {name: self._data[name] for name in sorted(names) if name in self._data}


class LocalExecutor(Closing):
    """An executor on this machine. A batch is compiled in the thread that iterates its results."""

    slots = None
    gpus = None

    def __init__(
        self,
        *,
        worker: Path = WORKER,
        idle_timeout: float = 0.0,
        stop: threading.Event | None = None,
    ) -> None:
        """See :class:`compat.executors.executor.OpenExecutor`."""
        self._workers = WorkerPool(worker=worker, idle_timeout=idle_timeout)
        self._stop = stop or threading.Event()

    def submit(self, batch: Batch, stop: threading.Event | None = None) -> Generator[CellAttempts]:
        """Yield the attempts at each cell: ok cells at once, and failed cells once confirmed.

        ``stop`` ends only this batch. By default, the executor's event ends it.
        """
        artifacts, stop = _ArtifactBuffer(), stop or self._stop
        keep = artifacts.keep if batch.keep else None
        stream = (
            _ConfirmedBatch(batch, self._workers, stop, keep).run()
            if batch.confirm
            else self._once(batch, stop, keep)
        )
        with closing(stream):
            for position, attempts in stream:
                mapped_attempts = tuple(map(batch.places.evidence, attempts))
                yield CellAttempts(
                    position=position, attempts=mapped_attempts, artifacts=artifacts.of(attempts)
                )

    def _once(
        self, batch: Batch, stop: threading.Event, keep: Keep | None
    ) -> Generator[tuple[int, tuple[Evidence, ...]]]:
        """Yield position and attempt of each cell. With diagnostics, each has its own process."""
        together = [batch.cells] if not batch.mode.diagnose else [(cell,) for cell in batch.cells]
        position = 0
        for cells in together:
            with closing(
                _attempt_batch(evolve(batch, cells=cells), self._workers, stop, keep)
            ) as attempted:
                for _, evidence in attempted:
                    yield position, (evidence,)
                    position += 1

    def release(self, env: str) -> None:
        """Release an env's workers."""
        self._workers.release(env)

    def close(self) -> None:
        """Release all workers."""
        self._workers.close()


class _ConfirmedBatch:
    """One batch whose failures are confirmed."""

    def __init__(
        self, batch: Batch, workers: WorkerPool, stop: threading.Event, keep: Keep | None
    ) -> None:
        self.batch, self.cells = batch, batch.cells
        self.workers, self.stop, self.keep = workers, stop, keep

    def run(self) -> Generator[tuple[int, tuple[Evidence, ...]]]:
        """Yield position and attempts of every cell.

        The cells share a source. If its import fails for one cell, that cell's attempts count for
        all later cells, and the source is not imported again.
        """
        done = 0
        while done < len(self.cells):
            suspects: list[tuple[int, Evidence]] = []
            with closing(self._attempt_cells(self.cells[done:])) as attempted:
                for cell, evidence in attempted:
                    done += 1
                    if evidence.complete or evidence.toolchain_broken:
                        yield done - 1, (evidence,)
                        continue
                    suspects.append((done - 1, evidence))
                    if _not_importable(cell, (evidence,)):
                        break
            for position, evidence in suspects:
                attempts = self._confirm_cell(self.cells[position], evidence)
                yield position, attempts
                if _not_importable(self.cells[position], attempts):
                    yield from ((other, attempts) for other in range(done, len(self.cells)))
                    return

    def _confirm_cell(self, cell: Cell, first: Evidence) -> tuple[Evidence, ...]:
        """The first attempt, one more alone with diagnostics on, and a third if they disagree."""
        limits = self.batch.limits
        # The first attempt hung until its deadline. The second attempt only has to find the place.
        if first.deadline is not None:
            limits = evolve(limits, stage=first.stage, stage_deadline=_CONFIRM_GRACE)
        _log.debug("%s: not ok, trying it again alone", cell.id)
        second = self._attempt_alone(cell, limits)
        if classify.agree(first, second, target=cell.target, knowledge=_knowledge(cell)):
            return first, second
        _log.info("%s: two attempts disagree, trying a third time", cell.id)
        return first, second, self._attempt_alone(cell, self.batch.limits)

    def _attempt_cells(
        self, cells: tuple[Cell, ...], **changes: Any
    ) -> Generator[tuple[Cell, Evidence]]:
        return _attempt_batch(
            evolve(self.batch, cells=cells, **changes), self.workers, self.stop, self.keep
        )

    def _attempt_alone(self, cell: Cell, limits: Limits) -> Evidence:
        mode = evolve(self.batch.mode, diagnose=True)
        ((_, evidence),) = self._attempt_cells((cell,), limits=limits, mode=mode)
        return evidence


def _attempt_batch(
    batch: Batch, workers: WorkerPool, stop: threading.Event, keep: Keep | None
) -> Generator[tuple[Cell, Evidence]]:
    """Attempt each cell of a batch once, and yield the cells with their evidence."""
    with (
        nullcontext(workers.interpreter(batch.built))
        if batch.mode.interprets
        else workers.lend(batch.built, _package(batch.cells, batch.mode))
    ) as client:
        yield from attempt(
            client,
            batch.cells,
            batch.limits,
            stop=stop,
            mode=batch.mode,
            keep=keep,
            places=batch.places,
        )


def _package(cells: Sequence[Cell], mode: Mode) -> PreloadedPackage | None:
    """Return the preloaded package that all of these cells share; ``None`` without one."""
    packages = {PreloadedPackage.of(cell, mode) for cell in cells}
    return packages.pop() if len(packages) == 1 else None


def _knowledge(cell: Cell) -> Knowledge:
    return toolchains.of(cell.env).failures


def _not_importable(cell: Cell, attempts: tuple[Evidence, ...]) -> bool:
    """Whether the cell's file cannot be imported, so all cells of that file fail the same way."""
    if any(evidence.stage != SOURCE_STAGE for evidence in attempts):
        return False
    broken = (
        classify.classify(attempts, target=cell.target, knowledge=_knowledge(cell)).status
        is Status.SOURCE_BROKEN
    )
    return broken and not any(cell.spec.source in evidence.imported for evidence in attempts)
