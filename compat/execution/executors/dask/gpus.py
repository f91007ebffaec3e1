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
from compat.execution.executors.dask.placement import Losses
from compat.execution.executors.dask.seats import Equipment, Lack, Seat
from compat.execution.executors.dask.session import DaskSession
from compat.execution.executors.dask.task import Fate, ask
from compat.execution.executors.gpus import Launched, LaunchKey, Load, NotLaunched, key_of
from compat.json_text import read_json

_TICK = 0.2
_DISPLACED = 5
"""How often a task may be taken away by no fault of a worker."""
_FIRST = 10
"""The priority of launches: a worker begins one before what it has in line, since GPUs are few."""
_COULD_NOT = 2
"""The exit code of a launcher that could not launch anything."""


@frozen
class _Way:
    """Cells on their way, and what has become of them so far."""

    load: Load
    losses: Losses = field(factory=Losses)
    displaced: int = 0

    def part(self, cells: Sequence[Mapping[str, Any]]) -> _Way:
        """The same of some of the cells."""
        return evolve(self, load=evolve(self.load, cells=tuple(cells)))


_Told = list[Launched | NotLaunched]


class GpuWorkers:
    """The GPUs of a cluster's workers (:class:`compat.execution.executors.gpus.Gpus`)."""

    def __init__(self, session: DaskSession, check: Callable[[], None]) -> None:
        """``check`` raises where all is to end."""
        self._session, self._check = session, check

    def lack(self, target: str, arch: int, python: str | None = None) -> str | None:
        """What is missing for a target, as workers say now. Connects."""
        self._look()
        with self._session.changed:
            places, seats = self._session.placement.places, self._session.seats
            return None if any(seats.of(places, arch, python)) else seats.words(places, target, arch, python)

    def count(self, arch: int) -> int:
        """How many GPUs of an architecture workers have."""
        with self._session.changed:
            devices = (
                (place.known.host, device.identity)
                for address, place in self._session.placement.places.items()
                for device in self._session.seats.told.get(address, Equipment()).devices
                if device.arch == arch
            )
            return len(set(devices))

    def launch(self, load: Load) -> Generator[Launched | NotLaunched]:
        """Launch it on one GPU at a time; what a worker was lost with goes to another one, and is divided."""
        ways = [_Way(load)]
        while ways:
            told, left = self._step(ways.pop(0))
            yield from told
            ways = [*left, *ways]

    # --- who can ---------------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Ask the workers that were not asked yet what they have. Connects."""
        session = self._session
        client = session.client
        with session.looking_at_gpus:
            with session.changed:
                places = session.placement.places.items()
                new = [address for address, place in places if address not in session.seats.told and place.unfit is None]
            if not new:
                return
            from compat.execution.executors.dask import launching

            told = client.run(launching.equipment, workers=new, on_error="return")
            with session.changed:
                session.seats.told |= {address: each for address, each in told.items() if isinstance(each, Equipment)}
                session.changed.notify_all()

    @contextmanager
    def _seat_for(self, way: _Way) -> Iterator[Seat | Lack]:
        """A GPU, waited for and kept meanwhile; or what is missing, where no worker has one."""
        seat = self._chosen(way)
        try:
            yield seat
        finally:
            if isinstance(seat, Seat):
                with self._session.changed:
                    self._session.seats.busy.discard(seat.key)
                    self._session.changed.notify_all()

    def _chosen(self, way: _Way) -> Seat | Lack:
        session, load = self._session, way.load
        while True:
            self._check()
            self._look()
            settled = session.is_settled
            with session.changed:
                found = session.seats.choose(session.placement.places, load.target, load.arch, load.python, way.losses.hosts)
                if isinstance(found, Seat):
                    session.seats.busy.add(found.key)
                    return found
                if isinstance(found, Lack) and settled:
                    return found
                session.changed.wait(_TICK)

    # --- one try ---------------------------------------------------------------------------------------------------------------

    def _step(self, way: _Way) -> tuple[_Told, list[_Way]]:
        with self._seat_for(way) as seat:
            if isinstance(seat, Lack):
                return [NotLaunched(cells=way.load.cells, why=seat.words, is_lost=False)], []
            done = self._asked(seat, way.load)
            if done is None:
                return self._after_loss(way, seat, "ended")
            return self._after(way, seat, done)

    def _after(self, way: _Way, seat: Seat, done: Any) -> tuple[_Told, list[_Way]]:
        name = seat.place.known.name
        if done.stopped:
            if way.displaced >= _DISPLACED:
                raise ClusterError("the Dask scheduler takes tasks away again and again", hint="Is another program using it up?")
            return [], [evolve(way, displaced=way.displaced + 1)]
        lines = _lines(done.results)
        told: _Told = [Launched(worker=name, lines=tuple(lines.values()))] if lines else []
        left = [cell for cell in way.load.cells if key_of(cell) not in lines]
        if not left:
            return told, []
        if done.refused is not None or done.exit_code == _COULD_NOT:
            why = str(done.refused) if done.refused is not None else _last_line(done.said)
            self._session.seats.unable[seat.place.known.address] = why
            self._session.say(f"Dask worker {name} cannot launch: {why}")
            return told, [way.part(left)]
        ended, more = self._after_loss(way.part(left), seat, f"had its launcher end ({done.exit_code})")
        return [*told, *ended], more

    def _after_loss(self, way: _Way, seat: Seat, what: str) -> tuple[_Told, list[_Way]]:
        """A worker is gone with cells: another one tries them, then cell by cell, and then they count as lost."""
        known, cells = seat.place.known, way.load.cells
        way = evolve(way, losses=way.losses.and_of(known))
        which = str(cells[0]["cell"]) if len(cells) == 1 else f"{len(cells)} cells"
        self._session.look_soon()
        if way.losses.are_enough:
            self._session.say(f"Dask worker {known.name} {what} while it launched {which}, which is not tried again")
            words = f"the Dask workers that launched it ended: {', '.join(way.losses.names)}"
            return [NotLaunched(cells=cells, why=words, is_lost=True)], []
        self._session.say(f"Dask worker {known.name} {what} while it launched {which}; another one tries again")
        return [], [way.part([cell]) for cell in cells] if way.losses.divide else [way]

    # --- one task --------------------------------------------------------------------------------------------------------------

    def _asked(self, seat: Seat, load: Load) -> Any:
        """What a worker makes of it; ``None`` where the worker is gone. Raises Stopped, having cancelled it; and ClusterError."""
        from compat.execution.executors.dask import launching

        python = load.python or seat.equipment.python
        assert python is not None
        order = launching.Order(archive=load.pack(load.cells), device=seat.device, python=python, options=load.options)
        resource = {seat.equipment.resource: 1} if seat.equipment.resource else None
        key = f"launch-{load.target}-{uuid.uuid4()}"
        try:
            done = ask(
                *(self._session, seat.place, launching.launch, order),
                key=key,
                check=self._check,
                priority=_FIRST,
                resources=resource,
            )
        except MachineError as error:
            return launching.Done(refused=error)
        if isinstance(done, Fate):
            return None if done is Fate.GONE else launching.Done(stopped=True)
        return done


def _lines(text: str) -> dict[LaunchKey, Mapping[str, Any]]:
    """The lines of results that can be read; of several for a cell the last."""
    found: dict[LaunchKey, Mapping[str, Any]] = {}
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            said = read_json(line)
            found[key_of(said)] = said
    return found


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else "the launcher ended, and said nothing"
