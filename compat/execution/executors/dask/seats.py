"""Which worker launches on which GPU. Pure: it is told what workers have, and says who is next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from attrs import define, field, frozen

from compat.execution.executors.dask.placement import Place
from compat.execution.executors.gpus import Device


@frozen(kw_only=True)
class Equipment:
    """What a worker tells of itself: what it can launch on, and with what."""

    devices: tuple[Device, ...] = ()
    why_none: str = ""
    python: str | None = None
    """An interpreter with PyTorch."""
    resource: str | None = None
    """What the worker calls GPUs among the resources of Dask, where it declares them."""


@frozen(kw_only=True)
class Seat:
    """A GPU, and a worker that launches on it."""

    place: Place
    device: Device
    equipment: Equipment

    @property
    def key(self) -> tuple[str, str]:
        """The same for all workers of a machine."""
        return self.place.known.host, self.device.identity


@frozen
class Lack:
    """No worker that is there can launch for a target: what each lacks."""

    words: str


@define
class Seats:
    """The GPUs of a cluster, and which are in use by this command."""

    told: dict[str, Equipment] = field(factory=dict)
    """By the address of a worker."""
    busy: set[tuple[str, str]] = field(factory=set)
    unable: dict[str, str] = field(factory=dict)
    """Address → why nothing can be launched there, though there is a GPU."""

    def of(self, places: Mapping[str, Place], arch: int, python: str | None = None) -> Iterator[Seat]:
        """Every combination of a worker and a GPU of an architecture; ``python`` is what everything is launched with, if named."""
        for address, place in places.items():
            equipment = self.told.get(address)
            if equipment is None or place.unfit is not None or address in self.unable or not (python or equipment.python):
                continue
            for device in equipment.devices:
                if device.arch == arch:
                    yield Seat(place=place, device=device, equipment=equipment)

    def choose(
        self, places: Mapping[str, Place], target: str, arch: int, python: str | None, not_again: Collection[str] = ()
    ) -> Seat | Lack | None:
        """A GPU that is free, on a host of ``not_again`` only where there is no other; ``None`` where all are in use."""
        seats = list(self.of(places, arch, python))
        if not seats:
            return Lack(self.words(places, target, arch, python))
        free = [seat for seat in seats if seat.key not in self.busy]
        return min(free, key=lambda seat: (seat.place.known.host in not_again, seat.place.load), default=None)

    def words(self, places: Mapping[str, Place], target: str, arch: int, python: str | None) -> str:
        """What all of them lack."""
        found: dict[str, list[str]] = {}
        for address, place in places.items():
            found.setdefault(self._lack(address, place, arch, python), []).append(place.known.name)
        told = ", ".join(f"{_several(names)} {_verb(words, names)}" for words, names in found.items())
        return f"no Dask worker has a GPU of {target}: {told or 'there is no worker'}"

    def _lack(self, address: str, place: Place, arch: int, python: str | None) -> str:
        equipment = self.told.get(address)
        if place.unfit is not None or address in self.unable:
            return f"cannot launch ({place.unfit or self.unable[address]})"
        if equipment is None:
            return "has not answered"
        fitting = [device for device in equipment.devices if device.arch == arch]
        if fitting and not (python or equipment.python):
            return f"has one ({fitting[0].name}), but no Python with PyTorch"
        if not equipment.devices:
            return f"has none ({equipment.why_none})"
        return f"has {', '.join(sorted({f'sm_{device.arch} ({device.name})' for device in equipment.devices}))}"


def _several(names: list[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _verb(words: str, names: list[str]) -> str:
    return words.replace("has ", "have ", 1) if len(names) > 1 and words.startswith("has ") else words
