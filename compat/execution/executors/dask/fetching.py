"""Artifacts that stayed on the workers of a cluster, fetched from whichever worker has them. Nothing of Dask is imported before."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from attrs import define, field, frozen

from compat import interruption
from compat.config.executor_settings import ExecutorSettings
from compat.errors import ClusterError
from compat.execution.elsewhere import Elsewhere, Fetched, Lacking
from compat.execution.executors.dask import cluster, worker_artifacts

_CONNECT = 5.0
"""Seconds that a scheduler may take to answer."""
_ANSWER = 30.0
"""Seconds that workers may take to say what they have."""
_TRANSFER = 120.0
"""Seconds that an artifact may be on its way."""
_TICK = 0.1


@frozen
class Fetching:
    """Fetches artifacts: from the cluster that settings name, if they do, and from those that they were left on."""

    settings: ExecutorSettings | None = None

    def __call__(self, wanted: Sequence[Elsewhere]) -> Iterator[Fetched]:
        """Each of the artifacts, or why it is not to be had. Raises Stopped."""
        left: dict[str, list[Elsewhere]] = {}
        for each in wanted:
            left.setdefault(each.name, []).append(each)
        why: dict[str, str] = {}
        for address in self._addresses(wanted):
            for name, came in _of_cluster(address, {name: tuple(records) for name, records in left.items()}):
                if isinstance(came, bytes):
                    yield left.pop(name)[0], came
                else:
                    why[name] = came if name not in why else f"{why[name]}; {came}"
            if not left:
                return
        for name, records in left.items():
            yield records[0], Lacking(known=records[0], why=why[name])

    def _addresses(self, wanted: Iterable[Elsewhere]) -> tuple[str, ...]:
        named = self.settings.address if self.settings else None
        return tuple(dict.fromkeys(address for address in (named, *(each.scheduler for each in wanted)) if address))


def _of_cluster(address: str, wanted: Mapping[str, tuple[Elsewhere, ...]]) -> Iterator[tuple[str, bytes | str]]:
    """Name → the artifact as one cluster has it, or why it has not."""
    try:
        cluster.quieten()
        _knock(address)
        client = cluster.client_of(address, _CONNECT)
    except ClusterError as error:
        yield from ((name, str(error)) for name in wanted)
        return
    except (OSError, ValueError):
        yield from ((name, f"no Dask scheduler answers at {address}") for name in wanted)
        return
    try:
        asked = _Asked(client)
        try:
            asked.find(wanted)
        except OSError:
            yield from ((name, f"the Dask scheduler at {address} does not answer") for name in wanted)
            return
        for name, records in wanted.items():
            yield name, asked.got(records)
    finally:
        with suppress(Exception):  # it may be gone by now
            client.close(timeout=_CONNECT)


def _knock(address: str) -> None:
    """Raise OSError where nothing listens at an address: Dask would go on trying."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=_CONNECT):
        pass


@define
class _Asked:
    """The workers of a cluster, and which artifacts they say that they have."""

    client: Any
    hosts: Mapping[str, str] = field(factory=dict)
    """Address of a worker → its machine."""
    holders: dict[str, list[str]] = field(factory=dict)
    """Hash → addresses of workers that have it, those of the machines that it was left on first."""
    trouble: dict[str, str] = field(factory=dict)
    """Machine → what came of asking it, where that was no answer."""

    def find(self, wanted: Mapping[str, tuple[Elsewhere, ...]]) -> None:
        """Ask the machines that artifacts were left on, and for those that they have not all others."""
        told = self.client.scheduler_info(n_workers=-1)["workers"]
        self.hosts = {address: str(facts.get("host", address)) for address, facts in told.items()}
        self.holders = {records[0].digest: [] for records in wanted.values()}
        near = {each.host for records in wanted.values() for each in records}
        self._ask([address for address, host in self.hosts.items() if host in near])
        if not all(self.holders.values()):
            self._ask([address for address, host in self.hosts.items() if host not in near])

    def _ask(self, addresses: Sequence[str]) -> None:
        if not addresses:
            return
        answers = self._run(worker_artifacts.held, list(self.holders), addresses, _ANSWER)
        for address in addresses:
            answer = answers.get(address)
            if isinstance(answer, frozenset):
                for digest in answer & self.holders.keys():
                    self.holders[digest].append(address)
            else:
                self.trouble[self.hosts[address]] = _words(answer)

    def got(self, records: Sequence[Elsewhere]) -> bytes | str:
        """An artifact from the first worker that has it as it was, or why it is not to be had."""
        digest, why = records[0].digest, dict[str, None]()
        for address in self.holders[digest]:
            answer = self._run(worker_artifacts.given, digest, [address], _TRANSFER).get(address)
            if isinstance(answer, bytes) and hashlib.sha256(answer).hexdigest() == digest:
                return answer
            if answer is not None:
                why[f"{self.hosts[address]}: {'damaged on its way' if isinstance(answer, bytes) else _words(answer)}"] = None
        if why:
            return "; ".join(why)
        there = [each.host for each in records if each.host in self.hosts.values()]
        if not there:
            return f"no worker of {records[0].host} is there any more, and no other has it"
        return "; ".join(f"{host} {self.trouble.get(host) or 'no longer has it'}" for host in there)

    def _run(self, function: Callable[..., Any], argument: object, addresses: Sequence[str], patience: float) -> Mapping[str, Any]:
        """What workers return or raise, by address; nothing where they do not answer in time. Raises Stopped."""
        answers: dict[str, Any] = {}

        def run() -> None:
            try:
                answers.update(self.client.run(function, argument, workers=list(addresses), on_error="return"))
            except Exception as error:  # whatever comes of a connection that breaks
                answers.update(dict.fromkeys(addresses, error))

        running = threading.Thread(target=run, name="dask-fetching", daemon=True)
        running.start()
        while running.is_alive() and patience > 0:
            interruption.check()
            running.join(_TICK)
            patience -= _TICK
        return dict(answers)


def _words(answer: object) -> str:
    """What it means that a worker answered so."""
    if answer is None or isinstance(answer, OSError):  # which is how a connection breaks, too
        return "does not answer"
    return f"cannot say ({type(answer).__name__}: {answer})" if isinstance(answer, BaseException) else str(answer)
