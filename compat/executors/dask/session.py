"""A connection to a cluster, for as long as a command runs: who is there, with which versions, and what became of them.

It is made when the first batch is to be compiled, and found again where it breaks.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from importlib.metadata import version
from typing import Any, Self, TypeVar

from compat import interruption
from compat.envs.worker_envs import PinnedEnv
from compat.errors import ClusterError, MachineError
from compat.executors.dask import cluster
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.parcel import About, code_digest
from compat.executors.dask.placement import ClusterWorker, GpuSlots, NoEligibleWorker, Placement, WorkerInfo
from compat.executors.executor import EnvLeft
from compat.model import BuiltEnv
from compat.source.tree import Trees

_log = logging.getLogger(__name__)

_LOOK = 5.0
"""Seconds between two looks at who is there, where nothing is heard."""
_TICK = 0.2
_GRACE = 10.0
"""Seconds after the loss of a worker in which another may come in its worker."""
_CONNECTED = "running"

Say = Callable[[str], None]


class DaskSession:
    """The connection that a command's executors share; closing it leaves nothing of the command in the cluster."""

    def __init__(self, settings: DaskSettings, say: Say = lambda words: None) -> None:
        """``say`` hears of workers that fail, and where the dashboard is. Nothing is connected yet."""
        self.settings = settings
        self.say = say
        self.trees = Trees()
        self.wholes: set[object] = set()
        """The sources that need their whole trees."""
        self.changed = threading.Condition()
        """Held to look at :attr:`placement`; notified where a batch may find a worker now."""
        self.placement = Placement()
        self.gpu_slots = GpuSlots()
        """Held and notified of as the placement is."""
        self.looking_at_gpus = threading.Lock()
        self.done = 0
        """How many batches workers have answered. Guarded by :attr:`changed`, as what follows is."""
        self._seen = self._broken = 0.0
        """When the last look at who is there began, and when a connection broke: nobody is given work before a look after that."""
        self.name = uuid.uuid4().hex[:8]
        self._cluster: cluster.Cluster | None = None
        self._client: Any = None
        self._connecting = threading.Lock()
        self._news = threading.Event()
        self._closed = threading.Event()
        self._watching: threading.Thread | None = None
        self._lost = -_GRACE
        self._wanted: dict[str, PinnedEnv] = {}
        self._reading = threading.Lock()
        self._error: ClusterError | None = None

    @property
    def slots(self) -> int:
        """How many batches are in flight at the same time. Connects."""
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
            self._client = cluster.client_of(self._cluster.address, min(cluster.ANSWER, 1 + self.settings.wait))
        except OSError as error:
            hint = "Is the scheduler running there (`dask scheduler`), and can it be reached from here?"
            raise ClusterError("no Dask scheduler answers", where=self._cluster.address, hint=hint) from error
        self._client.subscribe_topic("all", lambda event: self._news.set())
        self._refuse_other_scheduler()
        self._wait_for_workers()
        self._watching = threading.Thread(target=self._watch, name="dask-workers", daemon=True)
        self._watching.start()
        if link := self._client.dashboard_link:
            self.say(f"Dask: {len(self.placement.workers)} workers, {self.placement.threads} threads; dashboard {link}")

    def _refuse_other_scheduler(self) -> None:
        """Batches pass through a scheduler, which reads them. Raises ClusterError where it cannot."""
        from compat.executors.dask import remote

        try:
            answer: object = self._client.run_on_scheduler(remote.about)
        except Exception as error:  # whatever comes of importing it there
            answer = error
        if (difference := _difference(_mine(), answer)) is not None:
            hint = "Start it where the same triton-compat[dask] is installed, on the same Python, as here and for its workers."
            raise ClusterError(f"the scheduler differs from this command: {difference}", where=self._address, hint=hint)

    def _wait_for_workers(self) -> None:
        """Wait for the first worker. Raises ClusterError where none comes in time, or one that is there has other versions."""
        give_up = time.monotonic() + self.settings.wait
        while True:
            self._look()
            differing = [worker for worker in self.placement.workers.values() if worker.unfit]
            if differing:
                raise self._mismatch(differing)
            if self.placement.workers:
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

    def _mismatch(self, workers: Sequence[ClusterWorker]) -> ClusterError:
        listed = "; ".join(f"{worker.info.name}: {worker.unfit}" for worker in workers[:3])
        more = f"; and {len(workers) - 3} more" if len(workers) > 3 else ""
        hint = "Install the same triton-compat[dask] on the same Python for all workers as here, and start them again."
        return ClusterError(f"workers differ from this command: {listed}{more}", where=self._address, hint=hint)

    @property
    def _address(self) -> str:
        return self._cluster.address if self._cluster else self.settings.where

    def _connect_again(self) -> None:
        """Find a scheduler again that was gone. Raises ClusterError where it does not come back in time."""
        self.say(f"Dask: the scheduler at {self._address} is gone; waiting for it for {self.settings.wait:g} s")
        give_up = time.monotonic() + self.settings.wait
        self.look_first()
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
            self._news.wait(_LOOK if self._seen > self._broken else _TICK)
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
        began = time.monotonic()
        info = self._client.scheduler_info(n_workers=-1)
        workers = info["workers"]
        if self._client.status != _CONNECTED or len(workers) < info.get("n_workers", 0):  # that was not the scheduler's answer now
            return
        infos = [_info_of(address, facts) for address, facts in workers.items()]
        with self.changed:
            new = [info_of_worker.address for info_of_worker in infos if info_of_worker.address not in self.placement.workers]
        unfit = self._differing(new) if new else {}
        with self.changed:
            departed = self.placement.update(infos)
            for address, difference in unfit.items():
                if address in self.placement.workers:
                    self.placement.workers[address].unfit = difference
            if departed:
                self._lost = time.monotonic()
            self._seen = began
            self.changed.notify_all()
        if self._watching is not None:  # before that the command ends with it
            for address in unfit:
                self.say(f"Dask worker {address} gets nothing: {unfit[address]}")

    def _differing(self, addresses: Sequence[str]) -> dict[str, str]:
        """Address → what of these workers is not as here."""

        from compat.executors.dask import remote

        mine = _mine()
        answers: Mapping[str, Any] = self._client.run(remote.about, workers=list(addresses), on_error="return")
        differences = {address: _difference(mine, answers.get(address)) for address in addresses}
        return {address: difference for address, difference in differences.items() if difference is not None}

    def is_there(self, worker: ClusterWorker) -> bool:
        """Whether a worker has not gone since it got something."""
        with self.changed:
            return self.placement.workers.get(worker.info.address) is worker

    @property
    def is_settled(self) -> bool:
        """Whether it is connected, and no worker was lost so recently that another may come in its worker."""
        return self.client.status == _CONNECTED and time.monotonic() - self._lost > _GRACE

    def look_first(self) -> None:
        """A connection broke: give nobody anything before it is known who is there now."""
        with self.changed:
            self._broken = time.monotonic()
        self._news.set()

    def look_soon(self) -> None:
        """Something is amiss: look who is there without waiting."""
        self._news.set()

    # --- workers ----------------------------------------------------------------------------------------------------------------

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """See :meth:`compat.executors.executor.Executor.next_env`."""
        with self.changed:
            return self.placement.next_env(envs)

    @contextmanager
    def worker_for(
        self, env: str, *, alone: bool, not_again: frozenset[str], ended: Callable[[], None]
    ) -> Iterator[ClusterWorker | NoEligibleWorker]:
        """A worker for a batch of an env, waited for, and kept for it meanwhile; or nobody, where no worker can take it.

        ``ended`` is called now and then, and raises where nothing is to be waited for. Raises ClusterError where no worker is left.
        """
        while isinstance(worker := self._chosen(env, alone, not_again, ended), ClusterWorker):
            if not alone or self._emptied(worker, ended):
                break
        if isinstance(worker, NoEligibleWorker):
            yield worker
            return
        try:
            yield worker
        finally:
            self._leave(worker, alone)

    def _leave(self, worker: ClusterWorker, alone: bool) -> None:
        with self.changed:
            worker.in_flight -= 1
            worker.alone = worker.alone and not alone
            self.changed.notify_all()

    def _emptied(self, worker: ClusterWorker, ended: Callable[[], None]) -> bool:
        """Wait until a worker has nothing else in flight; whether it still is there then."""
        try:
            while True:
                ended()
                with self.changed:
                    if worker.in_flight == 1 or not self.is_there(worker):
                        break
                    self.changed.wait(_TICK)
        except BaseException:
            self._leave(worker, True)
            raise
        if self.is_there(worker):
            return True
        self._leave(worker, True)
        return False

    def _chosen(
        self, env: str, alone: bool, not_again: frozenset[str], ended: Callable[[], None]
    ) -> ClusterWorker | NoEligibleWorker:
        began = time.monotonic()
        while True:
            ended()
            connected = self.client.status == _CONNECTED
            with self.changed:
                if not connected or self._seen <= self._broken:
                    self.changed.wait(_TICK)
                    continue
                choice = self.placement.choose(env, alone=alone, not_again=not_again)
                if isinstance(choice, ClusterWorker):
                    choice.in_flight += 1
                    choice.alone = choice.alone or alone
                    choice.envs.add(env)
                    return choice
                now = time.monotonic()
                if isinstance(choice, NoEligibleWorker) and now - self._lost > _GRACE:
                    if self.placement.workers:
                        return choice
                    if now - max(began, self._lost) > self.settings.wait:
                        raise self.no_worker()
                self.changed.wait(_TICK)

    def wanted(self, built: BuiltEnv) -> PinnedEnv:
        """The env as workers are to have it. Raises EnvError where it cannot be used here any more."""
        with self._reading:
            if built.digest not in self._wanted:
                self._wanted[built.digest] = PinnedEnv.of(built)
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
                    client.close(timeout=cluster.ANSWER)
            if made is not None:
                with suppress(Exception):
                    made.close()
            self._error = self._error or ClusterError("the connection to the cluster was closed")
        if self._watching is not None:
            self._watching.join(cluster.ANSWER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _info_of(address: str, facts: Mapping[str, Any]) -> WorkerInfo:
    name, host = str(facts.get("name", address)), str(facts.get("host", address))
    called = address if name == address else f"{name} at {address}"
    return WorkerInfo(address=address, name=called, host=host, threads=int(facts["nthreads"]))


def _mine() -> About:
    return About(code=code_digest(), distributed=version("distributed"))


def _difference(mine: About, answer: object) -> str | None:
    """What a worker or a scheduler said of itself that is not as here; ``None`` where all is the same."""
    if not isinstance(answer, About):
        return f"this version of triton-compat cannot be imported there ({type(answer).__name__}: {answer})"
    for name, shown in (("version", "version"), ("python", "Python"), ("distributed", "distributed")):
        if getattr(answer, name) != getattr(mine, name):
            return f"{shown} {getattr(answer, name)} there, {getattr(mine, name)} here"
    return None if answer == mine else f"the same version {mine.version} there, but not the same code as here"


_TICK = 0.5
_PATIENCE = 5.0
"""Seconds to wait for a result that a worker has, before looking whether that is still there."""
_CLOSING = ("closing", "closed")
"""What a connection says of itself that will tell nothing any more."""

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class TaskEnd(Enum):
    """What becomes of a task that returns nothing."""

    GONE = "the worker has gone"
    TAKEN_AWAY = "it was taken away by no fault of the worker, as when a connection breaks"


def ask(
    session: DaskSession,
    worker: ClusterWorker,
    function: Callable[[_Given], _Made],
    given: _Given,
    *,
    key: str,
    check: Callable[[], None],
    **options: Any,
) -> _Made | TaskEnd:
    """What a function returns on a worker, once it does.

    ``check`` is called now and then, and what it raises ends the task. ``options`` are those of Dask's ``submit``. Raises
    MachineError where the function does, and ClusterError for whatever else it raises.
    """
    client = session.client
    done = threading.Event()
    where = {"workers": [worker.info.address], "allow_other_workers": False, "pure": False, "retries": 0}
    try:
        future = client.submit(function, given, key=key, **where, **options)
        future.add_done_callback(lambda _: done.set())
    except Exception:  # its own, and those of the thread that it has
        if client.status not in _CLOSING:
            raise
        return TaskEnd.TAKEN_AWAY
    try:
        while not done.wait(_TICK):
            check()
            if client.status in _CLOSING:  # it forgets what it was given meanwhile, and calls nobody
                session.look_first()
                return TaskEnd.TAKEN_AWAY
            if not session.is_there(worker) and future.status != "cancelled":
                return TaskEnd.GONE
        result: _Made | TaskEnd = _result(future, session, worker, check)
        return result
    finally:
        if future.status != "finished":
            with suppress(Exception):  # a scheduler that is gone has nothing to cancel
                client.cancel([future], asynchronous=False)
        future.release()


def _result(future: Any, session: DaskSession, worker: ClusterWorker, check: Callable[[], None]) -> Any:
    while True:
        check()
        if future.status == "cancelled":  # with the connection; whoever asks for the next worker finds it again
            session.look_first()
            return TaskEnd.TAKEN_AWAY
        if future.status == "lost":
            session.look_soon()
            return TaskEnd.GONE
        if future.status == "error":
            return _of_error(future.exception(timeout=_PATIENCE))
        try:
            return future.result(timeout=_PATIENCE)
        except TimeoutError:
            if not session.is_there(worker):
                return TaskEnd.GONE
            session.look_soon()
        except (Exception, asyncio.CancelledError):
            if future.status == "finished":
                raise


def _of_error(error: BaseException | None) -> TaskEnd:
    """What it means that a task failed: its worker has ended, or something of ours is wrong, which is raised."""
    if type(error).__name__ == "KilledWorker":
        return TaskEnd.GONE
    if isinstance(error, MachineError):
        raise error
    raise ClusterError(f"a Dask worker failed: {type(error).__name__}: {error}") from error
