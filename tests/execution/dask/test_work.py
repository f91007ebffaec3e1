"""Retries of work whose workers end or whose tasks are taken away, and what workers lack."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest
from attrs import evolve, frozen

from compat.errors import ClusterError
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.parcel import about
from compat.executors.dask.session import ClusterWorker, DaskSession, InterruptedTask, WorkerLost
from compat.executors.dask.work import Work, by_reason


def worker(name: str, host: str = "host") -> ClusterWorker:
    return ClusterWorker(address=f"tcp://{name}", name=name, host=host, threads=1)


@frozen(kw_only=True)
class Cells(Work[str]):
    """The cell ``killer`` ends its worker, and the cell ``taken`` is taken away."""

    cells: Sequence[str]
    tried: list[tuple[str, ...]]

    def attempt(self) -> tuple[Sequence[str], Sequence[Cells]]:
        self.tried.append(tuple(self.cells))
        if "killer" in self.cells:
            raise WorkerLost(worker(f"w{len(self.losses)}", f"host-{len(self.losses)}"))
        if "taken" in self.cells:
            raise InterruptedTask
        return [f"{name} is done" for name in self.cells], []

    def part(self, numbers: Sequence[int]) -> Cells:
        return evolve(self, cells=[self.cells[number] for number in numbers])

    def results_if_lost(self) -> Sequence[str]:
        return [f"{name} is lost with {self.names}" for name in self.cells]


def work(*names: str, **more: Any) -> Cells:
    messages: list[str] = []
    session = DaskSession(DaskSettings(where="test"), messages.append)
    return Cells(session=session, check=lambda: None, cells=names, tried=[], **more)


def test_cells_that_end_workers_are_tried_three_times_at_last_one_by_one() -> None:
    some = work("a", "killer", "b")
    assert list(some.run()) == ["a is done", "killer is lost with w0, w1, w2", "b is done"]
    assert some.tried == [("a", "killer", "b"), ("a", "killer", "b"), ("a",), ("killer",), ("b",)]


def test_work_that_is_taken_away_six_times_is_a_cluster_error() -> None:
    some = work("taken")
    with pytest.raises(ClusterError, match="keeps taking tasks back"):
        list(some.run())
    assert len(some.tried) == 6
    some = work("taken", displacements=4)
    some.session.done = 7
    assert some.again().displacements == 1, "something else got done meanwhile"


ONE, FROZEN = "tcp://127.0.0.1:1", "tcp://127.0.0.1:2"


class Client:
    """A connection to a scheduler with two workers. One of them does not answer."""

    scheduler_comm = dashboard_link = None

    @property
    def scheduler(self) -> Client:
        return self

    async def ncores(self) -> dict[str, int]:
        return {ONE: 1, FROZEN: 1}

    async def run(self, _: object, workers: Sequence[str], on_error: str) -> dict[str, object]:
        assert on_error == "return"
        if workers == [FROZEN]:
            await asyncio.sleep(3600)
        return {workers[0]: about()}

    def run_on_scheduler(self, *_: object) -> dict[str, str]:
        return about()

    def sync(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        asyncio.run(function())

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


class ClientOfEndedScheduler(Client):
    def run_on_scheduler(self, *_: object) -> dict[str, str]:
        from distributed.comm.core import CommClosedError

        raise CommClosedError("Stream is closed")


def connecting(client: Client, monkeypatch: pytest.MonkeyPatch) -> DaskSession:
    monkeypatch.setattr("compat.executors.dask.cluster.client_of", lambda *_: client)
    return DaskSession(DaskSettings(where="a test", address="tcp://127.0.0.1:8786"))


def test_scheduler_that_ends_while_a_command_connects_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        connecting(ClientOfEndedScheduler(), monkeypatch) as session,
        pytest.raises(ClusterError, match="no Dask scheduler answers"),
    ):
        _ = session.client


def test_worker_that_does_not_answer_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("compat.executors.dask.cluster.ANSWER", 0.05)
    with connecting(Client(), monkeypatch) as session:
        _ = session.client
        assert list(session.workers) == [ONE]


def test_each_reason_is_listed_once_with_its_workers() -> None:
    assert by_reason([("a", "no Python 3.9"), ("b", "no Python 3.9"), ("c", "full")]) == {
        "no Python 3.9": "a and b",
        "full": "c",
    }
    assert by_reason((f"w{number}", "full") for number in range(10)) == {
        "full": "w0, w1, w2 and 7 more"
    }
