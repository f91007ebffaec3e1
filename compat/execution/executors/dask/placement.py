"""Which worker takes which batch. Pure: it is told what happens, and says what to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from attrs import define, field, frozen

from compat.execution.executors.base import EnvLeft

IN_LINE = 2
"""Batches that a worker has for each of its threads: one is attempted, one waits for it, so that no thread waits for the driver."""
_LOSSES = 3
"""How often a batch is tried: once, and twice elsewhere."""


@frozen(kw_only=True)
class Known:
    """A worker as the scheduler tells of it."""

    address: str
    name: str
    host: str
    threads: int


@define(kw_only=True)
class Place:
    """A worker, and what is known of it."""

    known: Known
    in_flight: int = 0
    alone: bool = False
    """Whether it has a batch that is to be alone there, since workers were lost with it, or such a batch waits for it."""
    envs: set[str] = field(factory=set)
    """Digests of the envs that it compiles in, or has compiled in."""
    trees: set[str] = field(factory=set)
    """Digests of the trees that it has."""
    unable: dict[str, str] = field(factory=dict)
    """Digest of an env → why it cannot have it."""
    unfit: str | None = None
    """Why it gets nothing any more."""

    @property
    def is_busy(self) -> bool:
        """Whether each of its threads has a batch."""
        return self.in_flight >= self.known.threads

    @property
    def has_room(self) -> bool:
        """Whether it takes another batch."""
        return not self.alone and self.in_flight < IN_LINE * self.known.threads

    @property
    def load(self) -> float:
        """Batches for each thread."""
        return self.in_flight / self.known.threads


@frozen(kw_only=True)
class Nobody:
    """No worker that is there can ever take a batch."""

    why: Mapping[str, str]
    """Worker → what it lacks; empty where there is no worker."""

    @property
    def words(self) -> str:
        """The same in a line, each reason once."""
        reasons: dict[str, list[str]] = {}
        for name, reason in self.why.items():
            reasons.setdefault(reason, []).append(name)
        return "; ".join(f"{reason} ({_few(names)})" for reason, names in reasons.items())


def _few(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


@define
class Placement:
    """The workers that are there, and what each has in flight."""

    places: dict[str, Place] = field(factory=dict)
    """By address."""

    def update(self, workers: Iterable[Known]) -> tuple[Place, ...]:
        """These workers are there now and no others; those that have gone."""
        there = {known.address: known for known in workers}
        gone = tuple(place for address, place in self.places.items() if address not in there)
        kept = {address: place for address, place in self.places.items() if address in there}
        self.places = kept | {address: Place(known=known) for address, known in there.items() if address not in kept}
        return gone

    @property
    def threads(self) -> int:
        """Threads of all workers."""
        return sum(place.known.threads for place in self.places.values())

    def choose(self, env: str, *, alone: bool, not_again: Collection[str] = ()) -> Place | Nobody | None:
        """The worker for a batch of an env; ``None`` where those that could take it are busy.

        A batch that is to be ``alone`` shares no worker, and no host with another such one: if it takes the worker with it, it
        takes nothing else. It goes to a host that is not in ``not_again`` where there is one, and waits there until the worker has
        nothing else in flight.
        """
        able = [place for place in self.places.values() if place.unfit is None and env not in place.unable]
        if not able:
            return Nobody(why={each.known.name: each.unfit or each.unable[env] for each in self.places.values()})
        if alone:
            taken = {place.known.host for place in self.places.values() if place.alone}
            free = [place for place in able if place.known.host not in taken]
            return min(
                free, key=lambda place: (place.known.host in not_again, place.in_flight, env not in place.envs), default=None
            )
        free = [place for place in able if place.has_room]
        return min(free, key=lambda place: (place.is_busy, env not in place.envs, place.load), default=None)

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """Of which of these envs a batch is to be next, for the worker that is next to get one: its position.

        One that this worker compiles in. Otherwise the first that no worker does; or the one with most batches for each worker.
        Each server of an env that a worker starts costs about as much as compiling a small kernel several times.
        """
        free = [place for place in self.places.values() if place.unfit is None and place.has_room]
        if not free:
            return 0
        place = min(free, key=lambda place: (place.is_busy, place.load))
        possible = [number for number, env in enumerate(envs) if env.digest not in place.unable] or range(len(envs))
        warm = (number for number in possible if envs[number].digest in place.envs)
        if (found := next(warm, None)) is not None:
            return found

        def share(number: int) -> tuple[bool, float]:
            having = sum(envs[number].digest in place.envs for place in self.places.values())
            return having == 0, (envs[number].batches / having if having else -number)

        return max(possible, key=share)


@frozen
class Losses:
    """The workers that ended while they had a batch: their names and hosts, in order."""

    names: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()

    def and_of(self, known: Known) -> Losses:
        """One more."""
        return Losses((*self.names, known.name), self.hosts | {known.host})

    @property
    def are_enough(self) -> bool:
        """Whether it is not tried again."""
        return len(self.names) >= _LOSSES

    @property
    def suspect(self) -> bool:
        """Whether it may be what ended them, and goes on alone."""
        return bool(self.names)

    @property
    def divide(self) -> bool:
        """Whether its cells go on one by one: then the one that ends workers is known, and the others are done."""
        return len(self.names) == _LOSSES - 1
