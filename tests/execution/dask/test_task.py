"""One task of a worker, and how it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.errors import ClusterError, UnknownAction
from compat.executors.dask.session import DaskSession, InterruptedTask, WorkerLost
from tests.execution.dask.clusters import Machines, session
from tests.waiting import wait_until


@pytest.fixture
def where(tmp_path: Path) -> Iterator[DaskSession]:
    with Machines(tmp_path) as machines:
        machines.start_scheduler()
        machines.start_worker("one", nanny=False)
        with session(machines) as dask_session:
            wait_until(lambda: dask_session.client and dask_session.workers)
            yield dask_session


def ask(where: DaskSession, function: Callable[[Any], Any], argument: object) -> Any:
    return where.ask(
        function, argument, list(where.workers.values()), name="task", check=lambda: None
    )


def test_exception_of_a_task_is_raised_in_the_caller(where: DaskSession) -> None:
    def refuse(message: str) -> None:
        raise UnknownAction(message)

    def fail(message: str) -> None:
        raise ValueError(message)

    assert ask(where, abs, -1) == 1
    with pytest.raises(UnknownAction, match=r"^this worker does not support: fly$"):
        ask(where, refuse, "this worker does not support: fly")
    with pytest.raises(ClusterError, match="a Dask worker failed: ValueError: mistaken"):
        ask(where, fail, "mistaken")


def test_task_is_taken_away_when_the_connection_closes(where: DaskSession) -> None:
    """While Dask's client closes, it may forget its tasks and call no callback."""
    errors: list[Any] = []

    def wait() -> None:
        try:
            ask(where, time.sleep, 20)
        except InterruptedTask as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    client = where.client
    wait_until(lambda: any(client.processing().values()))
    before, client.status = client.status, "closing"
    try:
        thread.join(5)
    finally:
        client.status = before
    assert len(errors) == 1


def test_worker_lost_while_its_task_is_checked_raises_worker_lost(tmp_path: Path) -> None:
    """The worker is lost between a check of the task and a check of the workers."""
    with Machines(tmp_path) as machines:
        machines.start_scheduler()
        machines.start_worker("one", nanny=False)
        with session(machines) as where:
            wait_until(lambda: where.client and where.workers)
            workers = list(where.workers.values())

            def lose() -> None:
                if where.workers and any(where.client.processing().values()):
                    machines.kill("one")
                    wait_until(lambda: not where.workers)

            with pytest.raises(WorkerLost):
                where.ask(time.sleep, 60, workers, name="task", check=lose)
