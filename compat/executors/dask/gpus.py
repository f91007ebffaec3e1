"""Launches on the GPUs of a cluster's workers.

Cells that are launched together are one Dask task. The task goes to a Dask worker with a suitable
GPU that this command does not use yet. If the worker is lost, the task is divided and goes to other
workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from compat.executors.dask.session import UNASKED, ClusterWorker, DaskSession
from compat.executors.dask.work import Work, by_reason
from compat.executors.gpus import GpuDevice, GpuHost, LaunchedPiece, Load, NotLaunched
from compat.text import read_json
from compat.toolchains.pytorch.host.results import Key, key_of

if TYPE_CHECKING:
    from compat.executors.dask.remote import LaunchEnd

_FIRST = 10
"""The priority of launches. A worker begins one before the rest of its queue, because GPUs are few.
"""
_COULD_NOT = 2
"""The exit code of a launcher that could not launch anything."""


GpuSlot = tuple[ClusterWorker, GpuDevice]
"""A Dask worker, and a GPU that it can launch on."""


def key_of_gpu(slot: GpuSlot) -> tuple[str, str]:
    """Return host and identity of a GPU, which are the same for all workers of its machine."""
    worker, device = slot
    return worker.host, device.identity


class GpuWorkers:
    """The GPUs of a cluster's workers (:class:`compat.executors.gpus.Gpus`)."""

    def __init__(self, session: DaskSession, check: Callable[[], None]) -> None:
        """``check`` raises an exception if all work must end."""
        self.session, self.check = session, check
        self.busy: set[tuple[str, str]] = set()
        """Keys of the GPUs that this command is launching on."""
        self._looking = threading.Lock()

    def lack(self, target: str, arch: int, python: str | None = None) -> str | None:
        """Return what the workers lack now to launch for a target; ``None`` if one can. Connects.

        ``python`` is the path of an interpreter with PyTorch that all workers have.
        """
        self.look()
        with self.session.changed:
            return None if self.slots(arch, python) else self.reason(target, arch)

    def count(self, arch: int) -> int:
        """Return the number of the workers' GPUs of an architecture."""
        with self.session.changed:
            return len(set(map(key_of_gpu, self._all(arch))))

    def launch(self, load: Load) -> Generator[LaunchedPiece | NotLaunched]:
        """Launch a load on one GPU at a time.

        Cells of a lost worker are divided and go to other workers.
        """
        return _LaunchWork(session=self.session, check=self.check, gpus=self, load=load).run()

    def look(self) -> None:
        """Ask new workers for their GPUs. Connects."""
        from compat.executors.dask import remote

        client = self.session.client
        with self._looking:
            workers = dict(self.session.workers)
            new = [
                address
                for address, worker in workers.items()
                if worker.gpus is UNASKED and worker.unfit is None
            ]
            answers = client.run(remote.gpu_host, workers=new, on_error="return") if new else {}
            for address, answer in answers.items():
                if isinstance(answer, GpuHost):
                    workers[address].gpus = answer

    def _all(self, arch: int) -> list[GpuSlot]:
        workers = self.session.workers.values()
        return [
            (worker, device)
            for worker in workers
            for device in worker.gpus.devices
            if device.arch == arch
        ]

    def slots(self, arch: int, python: str | None) -> list[GpuSlot]:
        """Return every pair of a worker that can launch and its GPU of an architecture.

        ``python`` is the interpreter that launches. If it is ``None``, only workers with an
        interpreter of their own count.
        """
        return [
            (worker, device)
            for worker, device in self._all(arch)
            if not (worker.unfit or worker.cannot_launch) and (python or worker.gpus.python)
        ]

    def reason(self, target: str, arch: int) -> str:
        """Return why no worker can launch for a target, with what each worker lacks."""
        reasons = by_reason(
            (worker.name, _lack(worker, arch)) for worker in list(self.session.workers.values())
        )
        listed = ", ".join(f"{names} {lack}" for lack, names in reasons.items())
        return f"no Dask worker has a GPU of {target}: {listed or 'there are no workers'}"


