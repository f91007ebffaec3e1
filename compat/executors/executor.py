"""The input and output of an executor, and the one that compiles on this machine.

Only that one has workers attempt cells. All input and output can be pickled, and nothing in it
leads back to the driver. The local executor's workers are started by this process, or have stayed
from an earlier command.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Protocol, Self

from attrs import Factory, define, evolve, field, frozen

from compat import toolchains
from compat.diagnosis import classify
from compat.diagnosis.failure_class import Knowledge
from compat.diagnosis.pipeline import Keep
from compat.executors.gpus import Gpus
from compat.model import SOURCE_STAGE, BuiltEnv, Cell, Evidence, Status
from compat.store.store import artifact_name
from compat.workers.attempt import NOWHERE_ELSE, PLAIN, Limits, Mode, Places, PreloadedPackage
from compat.workers.pool import WorkerPool
from compat.workers.spawn import WORKER
from compat.workers.watch import attempt


@frozen
class Batch:
    """Cells of one env and one target, and what is to be done with them."""

    cells: tuple[Cell, ...] = field(converter=tuple[Cell, ...])
    built: BuiltEnv
    """Their env, as it is on the machine that made the batch; it has an interpreter."""
    limits: Limits
    mode: Mode = field(default=PLAIN, kw_only=True)
    confirm: bool = field(default=False, kw_only=True)
    """Attempt cells that are not ok again, alone and with diagnostics on.

    All cells must be of one source then.
    """
    keep: bool = field(default=True, kw_only=True)
    """Return the artifacts, too: printed text, reproducers, IR."""
    places: Places = field(default=NOWHERE_ELSE, kw_only=True)
    """Folders of the machine that compiles, as whoever asked calls them: attempts have their
    names.
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
    """Which one: a position in ``Batch.cells``."""
    attempts: tuple[Evidence, ...]
    """One, and those that confirm it."""
    artifacts: Mapping[str, bytes] = Factory(dict)
    """The artifacts that they name."""


class Executor(Protocol):
    """Compiles batches somewhere.

    Several threads may use it, as many as batches are to be compiled at the same time.
    """

    @property
    def slots(self) -> int | None:
        """The number of batches that it takes at the same time.

        ``None`` means as many as the run has slots on this machine.
        """
        ...

    @property
    def gpus(self) -> Gpus | None:
        """GPUs of other machines that launch; ``None`` if this machine's GPUs launch."""
        ...

    def submit(self, batch: Batch) -> Generator[CellAttempts]:
        """The attempts at each cell of a batch, as they become known.

        Each cell is reported once, in any order. The work is done while this is iterated, and ends
        when the iterator is closed. Raises Stopped if everything is to end, MachineError if a
        machine refuses what compiling needs, and UnknownAction if a worker cannot do what is asked.
        """
        ...

    def release(self, env: str) -> None:
        """No further batches of this env will come."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


class OpenExecutor(Protocol):
    """The function that makes an executor: its class, usually."""

    def __call__(self, *, worker: Path, idle_timeout: float, stop: threading.Event) -> Executor:
        """An executor that runs the worker's program in this folder until ``stop`` is set.

        Then it ends what is under way. Workers that are not needed any more wait for the next
        command for ``idle_timeout`` seconds; with 0 they end.
        """
        ...


# --- on this machine ------------------------------------------------------------------------------

_log = logging.getLogger(__name__)

_CONFIRM_GRACE = 1.5
"""Seconds that the confirmation of a hang waits in the stage that hung before, to find the pass."""


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
        names = {
            name
            for attempt in attempts
            for name in (*attempt.kept.values(), attempt.diagnosis.ir)
            if name is not None
        }
        return {name: self._data[name] for name in sorted(names) if name in self._data}


class LocalExecutor:
    """An executor whose batches are compiled while they are iterated, in the thread that does."""

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
        """The attempts at each cell; ok ones come at once, and confirmed ones after that.

        ``stop`` ends this batch alone. By default it ends with all others.
        """
        artifacts, stop = _ArtifactBuffer(), stop or self._stop
        keep = artifacts.keep if batch.keep else None
        stream = (
            _Confirming(batch, self._workers, stop, keep).run()
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
        """One attempt at each cell; with diagnostics on, in a process of its own."""
        together = [batch.cells] if not batch.mode.diagnose else [(cell,) for cell in batch.cells]
        position = 0
        for cells in together:
            with closing(
                _attempted(evolve(batch, cells=cells), self._workers, stop, keep)
            ) as attempted:
                for _, evidence in attempted:
                    yield position, (evidence,)
                    position += 1

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

    def __init__(
        self, batch: Batch, workers: WorkerPool, stop: threading.Event, keep: Keep | None
    ) -> None:
        self.batch, self.cells = batch, batch.cells
        self.workers, self.stop, self.keep = workers, stop, keep

    def run(self) -> Generator[tuple[int, tuple[Evidence, ...]]]:
        """Position and attempts of every cell.

        They share a source: where that cannot be imported for one of them, it is not tried for the
        rest.
        """
        done = 0
        while done < len(self.cells):
            suspects: list[tuple[int, Evidence]] = []
            with closing(self._attempted(self.cells[done:])) as attempted:
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
        """The first attempt, one more alone with diagnostics on, and a third if they disagree."""
        limits = self.batch.limits
        # The first attempt hung until its deadline. The second only has to show where.
        if first.deadline is not None:
            limits = evolve(limits, stage=first.stage, stage_deadline=_CONFIRM_GRACE)
        _log.debug("%s: not ok, trying it again alone", cell.id)
        second = self._alone(cell, limits)
        if classify.agree(first, second, target=cell.target, knowledge=_knowledge(cell)):
            return first, second
        _log.info("%s: two attempts disagree, trying a third time", cell.id)
        return first, second, self._alone(cell, self.batch.limits)

    def _attempted(
        self, cells: tuple[Cell, ...], **changes: Any
    ) -> Generator[tuple[Cell, Evidence]]:
        return _attempted(
            evolve(self.batch, cells=cells, **changes), self.workers, self.stop, self.keep
        )

    def _alone(self, cell: Cell, limits: Limits) -> Evidence:
        mode = evolve(self.batch.mode, diagnose=True)
        ((_, evidence),) = self._attempted((cell,), limits=limits, mode=mode)
        return evidence


def _attempted(
    batch: Batch, workers: WorkerPool, stop: threading.Event, keep: Keep | None
) -> Generator[tuple[Cell, Evidence]]:
    """The first attempt at each cell of a batch."""
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
    """The package that all of these cells are of, if they are of one."""
    packages = {PreloadedPackage.of(cell, mode) for cell in cells}
    return packages.pop() if len(packages) == 1 else None


def _knowledge(cell: Cell) -> Knowledge:
    return toolchains.of(cell.env).failures


def _not_importable(cell: Cell, attempts: tuple[Evidence, ...]) -> bool:
    """Whether the cell's file cannot be imported, whichever of its functions is asked for."""
    if any(evidence.stage != SOURCE_STAGE for evidence in attempts):
        return False
    broken = (
        classify.classify(attempts, target=cell.target, knowledge=_knowledge(cell)).status
        is Status.SOURCE_BROKEN
    )
    return broken and not any(cell.spec.source in evidence.imported for evidence in attempts)
