"""Workers, schedulers and drivers that end, or cannot do their work.

No finished result is lost, and each failure is named.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compat.engine.run import Interrupted, RunContext, run
from compat.errors import ClusterError
from compat.executors.dask.executor import DaskExecutor
from compat.executors.executor import LocalExecutor, OpenExecutor
from compat.model import BuiltEnv, Cell, Result, Status
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.cells import KERNELS, cell
from tests.execution.dask.clusters import DROPPED_SOON, ROOT, Machines, session
from tests.sqlite import column
from tests.waiting import SOON, wait_until

LIMITS = Limits(deadline=60, memory=4 << 30)
ENVS = os.environ.get("COMPAT_ENVS", str(Path.home() / ".cache/triton-compat/envs"))
"""The folder that workers take envs from, so that nothing is built."""


@pytest.fixture
def env(built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built("triton-3.1.0")


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Machines]:
    """Machines without a scheduler."""
    (tmp_path / "cluster").mkdir()
    with Machines(tmp_path / "cluster") as machines:
        yield machines


@pytest.fixture
def machines(bare: Machines) -> Machines:
    bare.start_scheduler()
    return bare


def cells(env: BuiltEnv, count: int) -> list[Cell]:
    return [
        cell(
            env,
            "on_clusters",
            "slow",
            case=f"c{number}",
            constexprs={"BLOCK": 16 << number % 6},
            options={"num_stages": number // 6 + 1},
        )
        for number in range(count)
    ]


def results(
    some: list[Cell], env: BuiltEnv, folder: Path, executor: OpenExecutor, **more: object
) -> tuple[Result, ...]:
    with Store(folder) as store:
        context = RunContext(
            envs={env.env.name: env}, store=store, limits=LIMITS, executor=executor
        )
        return run(some, context, **more)  # type: ignore[arg-type]


class AfterSome:
    """Calls a function once, after ``count`` results."""

    def __init__(self, count: int, act: Callable[[], object]) -> None:
        self.left, self.act = count, act

    def __call__(self, result: Result) -> None:
        self.left -= 1
        if self.left == 0:
            self.act()


@pytest.mark.wheels
@pytest.mark.long
def test_killed_workers_lose_no_cell(env: BuiltEnv, machines: Machines, tmp_path: Path) -> None:
    """One worker's nanny starts another worker, and a whole machine is lost."""
    for name in ("one", "two", "three"):
        machines.start_worker(name, nanny=name == "one", COMPAT_ENVS=ENVS)
    messages: list[str] = []
    some = cells(env, 24)

    def lose() -> None:
        machines.kill_worker_process("one")
        machines.kill("two")

    with session(machines, messages, in_flight=12) as where:
        wait_until(lambda: where.client and len(where.workers) == 3)
        cell_results = results(
            some,
            env,
            tmp_path / "store",
            partial(DaskExecutor, where),
            on_result=AfterSome(4, lose),
        )
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 24
    assert set(column(tmp_path / "store")) == {cell.id for cell in some}
    assert any(
        message.startswith("Dask worker one at ") and "another worker tries again" in message
        for message in messages
    )


