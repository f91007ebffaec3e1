"""Machines that run out of memory or disk space, and unsuitable schedulers and libraries."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from compat.errors import ClusterError
from compat.executors.dask import cluster
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.executor import DaskExecutor
from compat.model import BuiltEnv, Status
from compat.processes import supervisor
from tests.cells import cell
from tests.execution.dask.clusters import Machines, session
from tests.execution.dask.surroundings import little_memory, memory_groups, mounts, small_disk
from tests.execution.dask.test_faults import ENVS, cells, results
from tests.waiting import wait_until


@pytest.fixture
def env(built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built("triton-3.1.0")


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    (tmp_path / "cluster").mkdir()
    with Machines(tmp_path / "cluster") as dask_cluster:
        dask_cluster.start_scheduler()
        yield dask_cluster


@pytest.mark.wheels
@memory_groups
def test_compile_killed_for_lack_of_memory_is_lost_and_its_worker_stays(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    """The failure names the stage that the compile was at.

    The memory limit of a cell is above the memory of the machine.
    """
    guilty = cell(env, "on_clusters", "hoards")
    some = [*cells(env, 3), guilty, *cells(env, 6)[3:]]
    messages: list[str] = []
    with little_memory(400 << 20) as within:
        machines.start_worker("one", nanny=False, COMPAT_ENVS=ENVS, SLOWLY="0", within=within)
        with session(machines, messages) as where:
            cell_results = results(some, env, tmp_path / "store", partial(DaskExecutor, where))
        machines.kill("one")
    assert [result.outcome.status for result in cell_results] == [
        *[Status.OK] * 3,
        Status.LOST,
        *[Status.OK] * 3,
    ]
    failure = cell_results[3].outcome.failure
    assert failure is not None
    assert (failure.stage, failure.excerpt) == ("ast", "no answer: SIGKILL, from outside")
    assert not any("ended during" in message for message in messages)


@pytest.mark.wheels
@memory_groups
@pytest.mark.long
def test_cell_whose_workers_are_killed_for_lack_of_memory_is_lost(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    """The system prefers to kill the Dask worker over the compile.

    Each attempt can end another worker. After three attempts, the cell is lost.
    """
    guilty = cell(env, "on_clusters", "hoards")
    messages: list[str] = []
    with little_memory(600 << 20) as within:
        for name in ("one", "two"):
            machines.start_worker(name, COMPAT_ENVS=ENVS, SLOWLY="0", within=within)
        with session(machines, messages, in_flight=2) as where:
            wait_until(lambda: where.client and len(where.workers) == 2)
            warm = results(cells(env, 12)[6:], env, tmp_path / "warm", partial(DaskExecutor, where))
            for name in ("one", "two"):
                (worker,) = [
                    pid
                    for pid in supervisor.children(machines.processes[name].pid)
                    if supervisor.children(pid)
                ]
                Path(f"/proc/{worker}/oom_score_adj").write_text("1000")
            cell_results = results(
                [*cells(env, 3), guilty], env, tmp_path / "store", partial(DaskExecutor, where)
            )
        for name in ("one", "two"):
            machines.kill(name)
    assert {result.outcome.status for result in warm} == {Status.OK}
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 3 + [Status.LOST]
    ended = [message for message in messages if "ended during" in message]
    assert 1 <= len(ended) <= 3, (
        "the one that its nanny starts is no better a victim than a compile"
    )


@pytest.mark.wheels
@mounts
def test_worker_without_disk_space_for_envs_leaves_its_cells_to_others(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    """Another worker compiles its cells."""
    small = tmp_path / "small"
    machines.start_worker(
        "one",
        nanny=False,
        within=small_disk(small, "20m"),
        COMPAT_WORKER_ENVS=str(small / "envs"),
        SLOWLY="0",
    )
    messages: list[str] = []
    some = cells(env, 4)
    with session(machines, messages, in_flight=4) as where:
        alone = results(some, env, tmp_path / "store", partial(DaskExecutor, where))
        machines.start_worker("two", nanny=False, COMPAT_ENVS=ENVS, SLOWLY="0")
        wait_until(lambda: len(where.workers) == 2)
        cell_results = results(some, env, tmp_path / "store", partial(DaskExecutor, where))
    assert [result.outcome.status for result in alone] == [Status.ENV_BROKEN] * 4
    assert alone[0].outcome.failure is not None
    assert "No space left on device" in alone[0].outcome.failure.excerpt
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 4
    assert (
        sum(
            "one at " in message and "cannot provide triton-3.1.0" in message
            for message in messages
        )
        == 1
    ), "and not for each batch"


def test_scheduler_without_this_package_is_a_cluster_error(tmp_path: Path) -> None:
    with Machines(tmp_path) as machines:
        machines.start_scheduler(PYTHONPATH=str(_without_package(tmp_path)))
        with (
            session(machines) as where,
            pytest.raises(ClusterError, match="the scheduler differs from this command") as caught,
        ):
            _ = where.client
    assert caught.value.exit_code == 8
    assert "Start it with the same triton-compat" in (caught.value.hint or "")


def _without_package(folder: Path) -> Path:
    """A folder that hides the installed package ``compat``."""
    (folder / "hidden" / "compat").mkdir(parents=True)
    (folder / "hidden" / "compat" / "__init__.py").write_text(
        "raise ImportError('it is not installed')\n"
    )
    return folder / "hidden"


def test_import_of_a_cluster_library_keeps_the_signal_handler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """dask-jobqueue sets a signal handler when it is imported.

    Only the main thread can set one, and the handler would take Ctrl-C from the command.
    """
    lines = (
        "import signal, sys\nsignal.signal(signal.SIGINT, lambda *_: sys.exit())\nnothing = print\n"
    )
    (tmp_path / "taking_signals.py").write_text(lines)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = signal.getsignal(signal.SIGINT)
    classes: list[object] = []
    settings = DaskSettings(where="test", cluster="taking_signals.nothing")
    thread = threading.Thread(target=lambda: classes.append(cluster.cluster_class(settings)))
    thread.start()
    thread.join()
    assert classes == [print]
    assert signal.getsignal(signal.SIGINT) is before
