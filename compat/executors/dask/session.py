"""A command's connection to a cluster: its Dask workers, and its tasks.

The connection is made for the first batch. Dask assigns tasks to workers, and reconnects to its
scheduler. The scheduler's events report which workers connect and end, and which tasks are lost
with them.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import suppress
from typing import Any, TypeVar

from attrs import Factory, define, field

from compat import interruption
from compat.envs.worker_envs import PinnedEnv
from compat.errors import ClusterError, UnknownAction
from compat.executors.dask import cluster
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.parcel import about, difference_in
from compat.executors.gpus import GpuHost
from compat.files import Closing
from compat.interruption import Stopped
from compat.model import BuiltEnv
from compat.source.tree import Trees
from compat.text import amount, name_first

_TICK = 0.2
_GRACE = 10.0
"""Seconds after the loss of a worker during which a new worker may replace it."""
_PATIENCE = 5.0
"""Seconds to wait for a finished task's result, before a check whether its worker still exists."""
_CONNECTED = "running"
_TOPIC = "all"

UNASKED = GpuHost(why_none="it has not answered")
"""The value for a worker that has not reported its hardware yet."""

Say = Callable[[str], None]
_Argument = TypeVar("_Argument")
_Made = TypeVar("_Made")


@define(kw_only=True, eq=False)
class ClusterWorker:
    """A Dask worker, and the facts about it."""

    address: str
    name: str
    """The name in messages."""
    host: str
    threads: int
    unfit: str | None = None
    """Why it gets no more tasks; ``None`` if it does."""
    unable: dict[str, str] = Factory(dict)
    """Digest of an env → why the worker cannot provide it."""
    alone: bool = False
    """Whether it is reserved for a batch that must run alone, because workers were lost with it."""
    gpus: GpuHost = UNASKED
    """Its hardware for launches."""
    cannot_launch: str | None = None
    """Why it cannot launch although it has a GPU; ``None`` if it can."""


class WorkerLost(Exception):
    """A task's worker has ended."""

    def __init__(self, worker: ClusterWorker) -> None:
        super().__init__(worker.name)
        self.worker = worker


class InterruptedTask(Exception):
    """A task has no result for a reason other than its worker, such as a broken connection."""


@define(eq=False)
class _Task:
    """A task in flight."""

    over: threading.Event = field(factory=threading.Event)
    """Set when the task has a result, or its worker is lost."""
    lost_worker: ClusterWorker | None = None
    """The worker whose end lost the task."""