@pytest.mark.wheels
def test_cell_that_kills_workers_is_isolated(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    for name in ("one", "two", "three", "four"):
        machines.start_worker(name, nanny=False, COMPAT_ENVS=ENVS, SLOWLY="0")
    guilty = cell(env, "on_clusters", "killer")
    some = [*cells(env, 6), guilty]
    messages: list[str] = []
    with session(machines, messages, in_flight=1) as where:
        wait_until(lambda: where.client and len(where.workers) == 4)
        cell_results = results(some, env, tmp_path / "store", partial(DaskExecutor, where))
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 6 + [Status.LOST]
    failure = cell_results[-1].outcome.failure
    assert failure is not None
    assert failure.excerpt.count("tcp://") == 3, "as many workers as tried it"
    assert sum("ended during" in message for message in messages) == 3
    assert any(guilty.id in message and "no worker tries again" in message for message in messages)
    assert guilty.id not in column(tmp_path / "store"), "it is tried again by the next run"


@pytest.mark.wheels
def test_run_continues_after_the_scheduler_restarts(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    machines.start_worker("one", nanny=False, COMPAT_ENVS=ENVS)
    messages: list[str] = []

    def restart() -> None:
        machines.kill("scheduler")
        machines.kill("one")
        machines.start_scheduler()
        machines.start_worker("one", nanny=False, COMPAT_ENVS=ENVS)

    with session(machines, messages, in_flight=6) as where:
        cell_results = results(
            cells(env, 8),
            env,
            tmp_path / "store",
            partial(DaskExecutor, where),
            on_result=AfterSome(2, restart),
        )
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 8


@pytest.mark.wheels
def test_run_continues_after_a_long_absence_of_the_scheduler(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    machines.start_worker("one", nanny=False, COMPAT_ENVS=ENVS)
    messages: list[str] = []
    threads: list[int] = []

    def restart() -> None:
        for name in ("scheduler", "one"):
            machines.kill(name)
        time.sleep(4)
        threads.append(threading.active_count())
        machines.start_scheduler()
        machines.start_worker("one", nanny=False, COMPAT_ENVS=ENVS)

    with session(machines, messages, in_flight=6) as where:
        cell_results = results(
            cells(env, 8),
            env,
            tmp_path / "store",
            partial(DaskExecutor, where),
            on_result=AfterSome(2, restart),
        )
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 8
    assert any(message.endswith("is back") for message in messages)
    assert not any("ended during" in message for message in messages), (
        "no worker ended by what it had"
    )
    assert threads[0] < 20, "looking for a scheduler leaves no threads"


@pytest.mark.wheels
def test_permanent_loss_of_the_scheduler_is_an_error_and_keeps_results(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    machines.start_worker("one", nanny=False, COMPAT_ENVS=ENVS)
    cell_ids: list[str] = []

    def note(result: Result) -> None:
        cell_ids.append(result.cell.id)
        if len(cell_ids) == 2:
            machines.kill("scheduler")

    wait_until(lambda: "Registered to" in (machines.folder / "one.log").read_text())
    pattern = r"lost the Dask scheduler; \d of 12 cells are finished and saved"
    with (
        session(machines, wait=1, in_flight=6) as where,
        pytest.raises(ClusterError, match=pattern) as caught,
    ):
        results(
            cells(env, 12), env, tmp_path / "store", partial(DaskExecutor, where), on_result=note
        )
    assert caught.value.exit_code == 8
    assert set(column(tmp_path / "store")) == set(cell_ids)


def test_cluster_without_workers_is_an_error(machines: Machines, tmp_path: Path) -> None:
    with (
        session(machines, wait=0.5) as where,
        pytest.raises(ClusterError, match=r"no Dask worker connected within 0\.5 s") as caught,
    ):
        _ = where.client
    assert "dask worker" in (caught.value.hint or "")


def test_worker_that_starts_before_the_subscription_is_seen(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask's client sends its subscription some time after the request for it."""
    from distributed import Client

    send = Client._send_to_scheduler

    def delayed(client: Client, message: dict[str, Any]) -> None:
        """Send a message, but delay a subscription past the end of this test."""
        if message["op"] != "subscribe-topic":
            send(client, message)

    monkeypatch.setattr(Client, "_send_to_scheduler", delayed)
    machines.start_worker("one", nanny=False)
    with session(machines) as where:
        _ = where.client
        machines.start_worker("two", nanny=False)
        wait_until(lambda: len(where.workers) == 2, SOON)


def test_missing_scheduler_is_an_error(tmp_path: Path) -> None:
    machines = Machines(tmp_path)
    began = time.monotonic()
    with (
        session(machines, wait=0.1) as where,
        pytest.raises(ClusterError, match="no Dask scheduler answers"),
    ):
        _ = where.client
    assert time.monotonic() - began < 20


def test_worker_with_different_code_is_refused(machines: Machines, tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "compat", tmp_path / "other" / "compat", ignore=shutil.ignore_patterns("__pycache__")
    )
    changed = tmp_path / "other" / "compat" / "text.py"
    changed.write_text(f"{changed.read_text()}\n# changed\n")
    machines.start_worker("other", nanny=False, PYTHONPATH=str(tmp_path / "other"))
    with (
        session(machines) as where,
        pytest.raises(
            ClusterError, match=r"workers differ from this command: other at .* different code"
        ) as caught,
    ):
        _ = where.client
    assert caught.value.exit_code == 8
    assert "Start the workers again with the same triton-compat" in (caught.value.hint or "")


DRIVER = """
import sys, threading
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from compat.config.matrix import load_matrix
from compat.envs.record import read_env
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.executor import DaskExecutor
from compat.executors.dask.session import DaskSession
from functools import partial
from tests.execution.dask.test_faults import cells, results

if __name__ == "__main__":
    config = load_matrix(Path(sys.argv[1]) / "matrix.toml")
    env = read_env(config.env("triton-3.1.0"), config.env_cache())
    with DaskSession(DaskSettings(where="test", address=sys.argv[2], in_flight=6)) as where:
        executor = partial(DaskExecutor, where)
        # Lines of several threads: each is written at once.
        told = lambda result: print(result.cell.id + chr(10), end="", flush=True)
        results(cells(env, 12), env, Path(sys.argv[3]), executor, on_result=told)
"""


@pytest.mark.wheels
def test_killed_driver_leaves_no_tasks_in_the_cluster(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    """Its finished results are kept. Its tasks are stopped. The next run does the rest."""
    machines.start_worker("one", threads=2, nanny=False, COMPAT_ENVS=ENVS)
    command = [sys.executable, "-c", DRIVER, str(ROOT), machines.address, str(tmp_path / "store")]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert driver.stdout is not None
    finished = {driver.stdout.readline().strip() for _ in range(6)}
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    finished |= set(driver.stdout.read().split())
    driver.stdout.close()
    assert set(column(tmp_path / "store")) >= finished
    with session(machines, in_flight=6) as where:
        wait_until(
            lambda: not any(where.client.processing().values()) and not where.client.who_has()
        )
        wait_until(lambda: not any(_tasks(where.client)))
        cell_results = results(
            cells(env, 12), env, tmp_path / "store", partial(DaskExecutor, where)
        )
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 12
    assert {result.cell.id for result in cell_results if result.cached} >= finished


def _tasks(client: Any) -> list[int]:
    """The number of tasks that each worker has, regardless of which client wants them."""
    task_counts: dict[str, int] = client.run(lambda dask_worker: len(dask_worker.state.tasks))
    return list(task_counts.values())


@pytest.mark.wheels
def test_stopped_run_leaves_no_tasks_in_the_cluster(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    """The run is stopped after the first result, while other tasks are in progress."""
    machines.start_worker("one", threads=2, nanny=False, COMPAT_ENVS=ENVS, SLOWLY="30")
    stop = threading.Event()
    with session(machines, in_flight=6) as where, Store(tmp_path / "store") as store:
        context = RunContext(
            envs={env.env.name: env},
            store=store,
            limits=LIMITS,
            executor=partial(DaskExecutor, where),
            stop=stop,
        )
        with pytest.raises(Interrupted):
            run(cells(env, 24), context, on_result=lambda _: stop.set())
        wait_until(lambda: not any(_tasks(where.client)))
        assert not where.client.futures


@pytest.mark.wheels
def test_cells_go_to_a_worker_that_can_provide_their_env(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    """Another worker compiles the cells of an env that one worker cannot provide.

    Without another worker, the cells fail at once, and their failure says what is missing.
    """
    machines.start_worker(
        "offline",
        nanny=False,
        UV_OFFLINE="1",
        UV_CACHE_DIR=str(tmp_path / "cache"),
        SLOWLY="0",
    )
    some, messages = cells(env, 4), list[str]()
    with session(machines, messages, in_flight=4) as where:
        alone = results(some, env, tmp_path / "store", partial(DaskExecutor, where))
        machines.start_worker("fine", nanny=False, COMPAT_ENVS=ENVS, SLOWLY="0")
        wait_until(lambda: len(where.workers) == 2)
        cell_results = results(some, env, tmp_path / "store", partial(DaskExecutor, where))
    assert [result.outcome.status for result in alone] == [Status.ENV_BROKEN] * 4
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 4
    failure = alone[0].outcome.failure
    assert failure is not None
    assert "no Dask worker can provide this env" in failure.excerpt
    assert "offline at tcp://" in failure.excerpt
    assert any("cannot provide triton-3.1.0" in message for message in messages)


@pytest.mark.wheels
def test_files_that_a_source_reads_on_import_reach_the_worker(
    env: BuiltEnv, machines: Machines, tmp_path: Path
) -> None:
    """Files that no import statement names are sent after an import has missed them."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    text = (KERNELS / "on_clusters.py").read_text()
    lines = (
        'import importlib\n\nSIZES = open(__file__.replace("reading.py",'
        ' "sizes.txt")).read()\nimportlib.import_module("beside")\n'
    )
    (folder / "reading.py").write_text(text + lines)
    (folder / "sizes.txt").write_text("128")
    (folder / "beside.py").write_text("")
    asking = text.replace("    at =", "    tl.static_assert(IS_THERE)\n    at =", 1)
    place = '__file__.replace("asking.py", "sizes.txt")'
    asking += f"\nIS_THERE = tl.constexpr(os.path.exists({place}))\n"
    (folder / "asking.py").write_text(asking)
    machines.start_worker("one", nanny=False, COMPAT_ENVS=ENVS, SLOWLY="0")
    sources = [folder / "reading.py", folder / "asking.py"]
    both = [
        cell(env, "on_clusters", "slow", source=str(path), closure=read_source(path).closure)
        for path in sources
    ]
    with session(machines) as where:
        executor = partial(DaskExecutor, where)
        first = results(both, env, tmp_path / "store", executor)
        again = results(both, env, tmp_path / "store", executor)
    assert [result.outcome.status for result in first] == [Status.OK, Status.OK]
    assert [result.cached for result in again] == [True, True]
    (folder / "sizes.txt").write_text("256")
    (changed,) = results(both[:1], env, tmp_path / "store", LocalExecutor)
    assert not changed.cached, "what it read is a witness of the result, by its path here"


@pytest.mark.wheels
def test_cells_of_an_unresponsive_worker_are_compiled_elsewhere(
    env: BuiltEnv, bare: Machines, tmp_path: Path
) -> None:
    """The worker is suspended, as if its network were cut.

    It counts as gone after the scheduler has had no heartbeat from it for a long time.
    """
    bare.start_scheduler(**DROPPED_SOON)
    for name in ("one", "two"):
        bare.start_worker(name, nanny=False, COMPAT_ENVS=ENVS)
    messages: list[str] = []
    with session(bare, messages, in_flight=6) as where:
        wait_until(lambda: where.client and len(where.workers) == 2)
        cell_results = results(
            cells(env, 8),
            env,
            tmp_path / "store",
            partial(DaskExecutor, where),
            on_result=AfterSome(2, lambda: bare.suspend("one")),
        )
    assert [result.outcome.status for result in cell_results] == [Status.OK] * 8
    assert any(message.startswith("Dask worker one at ") for message in messages)
