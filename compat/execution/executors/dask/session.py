"""A connection to a cluster, for as long as a command runs: who is there, with which versions, and what became of them.

It is made when the first batch is to be compiled, and found again where it breaks.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any, Self

from compat import interruption
from compat.bundle.tree import Trees
from compat.config.executor_settings import ExecutorSettings
from compat.envs.wanted import Wanted
from compat.errors import ClusterError
from compat.execution.executors.base import EnvLeft
from compat.execution.executors.dask import cluster
from compat.execution.executors.dask.parcel import About, code_digest
from compat.execution.executors.dask.placement import Known, Nobody, Place, Placement
from compat.model import BuiltEnv

_log = logging.getLogger(__name__)

_LOOK = 5.0
"""Seconds between two looks at who is there, where nothing is heard."""
_TICK = 0.2
_GRACE = 10.0
"""Seconds after the loss of a worker in which another may come in its place."""
_CONNECTED = "running"
_CONNECT = 10.0
"""Seconds that a scheduler may take to answer."""

Say = Callable[[str], None]


class DaskSession:
    """The connection that a command's executors share; closing it leaves nothing of the command in the cluster."""

    def __init__(self, settings: ExecutorSettings, say: Say = lambda words: None) -> None:
        """``say`` hears of workers that fail, and where the dashboard is. Nothing is connected yet."""
        self.settings = settings
        self.say = say
        self.trees = Trees()
        self.wholes: set[object] = set()
        """The sources that need their whole trees."""
        self.changed = threading.Condition()
        """Held to look at :attr:`placement`; notified where a batch may find a place now."""
        self.placement = Placement()
        self.name = uuid.uuid4().hex[:8]
        self._cluster: cluster.Cluster | None = None
        self._client: Any = None
        self._connecting = threading.Lock()
        self._news = threading.Event()
        self._closed = threading.Event()
        self._watching: threading.Thread | None = None
        self._lost = -_GRACE
        self._wanted: dict[str, Wanted] = {}
        self._reading = threading.Lock()
        self._error: ClusterError | None = None

    @property
    def slots(self) -> int:
        """How many batches are on their way at the same time. Connects."""
        _ = self.client
        return self.settings.in_flight or max(2, 2 * self.placement.threads)

    # --- connecting ------------------------------------------------------------------------------------------------------------

    @property
    def client(self) -> Any:
        """The connection, made where there is none. Raises ClusterError, ConfigError, and Stopped."""
        with self._connecting:
            if self._error is not None:
                raise self._error
            if self._client is None:
                self._connect()
            elif self._client.status == "closed":
                self._connect_again()
            return self._client

    def _connect(self) -> None:
        self._cluster = cluster.opened(self.settings)
        try:
            self._client = cluster.client_of(self._cluster.address, min(_CONNECT, 1 + self.settings.wait))
        except OSError as error:
            hint = "Is the scheduler running there (`dask scheduler`), and can it be reached from here?"
            raise ClusterError("no Dask scheduler answers", where=self._cluster.address, hint=hint) from error
        self._client.subscribe_topic("all", lambda event: self._news.set())
        self._wait_for_workers()
        self._watching = threading.Thread(target=self._watch, name="dask-workers", daemon=True)
        self._watching.start()
        if link := self._client.dashboard_link:
            self.say(f"Dask: {len(self.placement.places)} workers, {self.placement.threads} threads; dashboard {link}")

    def _wait_for_workers(self) -> None:
        """Wait for the first worker. Raises ClusterError where none comes in time, or one that is there has other versions."""
        give_up = time.monotonic() + self.settings.wait
        while True:
            self._look()
            differing = [place for place in self.placement.places.values() if place.unfit]
            if differing:
                raise self._mismatch(differing)
            if self.placement.places:
                return
            interruption.check()
            if time.monotonic() > give_up:
                raise self.no_worker()
            time.sleep(_TICK)

    def no_worker(self) -> ClusterError:
        """What to say where nobody came."""
        hint = "Start workers (`dask worker ADDRESS`), or wait longer for them: `wait` in [executor] of matrix.toml."
        where = self._cluster.address if self._cluster else self.settings.where
        return ClusterError(f"no Dask worker came within {self.settings.wait:g} s", where=where, hint=hint)

    def _mismatch(self, places: Sequence[Place]) -> ClusterError:
        words = "; ".join(f"{place.known.name}: {place.unfit}" for place in places[:3])
        more = f"; and {len(places) - 3} more" if len(places) > 3 else ""
        hint = "Install the same triton-compat[dask] on the same Python for all workers as here, and start them again."
        return ClusterError(f"workers differ from this command: {words}{more}", where=self._address, hint=hint)

    @property
    def _address(self) -> str:
        return self._cluster.address if self._cluster else self.settings.where

    def _connect_again(self) -> None:
        """Find a scheduler again that was gone. Raises ClusterError where it does not come back in time."""
        self.say(f"Dask: the scheduler at {self._address} is gone; waiting for it for {self.settings.wait:g} s")
        give_up = time.monotonic() + self.settings.wait
        while True:
            interruption.check()
            with suppress(OSError):
                self._client = cluster.client_of(self._address, _TICK + 1)
                self._client.subscribe_topic("all", lambda event: self._news.set())
                self._news.set()
                self.say(f"Dask: the scheduler at {self._address} is back")
                return
            if time.monotonic() > give_up or (self._cluster and self._cluster.own):
                hint = "What was finished is kept: start the scheduler and its workers, and run the same command again."
                self._error = ClusterError("the Dask scheduler is gone", where=self._address, hint=hint)
                raise self._error
            time.sleep(_TICK)

    # --- who is there ----------------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closed.is_set():
            self._news.wait(_LOOK)
            self._news.clear()
            if self._closed.is_set():
                return
            try:
                if self._client.status == _CONNECTED:
                    self._look()
            except Exception as error:  # whatever comes of a connection that breaks; those who wait for an answer see to it
                _log.info("looking at the Dask workers: %s: %s", type(error).__name__, error)

    def _look(self) -> None:
        """Ask the scheduler who is there."""
        told = self._client.scheduler_info(n_workers=-1)["workers"]
        if self._client.status != _CONNECTED:  # that was not the scheduler's answer
            return
        found = [_known(address, facts) for address, facts in told.items()]
        with self.changed:
            new = [known.address for known in found if known.address not in self.placement.places]
        unfit = self._differing(new) if new else {}
        with self.changed:
            gone = self.placement.update(found)
            for address, words in unfit.items():
                if address in self.placement.places:
                    self.placement.places[address].unfit = words
            if gone:
                self._lost = time.monotonic()
            self.changed.notify_all()
        for address in unfit:
            _log.info("%s gets nothing: %s", address, unfit[address])

    def _differing(self, addresses: Sequence[str]) -> dict[str, str]:
        """Address → what of these workers is not as here."""

        from compat.execution.executors.dask import there

        mine = About(code=code_digest(), distributed=version("distributed"))
        told: Mapping[str, Any] = self._client.run(there.about, workers=list(addresses), on_error="return")
        found = {address: _difference(mine, told.get(address)) for address in addresses}
        return {address: words for address, words in found.items() if words is not None}

    def is_there(self, place: Place) -> bool:
        """Whether a worker has not gone since it got something."""
        with self.changed:
            return self.placement.places.get(place.known.address) is place

    def look_soon(self) -> None:
        """Something is amiss: look who is there without waiting."""
        self._news.set()

    # --- places ----------------------------------------------------------------------------------------------------------------

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """See :meth:`compat.execution.executors.base.Executor.next_env`."""
        with self.changed:
            return self.placement.next_env(envs)

    @contextmanager
    def place_for(self, env: str, *, alone: bool, not_again: frozenset[str], ended: Callable[[], None]) -> Iterator[Place | Nobody]:
        """A worker for a batch of an env, waited for, and kept for it meanwhile; or nobody, where no worker can take it.

        ``ended`` is called now and then, and raises where nothing is to be waited for. Raises ClusterError where no worker is left.
        """
        while isinstance(place := self._chosen(env, alone, not_again, ended), Place):
            if not alone or self._emptied(place, ended):
                break
        if isinstance(place, Nobody):
            yield place
            return
        try:
            yield place
        finally:
            self._leave(place, alone)

    def _leave(self, place: Place, alone: bool) -> None:
        with self.changed:
            place.in_flight -= 1
            place.alone = place.alone and not alone
            self.changed.notify_all()

    def _emptied(self, place: Place, ended: Callable[[], None]) -> bool:
        """Wait until a worker has nothing else in flight; whether it still is there then."""
        try:
            while True:
                ended()
                with self.changed:
                    if place.in_flight == 1 or not self.is_there(place):
                        break
                    self.changed.wait(_TICK)
        except BaseException:
            self._leave(place, True)
            raise
        if self.is_there(place):
            return True
        self._leave(place, True)
        return False

    def _chosen(self, env: str, alone: bool, not_again: frozenset[str], ended: Callable[[], None]) -> Place | Nobody:
        began = time.monotonic()
        while True:
            ended()
            connected = self.client.status == _CONNECTED
            with self.changed:
                found = self.placement.choose(env, alone=alone, not_again=not_again)
                if isinstance(found, Place):
                    found.in_flight += 1
                    found.alone = found.alone or alone
                    found.envs.add(env)
                    return found
                now = time.monotonic()
                if isinstance(found, Nobody) and connected and now - self._lost > _GRACE:
                    if self.placement.places:
                        return found
                    if now - max(began, self._lost) > self.settings.wait:
                        raise self.no_worker()
                self.changed.wait(_TICK)

    def wanted(self, built: BuiltEnv) -> Wanted:
        """The env as workers are to have it. Raises EnvError where it cannot be used here any more."""
        with self._reading:
            if built.digest not in self._wanted:
                self._wanted[built.digest] = Wanted.of(built)
            return self._wanted[built.digest]

    # --- the end ---------------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Leave the cluster, and end it where it was made for this command."""
        self._closed.set()
        self._news.set()
        with self._connecting:
            client, made = self._client, self._cluster
            if client is not None:
                with suppress(Exception):  # a scheduler that is gone has nothing of ours any more
                    client.unsubscribe_topic("all")
                    client.close(timeout=_CONNECT)
            if made is not None:
                with suppress(Exception):
                    made.close()
            self._error = self._error or ClusterError("the connection to the cluster was closed")
        if self._watching is not None:
            self._watching.join(_CONNECT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _known(address: str, facts: Mapping[str, Any]) -> Known:
    name, host = str(facts.get("name", address)), str(facts.get("host", address))
    called = address if name == address else f"{name} at {address}"
    return Known(address=address, name=called, host=host, threads=int(facts["nthreads"]))


def _difference(mine: About, told: object) -> str | None:
    """What a worker said of itself that is not as here; ``None`` where all is the same."""
    if not isinstance(told, About):
        return f"this version of triton-compat cannot be imported there ({type(told).__name__}: {told})"
    for name, words in (("version", "version"), ("python", "Python"), ("distributed", "distributed")):
        if getattr(told, name) != getattr(mine, name):
            return f"{words} {getattr(told, name)} there, {getattr(mine, name)} here"
    return None if told == mine else f"the same version {mine.version} there, but not the same code as here"
