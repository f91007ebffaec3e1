"""Which worker takes which batch. Pure: it is told what happens, and says what to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from attrs import define, field, frozen

from compat.executors.executor import EnvLeft
from compat.executors.gpus import GpuDevice, GpuHost

IN_LINE = 2
"""Batches that a worker has for each of its threads: one is attempted, one waits for it, so that no thread waits for the driver."""
_LOSSES = 3
"""How often a batch is tried: once, and twice elsewhere."""


@frozen(kw_only=True)
class WorkerInfo:
    """A worker as the scheduler tells of it."""

    address: str
    name: str
    host: str
    threads: int


@define(kw_only=True)
class ClusterWorker:
    """A worker, and what is known of it."""

    info: WorkerInfo
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
        return self.in_flight >= self.info.threads

    @property
    def has_room(self) -> bool:
        """Whether it takes another batch."""
        return not self.alone and self.in_flight < IN_LINE * self.info.threads

    @property
    def load(self) -> float:
        """Batches for each thread."""
        return self.in_flight / self.info.threads


@frozen(kw_only=True)
class NoEligibleWorker:
    """No worker that is there can ever take a batch."""

    why: Mapping[str, str]
    """Worker → what it lacks; empty where there is no worker."""

    @property
    def message(self) -> str:
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

    workers: dict[str, ClusterWorker] = field(factory=dict)
    """By address."""

    def update(self, workers: Iterable[WorkerInfo]) -> tuple[ClusterWorker, ...]:
        """These workers are there now and no others; those that have gone."""
        there = {info.address: info for info in workers}
        departed = tuple(worker for address, worker in self.workers.items() if address not in there)
        kept = {address: worker for address, worker in self.workers.items() if address in there}
        self.workers = kept | {address: ClusterWorker(info=info) for address, info in there.items() if address not in kept}
        return departed

    @property
    def threads(self) -> int:
        """Threads of all workers."""
        return sum(worker.info.threads for worker in self.workers.values())

    def choose(self, env: str, *, alone: bool, not_again: Collection[str] = ()) -> ClusterWorker | NoEligibleWorker | None:
        """The worker for a batch of an env; ``None`` where those that could take it are busy.

        A batch that is to be ``alone`` shares no worker, and no host with another such one: if it takes the worker with it, it
        takes nothing else. It goes to a host that is not in ``not_again`` where there is one, and waits there until the worker has
        nothing else in flight.
        """
        able = [worker for worker in self.workers.values() if worker.unfit is None and env not in worker.unable]
        if not able:
            return NoEligibleWorker(why={worker.info.name: worker.unfit or worker.unable[env] for worker in self.workers.values()})
        if alone:
            hosts = {worker.info.host for worker in self.workers.values() if worker.alone}
            free = [worker for worker in able if worker.info.host not in hosts]
            return min(
                free, key=lambda worker: (worker.info.host in not_again, worker.in_flight, env not in worker.envs), default=None
            )
        free = [worker for worker in able if worker.has_room]
        return min(free, key=lambda worker: (worker.is_busy, env not in worker.envs, worker.load), default=None)

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """Of which of these envs a batch is to be next, for the worker that is next to get one: its position.

        One that this worker compiles in. Otherwise the first that no worker does; or the one with most cells for each worker.
        Each server of an env that a worker starts costs about as much as compiling a small kernel several times.
        """
        free = [worker for worker in self.workers.values() if worker.unfit is None and worker.has_room]
        if not free:
            return 0
        worker = min(free, key=lambda worker: (worker.is_busy, worker.load))
        possible = [number for number, env in enumerate(envs) if env.digest not in worker.unable] or range(len(envs))
        warm = (number for number in possible if envs[number].digest in worker.envs)
        if (position := next(warm, None)) is not None:
            return position

        def share(number: int) -> tuple[bool, float]:
            having = sum(envs[number].digest in worker.envs for worker in self.workers.values())
            return having == 0, (envs[number].cells / having if having else -number)

        return max(possible, key=share)


@frozen
class Losses:
    """The workers that ended while they had a batch: their names and hosts, in order."""

    names: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()

    def and_of(self, info: WorkerInfo) -> Losses:
        """One more."""
        return Losses((*self.names, info.name), self.hosts | {info.host})

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


@frozen(kw_only=True)
class GpuSlot:
    """A GPU, and a worker that launches on it."""

    worker: ClusterWorker
    device: GpuDevice
    gpu_host: GpuHost

    @property
    def key(self) -> tuple[str, str]:
        """The same for all workers of a machine."""
        return self.worker.info.host, self.device.identity


@frozen
class NoGpu:
    """No worker that is there can launch for a target: what each lacks."""

    message: str


@define
class GpuSlots:
    """The GPUs of a cluster, and which are in use by this command."""

    hosts: dict[str, GpuHost] = field(factory=dict)
    """What each worker has to launch with, by its address."""
    busy: set[tuple[str, str]] = field(factory=set)
    unable: dict[str, str] = field(factory=dict)
    """Address → why nothing can be launched there, though there is a GPU."""

    def of(self, workers: Mapping[str, ClusterWorker], arch: int, python: str | None = None) -> Iterator[GpuSlot]:
        """Every combination of a worker and a GPU of an architecture; ``python`` is what everything is launched with, if named."""
        for address, worker in workers.items():
            host = self.hosts.get(address)
            if host is None or worker.unfit is not None or address in self.unable or not (python or host.python):
                continue
            for device in host.devices:
                if device.arch == arch:
                    yield GpuSlot(worker=worker, device=device, gpu_host=host)

    def choose(
        self, workers: Mapping[str, ClusterWorker], target: str, arch: int, python: str | None, not_again: Collection[str] = ()
    ) -> GpuSlot | NoGpu | None:
        """A GPU that is free, on a host of ``not_again`` only where there is no other; ``None`` where all are in use."""
        gpu_slots = list(self.of(workers, arch, python))
        if not gpu_slots:
            return NoGpu(self.reason(workers, target, arch, python))
        free = [slot for slot in gpu_slots if slot.key not in self.busy]
        return min(free, key=lambda slot: (slot.worker.info.host in not_again, slot.worker.load), default=None)

    def reason(self, workers: Mapping[str, ClusterWorker], target: str, arch: int, python: str | None) -> str:
        """What all of them lack."""
        by_lack: dict[str, list[str]] = {}
        for address, worker in workers.items():
            by_lack.setdefault(self._lack(address, worker, arch, python), []).append(worker.info.name)
        listed = ", ".join(f"{_several(names)} {_verb(lack, names)}" for lack, names in by_lack.items())
        return f"no Dask worker has a GPU of {target}: {listed or 'there is no worker'}"

    def _lack(self, address: str, worker: ClusterWorker, arch: int, python: str | None) -> str:
        host = self.hosts.get(address)
        if worker.unfit is not None or address in self.unable:
            return f"cannot launch ({worker.unfit or self.unable[address]})"
        if host is None:
            return "has not answered"
        fitting = [device for device in host.devices if device.arch == arch]
        if fitting and not (python or host.python):
            return f"has one ({fitting[0].name}), but no Python with PyTorch"
        if not host.devices:
            return f"has none ({host.why_none})"
        return f"has {', '.join(sorted({f'sm_{device.arch} ({device.name})' for device in host.devices}))}"


def _several(names: list[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _verb(lack: str, names: list[str]) -> str:
    return lack.replace("has ", "have ", 1) if len(names) > 1 and lack.startswith("has ") else lack
