"""Launching on GPUs of a cluster's workers: what is launched together is a task of a worker that has such a GPU.

A task goes to a worker with a GPU that nobody of this command uses; it is tried elsewhere where the worker is lost, and divided.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from attrs import evolve, field, frozen

from compat.errors import ClusterError, MachineError
from compat.executors.dask.placement import GpuSlot, Losses, NoGpu
from compat.executors.dask.session import DaskSession, TaskEnd, ask
from compat.executors.gpus import GpuHost, LaunchedPiece, Load, NotLaunched
from compat.text import read_json
from compat.toolchains.pytorch.host.results import Key, key_of

_TICK = 0.2
_DISPLACED = 5
"""How often a task may be taken away by no fault of a worker."""
_FIRST = 10
"""The priority of launches: a worker begins one before what it has in line, since GPUs are few."""
_COULD_NOT = 2
"""The exit code of a launcher that could not launch anything."""


@frozen
class _PendingLaunch:
    """Cells that are not launched yet, and the attempts that failed so far."""

    load: Load
    losses: Losses = field(factory=Losses)
    displaced: int = 0

    def part(self, cells: Sequence[Mapping[str, Any]]) -> _PendingLaunch:
        """The same of some of the cells."""
        return evolve(self, load=evolve(self.load, cells=tuple(cells)))


_LaunchResults = list[LaunchedPiece | NotLaunched]


class GpuWorkers:
    """The GPUs of a cluster's workers (:class:`compat.executors.gpus.Gpus`)."""

    def __init__(self, session: DaskSession, check: Callable[[], None]) -> None:
        """``check`` raises where all is to end."""
        self._session, self._check = session, check

    def lack(self, target: str, arch: int, python: str | None = None) -> str | None:
        """What is missing for a target, as workers say now. Connects."""
        self._look()
        with self._session.changed:
            workers, gpu_slots = self._session.placement.workers, self._session.gpu_slots
            return None if any(gpu_slots.of(workers, arch, python)) else gpu_slots.reason(workers, target, arch, python)

    def count(self, arch: int) -> int:
        """How many GPUs of an architecture workers have."""
        with self._session.changed:
            devices = (
                (worker.info.host, device.identity)
                for address, worker in self._session.placement.workers.items()
                for device in self._session.gpu_slots.hosts.get(address, GpuHost()).devices
                if device.arch == arch
            )
            return len(set(devices))

    def launch(self, load: Load) -> Generator[LaunchedPiece | NotLaunched]:
        """Launch it on one GPU at a time; what a worker was lost with goes to another one, and is divided."""
        queue = [_PendingLaunch(load)]
        while queue:
            results, remaining = self._step(queue.pop(0))
            yield from results
            queue = [*remaining, *queue]

    # --- who can ---------------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Ask the workers that were not asked yet what they have. Connects."""
        session = self._session
        client = session.client
        with session.looking_at_gpus:
            with session.changed:
                workers = session.placement.workers.items()
                new = [address for address, worker in workers if address not in session.gpu_slots.hosts and worker.unfit is None]
            if not new:
                return
            from compat.executors.dask import remote

            answers = client.run(remote.gpu_host, workers=new, on_error="return")
            with session.changed:
                session.gpu_slots.hosts |= {address: answer for address, answer in answers.items() if isinstance(answer, GpuHost)}
                session.changed.notify_all()

    @contextmanager
    def _slot_for(self, pending: _PendingLaunch) -> Iterator[GpuSlot | NoGpu]:
        """A GPU, waited for and kept meanwhile; or what is missing, where no worker has one."""
        slot = self._chosen(pending)
        try:
            yield slot
        finally:
            if isinstance(slot, GpuSlot):
                with self._session.changed:
                    self._session.gpu_slots.busy.discard(slot.key)
                    self._session.changed.notify_all()

    def _chosen(self, pending: _PendingLaunch) -> GpuSlot | NoGpu:
        session, load = self._session, pending.load
        while True:
            self._check()
            self._look()
            settled = session.is_settled
            with session.changed:
                slot = session.gpu_slots.choose(
                    session.placement.workers, load.target, load.arch, load.python, pending.losses.hosts
                )
                if isinstance(slot, GpuSlot):
                    session.gpu_slots.busy.add(slot.key)
                    return slot
                if isinstance(slot, NoGpu) and settled:
                    return slot
                session.changed.wait(_TICK)

    # --- one try ---------------------------------------------------------------------------------------------------------------

    def _step(self, pending: _PendingLaunch) -> tuple[_LaunchResults, list[_PendingLaunch]]:
        with self._slot_for(pending) as slot:
            if isinstance(slot, NoGpu):
                return [NotLaunched(cells=pending.load.cells, why=slot.message, is_lost=False)], []
            done = self._asked(slot, pending.load)
            if done is None:
                return self._after_loss(pending, slot, "ended")
            return self._after(pending, slot, done)

    def _after(self, pending: _PendingLaunch, slot: GpuSlot, done: Any) -> tuple[_LaunchResults, list[_PendingLaunch]]:
        name = slot.worker.info.name
        if done.stopped:
            if pending.displaced >= _DISPLACED:
                raise ClusterError("the Dask scheduler takes tasks away again and again", hint="Is another program using it up?")
            return [], [evolve(pending, displaced=pending.displaced + 1)]
        lines = _lines(done.results)
        results: _LaunchResults = [LaunchedPiece(worker=name, lines=tuple(lines.values()))] if lines else []
        remaining = [cell for cell in pending.load.cells if key_of(cell) not in lines]
        if not remaining:
            return results, []
        if done.refused is not None or done.exit_code == _COULD_NOT:
            why = str(done.refused) if done.refused is not None else _last_line(done.output)
            self._session.gpu_slots.unable[slot.worker.info.address] = why
            self._session.say(f"Dask worker {name} cannot launch: {why}")
            return results, [pending.part(remaining)]
        ended, more = self._after_loss(pending.part(remaining), slot, f"had its launcher end ({done.exit_code})")
        return [*results, *ended], more

    def _after_loss(self, pending: _PendingLaunch, slot: GpuSlot, what: str) -> tuple[_LaunchResults, list[_PendingLaunch]]:
        """A worker is gone with cells: another one tries them, then cell by cell, and then they count as lost."""
        info, cells = slot.worker.info, pending.load.cells
        pending = evolve(pending, losses=pending.losses.and_of(info))
        which = str(cells[0]["cell"]) if len(cells) == 1 else f"{len(cells)} cells"
        self._session.look_soon()
        if pending.losses.are_enough:
            self._session.say(f"Dask worker {info.name} {what} while it launched {which}, which is not tried again")
            message = f"the Dask workers that launched it ended: {', '.join(pending.losses.names)}"
            return [NotLaunched(cells=cells, why=message, is_lost=True)], []
        self._session.say(f"Dask worker {info.name} {what} while it launched {which}; another one tries again")
        return [], [pending.part([cell]) for cell in cells] if pending.losses.divide else [pending]

    # --- one task --------------------------------------------------------------------------------------------------------------

    def _asked(self, slot: GpuSlot, load: Load) -> Any:
        """What a worker makes of it; ``None`` where the worker is gone. Raises Stopped, having cancelled it; and ClusterError."""
        from compat.executors.dask import remote

        python = load.python or slot.gpu_host.python
        assert python is not None
        order = remote.LaunchOrder(archive=load.pack(load.cells), device=slot.device, python=python, options=load.options)
        resource = {slot.gpu_host.resource: 1} if slot.gpu_host.resource else None
        key = f"launch-{load.target}-{uuid.uuid4()}"
        try:
            done = ask(
                *(self._session, slot.worker, remote.launch, order),
                key=key,
                check=self._check,
                priority=_FIRST,
                resources=resource,
            )
        except MachineError as error:
            return remote.LaunchEnd(refused=error)
        if isinstance(done, TaskEnd):
            return None if done is TaskEnd.GONE else remote.LaunchEnd(stopped=True)
        return done


def _lines(text: str) -> dict[Key, Mapping[str, Any]]:
    """The lines of results that can be read; of several for a cell the last."""
    lines: dict[Key, Mapping[str, Any]] = {}
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            result = read_json(line)
            lines[key_of(result)] = result
    return lines


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else "the launcher ended, and said nothing"