def _lack(worker: ClusterWorker, arch: int) -> str:
    if reason := worker.unfit or worker.cannot_launch:
        return f"cannot launch ({reason})"
    if not worker.gpus.devices:
        return f"has none ({worker.gpus.why_none})"
    if fitting := [device.name for device in worker.gpus.devices if device.arch == arch]:
        return f"has one ({fitting[0]}), but no Python with PyTorch"
    names = {f"sm_{device.arch} ({device.name})" for device in worker.gpus.devices}
    return f"has {', '.join(sorted(names))}"


class _NoGpu(Exception):
    """No connected worker can launch for a target."""


@frozen(kw_only=True)
class _LaunchWork(Work[LaunchedPiece | NotLaunched]):
    ENDED = "ended during a launch of"
    gpus: GpuWorkers
    load: Load

    @property
    def cells(self) -> Sequence[str]:
        return [str(cell["cell"]) for cell in self.load.cells]

    def part(self, numbers: Sequence[int]) -> _LaunchWork:
        return evolve(
            self, load=evolve(self.load, cells=tuple(self.load.cells[number] for number in numbers))
        )

    def results_if_lost(self) -> Sequence[NotLaunched]:
        return [
            NotLaunched(
                cells=self.load.cells,
                why=f"the Dask workers that launched it ended: {self.names}",
                is_lost=True,
            )
        ]

    def attempt(self) -> tuple[Sequence[LaunchedPiece | NotLaunched], Sequence[_LaunchWork]]:
        from compat.executors.dask import remote

        load = self.load
        with suppress(_NoGpu), self._slot() as (worker, device):
            python = load.python or str(worker.gpus.python)
            order = remote.LaunchOrder(
                archive=load.pack(load.cells), device=device, python=python, options=load.options
            )
            resources = {worker.gpus.resource: 1} if worker.gpus.resource else None
            end = self.session.ask(
                *(remote.launch, order, [worker]),
                name=f"launch-{load.target}",
                check=self.check,
                priority=_FIRST,
                resources=resources,
            )
            return self._after(worker, end)
        why = self.gpus.reason(load.target, load.arch)
        return [NotLaunched(cells=load.cells, why=why, is_lost=False)], []

    @contextmanager
    def _slot(self) -> Iterator[GpuSlot]:
        """Wait for a free GPU, and reserve it. Raises _NoGpu if no worker has one."""
        slot = self.session.wait_for(self._choose, self._look)
        try:
            yield slot
        finally:
            with self.session.changed:
                self.gpus.busy.discard(key_of_gpu(slot))
                self.session.changed.notify_all()

    def _look(self) -> None:
        self.check()
        self.gpus.look()

    def _choose(self) -> GpuSlot | None:
        """Reserve and return a free GPU; ``None`` if all are busy. Raises _NoGpu.

        Hosts on which the load was lost come last.
        """
        slots = self.gpus.slots(self.load.arch, self.load.python)
        if not slots and self.session.is_settled:
            raise _NoGpu
        free = [slot for slot in slots if key_of_gpu(slot) not in self.gpus.busy]
        if not free:
            return None
        slot = min(free, key=lambda slot: slot[0].host in self.hosts)
        self.gpus.busy.add(key_of_gpu(slot))
        return slot

    def _after(
        self, worker: ClusterWorker, end: LaunchEnd
    ) -> tuple[Sequence[LaunchedPiece | NotLaunched], Sequence[_LaunchWork]]:
        lines = _lines(end.results)
        results = [LaunchedPiece(worker=worker.name, lines=tuple(lines.values()))] if lines else []
        remaining = [
            number for number, cell in enumerate(self.load.cells) if key_of(cell) not in lines
        ]
        if not remaining:
            return results, []
        rest = self.part(remaining)
        if (why := end.refused) is not None or end.exit_code == _COULD_NOT:
            worker.cannot_launch = why or _last_line(end.output)
            self.session.say(f"Dask worker {worker.name} cannot launch: {worker.cannot_launch}")
            return results, [rest]
        lost, more = rest.after_loss(
            worker, f"lost its launcher (exit code {end.exit_code}) during a launch of"
        )
        return [*results, *lost], more


def _lines(text: str) -> dict[Key, Mapping[str, object]]:
    """Return the readable lines of results by cell. If a cell has several, the last one counts."""
    lines: dict[Key, Mapping[str, object]] = {}
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            result = read_json(line)
            lines[key_of(result)] = result
    return lines


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else "the launcher ended without output"