class DaskSession(Closing):
    """The connection that a command's executors share.

    After :meth:`close`, the cluster has no task or subscription of the command.
    """

    def __init__(self, settings: DaskSettings, say: Say = lambda message: None) -> None:
        """Save the settings. Does not connect yet.

        ``say`` is called with messages, such as those about failed workers, and the dashboard's
        address.
        """
        self.settings = settings
        self.say = say
        self.trees = Trees()
        self.wholes: set[object] = set()
        """The sets of sources that need whole source trees."""
        self.changed = threading.Condition()
        """Guards :attr:`workers`. Notified when waiting work may find a worker."""
        self.workers: dict[str, ClusterWorker] = {}
        """The connected workers, by address."""
        self.done = 0
        """Number of tasks that have returned. Guarded by :attr:`changed`."""
        self._lost_workers: dict[str, ClusterWorker | None] = {}
        """The workers that have ended, by address."""
        self._lost = -_GRACE
        """Time of the last loss of a worker or the scheduler, in seconds of the monotonic clock."""
        self._tasks: dict[str, _Task] = {}
        self._address = settings.where
        self._cluster: Any = None
        """The cluster that this command has made; ``None`` if it uses an existing one."""
        self._client: Any = None
        self._connection: object = None
        """The client's connection to the scheduler when :attr:`workers` was read last."""
        self._looks: list[asyncio.Future[None]] = []
        """Questions to workers that may still be unanswered."""
        self._connecting = threading.Lock()
        self._wanted: dict[str, PinnedEnv] = {}
        self._error: ClusterError | None = None

    @property
    def slots(self) -> int:
        """The number of batches in flight at the same time. Connects."""
        _ = self.client
        return self.settings.in_flight or max(2, 2 * self._threads)

    @property
    def _threads(self) -> int:
        return sum(worker.threads for worker in list(self.workers.values()))

    # --- connecting -------------------------------------------------------------------------------

    @property
    def client(self) -> Any:
        """The connection, made if it is missing.

        Raises ClusterError, ConfigError, and Stopped.
        """
        with self._connecting:
            if self._error is not None:
                raise self._error
            if self._client is None:
                try:
                    self._connect()
                except ClusterError as error:
                    self._error = error
                    raise
            while self._client.scheduler_comm is not self._connection:
                self._look_again()
            return self._client

    def _connect(self) -> None:
        self._address, self._cluster = cluster.open_cluster(self.settings)
        if cluster.is_exposed(self._address):
            self.say(
                f"Dask: {self._address} has no TLS: whoever reaches it on the network can run code"
                " as you, here and on every worker; docs/scale.md sets up tls://"
            )
        try:
            self._client = cluster.client_of(self._address, self.settings.wait)
            connection = self._client.scheduler_comm
            self._refuse_other_scheduler()
            self._look_now()
        except OSError as error:
            hint = (
                "Check that the scheduler (`dask scheduler`) runs there, and that this machine can"
                " reach it."
            )
            raise ClusterError(
                "no Dask scheduler answers", where=self._address, hint=hint
            ) from error
        self._wait_for_workers()
        self._connection = connection
        if link := self._client.dashboard_link:
            self.say(
                f"Dask: {amount(len(self.workers), 'worker')}, {amount(self._threads, 'thread')};"
                f" dashboard {link}"
            )

    def _refuse_other_scheduler(self) -> None:
        """Raise ClusterError if the scheduler differs from this process.

        Batches pass through the scheduler, so it must be able to unpickle them. Raises
        CommClosedError, an OSError, if the connection breaks.
        """
        from distributed.comm.core import CommClosedError

        try:
            answer: object = self._client.run_on_scheduler(about)
        except CommClosedError:
            raise
        except Exception as error:  # the import on the scheduler may raise anything
            answer = error
        if (difference := difference_in(answer)) is not None:
            hint = (
                "Start it with the same triton-compat[dask] and the same Python as this command and"
                " its workers."
            )
            raise ClusterError(
                f"the scheduler differs from this command: {difference}",
                where=self._address,
                hint=hint,
            )

    def _wait_for_workers(self) -> None:
        """Wait for the first worker.

        Raises ClusterError if none connects in time, or if one differs from this process.
        """
        give_up = time.monotonic() + self.settings.wait
        while not self.workers:
            interruption.check()
            if time.monotonic() > give_up:
                raise self._no_worker()
            time.sleep(_TICK)
        if differing := [
            f"{worker.name}: {worker.unfit}"
            for worker in list(self.workers.values())
            if worker.unfit
        ]:
            hint = (
                "Start the workers again with the same triton-compat[dask] and the same Python as"
                " this command."
            )
            raise ClusterError(
                f"workers differ from this command: {'; '.join(name_first(differing, 3))}",
                where=self._address,
                hint=hint,
            )

    def _no_worker(self) -> ClusterError:
        hint = (
            "Start workers (`dask worker ADDRESS`), or wait longer for them: `wait` in [executor]"
            " of matrix.toml."
        )
        return ClusterError(
            f"no Dask worker connected within {self.settings.wait:g} s",
            where=self._address,
            hint=hint,
        )

    def _look_again(self) -> None:
        """Wait while Dask reconnects to a lost scheduler, and update the list of workers.

        Raises ClusterError if Dask does not find it.
        """
        if self._client.status != _CONNECTED:
            self.say(
                f"Dask: lost the scheduler at {self._address}; waiting up to {self.settings.wait:g}"
                " s for it"
            )
        while self._client.status == "connecting" and self._cluster is None:
            interruption.check()
            time.sleep(_TICK)
        if self._client.status != _CONNECTED:
            hint = (
                "Finished cells are saved. Start the scheduler and its workers, then run the same"
                " command again."
            )
            self._error = ClusterError("lost the Dask scheduler", where=self._address, hint=hint)
            raise self._error
        with self.changed:
            self.workers.clear()
            self._lost_workers.clear()
            self._lost = time.monotonic()
        connection = self._client.scheduler_comm
        with suppress(OSError):  # the scheduler is lost once more
            self._look_now()
            self._connection = connection
            self.say(f"Dask: the scheduler at {self._address} is back")

    # --- the workers ------------------------------------------------------------------------------

    def _look_now(self) -> None:
        """List the workers, and subscribe to the events about them. Raises OSError.

        Dask sends its own subscription with a delay, and on another connection than the request for
        the list. A worker that connects in between would never be noticed. So this method also
        subscribes directly on the scheduler.
        """
        self._client.subscribe_topic(_TOPIC, self._hear)
        self._client.run_on_scheduler(_subscribe, _TOPIC, self._client.id)
        self._client.sync(self._look_at_all)

    def _hear(self, event: tuple[float, Any]) -> None:
        """Handle an event of the scheduler about its workers. Runs in Dask's own thread."""
        _, news = event
        if news.get("action") == "add-worker":
            self._lost_workers.pop(news["worker"], None)
            self._client.loop.add_callback(self._look, [news["worker"]])
        elif news.get("action") == "remove-worker":
            keys = (
                []
                if news.get("expected")
                else [*news["processing-tasks"], *news.get("lost-computed-tasks", ())]
            )
            self._forget(news["worker"], keys)

    def _forget(self, address: str, keys: Sequence[str]) -> None:
        """Remove a worker that has ended, and mark its tasks ``keys`` as lost."""
        with self.changed:
            worker = self._lost_workers[address] = self.workers.pop(address, None)
            self._lost = time.monotonic()
            for key in keys:
                if (task := self._tasks.get(key)) is not None and worker is not None:
                    task.lost_worker = worker
                    task.over.set()
            self.changed.notify_all()

    async def _look_at_all(self) -> None:
        """Ask each worker for its facts, and wait :data:`cluster.ANSWER` seconds for the answers.

        A worker that answers later is added then. Raises OSError.
        """
        addresses = await self._client.scheduler.ncores()
        self._looks = [asyncio.ensure_future(self._look([address])) for address in addresses]
        if self._looks:
            await asyncio.wait(self._looks, timeout=cluster.ANSWER)

    async def _look(self, addresses: Sequence[str]) -> None:
        """Ask workers for their facts, and add new ones to the list."""
        from compat.executors.dask import remote

        try:
            answers = await self._client.run(remote.introduce, workers=addresses, on_error="return")
        except OSError:  # the connection broke
            return
        with self.changed:
            for address, answer in answers.items():
                if address not in self.workers and address not in self._lost_workers:
                    self.workers[address] = worker = _worker_of(address, answer)
                    # Before the first connection, an unfit worker ends the command with an error.
                    if worker.unfit and self._connection:
                        self.say(f"ignoring Dask worker {address}: {worker.unfit}")
            self.changed.notify_all()

    def wait_for(self, choose: Callable[[], _Made | None], check: Callable[[], None]) -> _Made:
        """Wait until ``choose`` returns a choice among the present workers, and return it.

        ``check`` is called regularly, and raises an exception to end the wait. Raises ClusterError
        if there are no workers for longer than the settings allow.
        """
        began = time.monotonic()
        while True:
            check()
            _ = self.client
            with self.changed:
                if (choice := choose()) is not None:
                    return choice
                if (
                    not self.workers
                    and time.monotonic() - max(began, self._lost) > self.settings.wait
                ):
                    raise self._no_worker()
                self.changed.wait(_TICK)

    @property
    def is_settled(self) -> bool:
        """Whether there are workers, and none was lost recently.

        A new worker may soon replace a recently lost one.
        """
        return bool(self.workers) and time.monotonic() - self._lost > _GRACE

    def pin_env(self, built: BuiltEnv) -> PinnedEnv:
        """Return the content of an env, for building it on Dask workers.

        Raises EnvError if the env can no longer be used on this machine.
        """
        if built.digest not in self._wanted:
            self._wanted[built.digest] = PinnedEnv.of(built)
        return self._wanted[built.digest]

    # --- tasks ------------------------------------------------------------------------------------

    def ask(
        self,
        function: Callable[[_Argument], _Made],
        argument: _Argument,
        workers: Sequence[ClusterWorker],
        *,
        name: str,
        check: Callable[[], None],
        **options: object,
    ) -> _Made:
        """Run a function on one of these workers, which Dask chooses, and return its result.

        Args:
            function: The function.
            argument: Its argument.
            workers: The workers to choose from.
            name: The beginning of the task's key.
            check: Called regularly. If it raises an exception, the task ends.
            options: Further options of Dask's ``submit``.

        Raises:
            WorkerLost: The task's worker has ended.
            InterruptedTask: The task has no result for another reason.
            UnknownAction: The function raised it.
            ClusterError: The function raised another exception.
        """
        client, task, key = self.client, _Task(), f"{name}-{uuid.uuid4()}"
        connection = self._connection
        addresses = [worker.address for worker in workers]
        self._tasks[key] = task
        try:
            future = client.submit(
                function, argument, key=key, workers=addresses, pure=False, **options
            )
            future.add_done_callback(lambda _: task.over.set())
        except Exception as error:  # Dask's own exceptions, and those of its thread
            del self._tasks[key]
            if client.status == _CONNECTED:
                raise
            raise InterruptedTask from error
        try:
            while not task.over.wait(_TICK):
                check()
                # A task that is submitted while the connection breaks is lost, or goes to another
                # scheduler.
                is_connected = client.status == _CONNECTED and client.scheduler_comm is connection
                with self.changed:  # _forget removes a worker and marks its tasks in one step
                    has_worker = any(address in self.workers for address in addresses)
                if not (is_connected and has_worker) and not task.over.is_set():
                    raise InterruptedTask
            result: _Made = self._result(future, task, check)
            with self.changed:
                self.done += 1
            return result
        finally:
            del self._tasks[key]
            if future.status != "finished":
                with suppress(Exception):  # a lost scheduler has no task to cancel
                    client.cancel([future], asynchronous=False)
            future.release()

    def _result(self, future: Any, task: _Task, check: Callable[[], None]) -> Any:
        from distributed.scheduler import KilledWorker

        while task.lost_worker is None:
            check()
            try:
                return future.result(timeout=_PATIENCE)
            except TimeoutError:
                continue
            except (CancelledError, FutureCancelled, Stopped) as error:
                raise InterruptedTask from error
            except KilledWorker as error:
                address = error.last_worker.address
                task.lost_worker = self._lost_workers.get(address) or self.workers.get(address)
                if task.lost_worker is None:  # the session reconnected and forgot its workers
                    raise InterruptedTask from error
            except UnknownAction:
                raise
            except Exception as error:
                raise ClusterError(
                    f"a Dask worker failed: {type(error).__name__}: {error}"
                ) from error
        raise WorkerLost(task.lost_worker)

    # --- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Disconnect from the cluster, and end a cluster that was made for this command."""
        with self._connecting:
            if self._client is not None:
                with suppress(Exception):  # a lost scheduler has no subscription or task of ours
                    self._client.unsubscribe_topic(_TOPIC)
                    self._client.close(timeout=cluster.ANSWER)
            if self._cluster is not None:
                with suppress(Exception):
                    self._cluster.close()
            self._error = self._error or ClusterError("the connection to the cluster was closed")


def _worker_of(address: str, answer: object) -> ClusterWorker:
    from distributed.comm.addressing import get_address_host

    facts = answer if isinstance(answer, dict) else {}
    name = facts.get("name", address)
    return ClusterWorker(
        address=address,
        name=address if name == address else f"{name} at {address}",
        host=get_address_host(address),
        threads=facts.get("threads", 1),
        unfit=difference_in(answer),
    )


def _subscribe(topic: str, client: str, dask_scheduler: Any) -> None:
    """Subscribe a client to the events of a topic. Runs in the scheduler."""
    dask_scheduler.subscribe_topic(topic, client)
