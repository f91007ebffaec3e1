"""Launches on the workers of a Dask cluster that have a GPU.

A stand-in replaces the GPU driver. Some workers have it, and others do not.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from compat.cli.commands import main
from compat.errors import SelectionError
from compat.executors.dask.executor import DaskExecutor
from compat.executors.dask.session import DaskSession
from compat.executors.gpus import Gpus, LaunchedPiece, NotLaunched, lock_file
from compat.launch import archive, hosting, sharing
from compat.model import BuiltEnv
from compat.project import Listener, select
from compat.workers.spawn import WORKER
from tests.execution.dask.clusters import ROOT, Machines, session
from tests.execution.dask.test_faults import ENVS
from tests.launch.archives import (
    built_standin,
    cell,
    results,
    standin_options,
    with_pytorch,
    write,
)
from tests.launch.living import project, stand_in
from tests.waiting import PATIENCE, SOON, wait_until

pytestmark = pytest.mark.wheels

OLD, NEW = "3.1.0", "3.2.0"
KILLING = """#!/bin/sh
grep -q killer "$(dirname "$1")/index.json" && kill -9 $(sed -n 's/^PPid:\\s*//p' /proc/$PPID/status)
exec {launcher}
"""
"""A Python that kills the Dask worker that launches the cell ``killer``."""
LOGGING = """#!/bin/sh
echo begin >> {log}
{launcher}
code=$?
echo end >> {log}
exit $code
"""


class Equipped:
    """Machines of a cluster, some of which have the stand-in for a GPU."""

    def __init__(self, folder: Path, python: str) -> None:
        self.machines = Machines(folder)
        (folder / "driver").mkdir(parents=True)
        library = built_standin(folder / "driver").rename(folder / "driver" / "libcuda.so.1")
        self.folder = folder
        path = os.environ.get("PYTHONPATH")
        # Workers have another path, and Python would start again for it.
        usual = "env -u PYTHONPATH" if path is None else f"env PYTHONPATH={shlex.quote(path)}"
        options = " ".join(standin_options(library))
        self.launcher = f'{usual} {with_pytorch(folder, python)} "$@" {options}'
        self.python = folder / "python-with-pytorch"
        self.python.write_text(f"#!/bin/sh\nexec {self.launcher}\n")
        self.python.chmod(0o755)
        self.gpu_ids: set[str] = set()

    def start(self, name: str, *, has_gpu: bool, **environ: str) -> None:
        """Starts a worker, with a GPU of its own if ``has_gpu``."""
        driver = (
            {
                "LD_LIBRARY_PATH": str(self.folder / "driver"),
                "COMPAT_LAUNCH_PYTHON": str(self.python),
            }
            if has_gpu
            else {}
        )
        identity = {"STANDIN_UUID": f"{os.getpid() % 10000:04}-{name}"}
        variables = {"COMPAT_ENVS": ENVS, **driver, **identity, **environ}
        self.gpu_ids.add(variables["STANDIN_UUID"])
        self.machines.start_worker(name, threads=1, nanny=False, **variables)

    def remove_locks(self) -> None:
        """Remove the locks of the stand-ins for GPUs, which are in a folder of all users."""
        for gpu_id in self.gpu_ids:
            identity = gpu_id.encode()[:14].ljust(16, b"\0").hex()
            lock_file(identity).unlink(missing_ok=True)


@pytest.fixture
def equipped(tmp_path: Path, pair_python: str) -> Iterator[Equipped]:
    cluster = Equipped(tmp_path / "cluster", pair_python)
    with cluster.machines:
        cluster.machines.start_scheduler()
        yield cluster
    cluster.remove_locks()


def gpus(where: DaskSession, count: int) -> Gpus:
    """The GPUs of a cluster, once it has ``count`` workers."""
    wait_until(lambda: where.client and len(where.workers) == count)
    return DaskExecutor(where, worker=WORKER, stop=threading.Event()).gpus


def launch(
    gpu_pool: Gpus, folder: Path, *options: str, count: int = 1
) -> tuple[list[LaunchedPiece], list[NotLaunched]]:
    built = archive.read_folder(folder)
    pieces = [
        piece
        for load in built.loads(built.cells(), count, options=options)
        for piece in gpu_pool.launch(load)
    ]
    launched = [piece for piece in pieces if isinstance(piece, LaunchedPiece)]
    return launched, [piece for piece in pieces if isinstance(piece, NotLaunched)]


def statuses(launched: list[LaunchedPiece]) -> dict[str, str]:
    return {line["identity"]: line["check"]["status"] for piece in launched for line in piece.lines}


@pytest.mark.long
def test_cells_are_launched_on_the_worker_that_has_a_gpu(
    equipped: Equipped, tmp_path: Path
) -> None:
    """The statuses are the same as those of a launch on this machine.

    The launcher ends a hang.
    """
    cells = [
        cell("add"),
        cell("wrong"),
        cell("racy"),
        cell("out_of_bounds"),
        cell("hangs"),
        cell("dies"),
    ]
    folder = write(tmp_path / "built", cells)
    equipped.start("plain", has_gpu=False)
    equipped.start("equipped", has_gpu=True)
    options = ("--no-latency", "--deadline", "1.5")
    with session(equipped.machines) as where:
        gpu_pool = gpus(where, 2)
        assert gpu_pool.lack("sm_90", 90) is None
        launched, missing = launch(gpu_pool, folder, *options)
    assert missing == []
    assert {piece.worker.split()[0] for piece in launched} == {"equipped"}
    hosting.launch(folder, str(equipped.python), options)
    here = {name: line["check"]["status"] for name, line in results(folder).items()}
    assert statuses(launched) == here
    assert set(here.values()) == {"ok", "wrong", "unstable", "faulted", "timed_out", "lost"}


def test_message_says_what_gpu_each_worker_lacks(equipped: Equipped, tmp_path: Path) -> None:
    equipped.start("plain", has_gpu=False)
    equipped.start("older", has_gpu=True, STANDIN_ARCH="86")
    equipped.start("hidden", has_gpu=True, CUDA_VISIBLE_DEVICES="")
    with session(equipped.machines) as where:
        gpu_pool = gpus(where, 3)
        lack = gpu_pool.lack("sm_90", 90)
        launched, missing = launch(gpu_pool, write(tmp_path / "built", [cell("add")]))
        assert gpu_pool.lack("sm_86", 86) is None
    assert lack is not None
    assert lack.startswith("no Dask worker has a GPU of sm_90: ")
    assert "plain at tcp://" in lack
    assert "has none (it has no driver for a GPU (libcuda.so.1))" in lack
    assert "has sm_86 (stand-in)" in lack
    assert "has none (its driver says CUDA_ERROR_NO_DEVICE)" in lack
    assert launched == []
    assert [piece.why for piece in missing] == [lack]


def matrix(equipped: Equipped, *arguments: str) -> Result:
    return CliRunner().invoke(
        main, ["matrix", "--envs", f"{OLD},{NEW}", "--target", "sm_90", *arguments]
    )


def gpu_checks(folder: Path) -> list[Any]:
    """The ID, status and GPU check of each cell in the report, without the worker."""
    document = json.loads((folder / "reports" / "matrix.json").read_text())
    checks = [
        cell["numbers"]["gpu"] and {**cell["numbers"]["gpu"], "worker": None}
        for cell in document["cells"]
    ]
    return [
        (cell["id"], cell["status"], check)
        for cell, check in zip(document["cells"], checks, strict=True)
    ]


@pytest.fixture
def home(tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch) -> Path:
    for release in (OLD, NEW):
        built(f"triton-{release}")
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_matrix_has_the_same_checks_on_workers_as_on_this_machine(
    home: Path, equipped: Equipped, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both reports have the same GPU checks; times are not compared.

    The cells are launched once. After that, the command does not ask the cluster.
    """
    wrong = {"STANDIN_BREAKS": "old", "STANDIN_AS": "wrong"}
    equipped.start("plain", has_gpu=False)
    equipped.start("equipped", has_gpu=True, **wrong)
    with session(equipped.machines) as where:
        # The worker "equipped" alone cannot compile: its environment variables differ from those
        # of this process.
        gpus(where, 2)
    executor = ("--executor", equipped.machines.address, "--launch")
    there = matrix(equipped, *executor)
    assert there.exit_code == 1, there.output
    assert "launched 2 cells" in there.stderr
    on_workers = gpu_checks(home)
    assert [check["status"] for _, _, check in on_workers] == ["wrong", "ok"]
    cells = json.loads((home / "reports" / "matrix.json").read_text())["cells"]
    for measurement in (
        cells[0]["numbers"]["gpu"],
        cells[1]["numbers"]["gpu"],
        cells[1]["latency"],
    ):
        assert (measurement["device"], measurement["worker"].split()[0]) == ("stand-in", "equipped")
    equipped.machines.close()
    again = matrix(equipped, *executor)
    assert (again.exit_code, gpu_checks(home)) == (1, on_workers)
    assert "Dask" not in again.stderr
    (home / ".compat" / "results.sqlite").unlink()
    stand_in(home, pair_python, monkeypatch, breaks="old", how="wrong")
    here = matrix(equipped, "--launch")
    assert (here.exit_code, gpu_checks(home)) == (1, on_workers)


def test_matrix_without_a_gpu_is_compiled_but_not_launched(home: Path, equipped: Equipped) -> None:
    """The command does everything but launch.

    The exit code is that of ``--launch`` on a machine without a GPU.
    """
    equipped.start("plain", has_gpu=False)
    done = matrix(equipped, "--executor", equipped.machines.address, "--launch")
    assert done.exit_code == SelectionError.exit_code, done.output
    message = "2 cells not launched: no Dask worker has a GPU of sm_90: plain at tcp://"
    assert done.stderr.index(message) < done.stderr.index(
        "error: 2 cells not launched: no Dask worker has a GPU of sm_90"
    )
    assert [(status, gpu) for _, status, gpu in gpu_checks(home)] == [("ok", None), ("ok", None)]


@pytest.mark.long
def test_cells_of_a_worker_killed_during_a_launch_go_to_another(
    equipped: Equipped, tmp_path: Path
) -> None:
    """The launcher ends with its worker.

    A message names the worker, and says that another worker tries again.
    """
    folder = write(tmp_path / "built", [cell("add"), cell("hangs")])
    equipped.start("one", has_gpu=True)
    messages: list[str] = []
    with session(equipped.machines, messages) as where:
        gpu_pool = gpus(where, 1)
        come: list[Any] = []
        thread = threading.Thread(
            target=lambda: come.append(launch(gpu_pool, folder, "--no-latency", "--deadline", "2"))
        )
        thread.start()
        wait_until(lambda: launchers(equipped))
        machine_left = launchers(equipped)
        equipped.machines.kill_alone("one")
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in machine_left), SOON)
        equipped.start("two", has_gpu=True)
        thread.join(PATIENCE)
    ((launched, missing),) = come
    assert missing == []
    assert statuses(launched) == {"add": "ok", "hangs": "timed_out"}
    (message,) = [line for line in messages if "during a launch" in line]
    assert message.startswith("Dask worker one at tcp://")
    assert message.endswith("ended during a launch of 2 cells; another worker tries again")


def launchers(equipped: Equipped) -> list[int]:
    """The IDs of the processes of the cluster that run the launcher."""
    pids = []
    for pid in equipped.machines.left():
        with suppress(OSError):
            if b"launch.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                pids.append(pid)
    return pids


def test_cell_that_ends_three_workers_is_reported_as_lost(
    equipped: Equipped, tmp_path: Path
) -> None:
    """The cell is launched alone in the end, so that the other cells are launched."""
    folder = write(tmp_path / "built", [cell("add"), cell("killer", "add")])
    equipped.python.write_text(KILLING.format(launcher=equipped.launcher))
    for name in ("one", "two", "three", "four"):
        equipped.start(name, has_gpu=True)
    messages: list[str] = []
    with session(equipped.machines, messages) as where:
        launched, (lost,) = launch(gpus(where, 4), folder, "--no-latency")
    assert statuses(launched) == {"add": "ok"}
    assert (lost.is_lost, [entry["identity"] for entry in lost.cells]) == (True, ["killer"])
    assert lost.why.count("tcp://") == 3
    assert any(
        message.endswith("during a launch of kernel/killer/case/sm_90/env; no worker tries again")
        for message in messages
    )


@pytest.mark.long
def test_one_launch_at_a_time_on_a_gpu(equipped: Equipped, tmp_path: Path) -> None:
    """Two workers of one machine have the same GPU, and two sessions launch on it."""
    log = tmp_path / "log"
    equipped.python.write_text(LOGGING.format(log=log, launcher=equipped.launcher))
    for name in ("one", "two"):
        equipped.start(name, has_gpu=True, STANDIN_UUID=f"{os.getpid()}")
    folder = write(tmp_path / "built", [cell("add")])
    with session(equipped.machines) as where, session(equipped.machines) as other:
        gpu_pools = [gpus(dask_session, 2) for dask_session in (where, other)]
        assert [(gpu_pool.lack("sm_90", 90), gpu_pool.count(90)) for gpu_pool in gpu_pools] == [
            (None, 1),
            (None, 1),
        ]
        threads = [
            threading.Thread(target=launch, args=(gpu_pool, folder, "--no-latency"))
            for gpu_pool in gpu_pools
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert log.read_text().split() == ["begin", "end", "begin", "end"]


def test_launch_of_a_folder_ends_on_ctrl_c_and_skips_finished_cells(
    equipped: Equipped, tmp_path: Path
) -> None:
    """Ctrl-C ends the launchers on the workers.

    Finished cells are in the results file, and the command does not launch them again.
    """
    folder = write(tmp_path / "built", [cell("add"), cell("hangs", problem="unknown")])
    equipped.start("one", has_gpu=True)
    arguments = ["launch", str(folder), "--executor", equipped.machines.address, "--no-latency"]
    code = "from compat.cli.start import start; start()"
    interrupted = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "--deadline", "1000"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    wait_until(lambda: launchers(equipped))
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(PATIENCE) == 130
    wait_until(lambda: not launchers(equipped), SOON)
    done = CliRunner().invoke(main, [*arguments, "--cells", "*/add/*"])
    assert done.exit_code == 0, done.output
    assert "kernel/add/case/sm_90/env  ok  (stand-in of one at tcp://" in done.stderr
    again = CliRunner().invoke(main, [*arguments, "--cells", "*/add/*"])
    assert (again.exit_code, again.stderr) == (
        0,
        f"2 cells, 1 already in {folder / 'results.jsonl'}\n",
    )
    assert statuses([LaunchedPiece(worker="", lines=tuple(results(folder).values()))]) == {
        "add": "ok"
    }


class Telling(Listener):
    """Keeps the messages."""

    def __init__(self, messages: list[str]) -> None:
        self.said = messages

    def say(self, message: str) -> None:
        self.said.append(message)


def test_cells_are_launched_once_a_worker_with_a_gpu_joins(
    home: Path, equipped: Equipped, pair_python: str
) -> None:
    """A message reports at once that the cells were not launched.

    They are launched at the end, when a worker with a GPU has joined. Its launcher finds the driver
    by its usual name.
    """
    equipped.python.write_text(f'#!/bin/sh\nexec {pair_python} "$@" --device cpu\n')
    equipped.start("plain", has_gpu=False)
    selection = select(home / "matrix.toml", envs=(NEW,), targets=("sm_90",))
    messages: list[str] = []
    listener = Telling(messages)
    with session(equipped.machines) as where, selection.open_store() as store:
        context = selection.context(store, executor=partial(DaskExecutor, where))
        launches = sharing.begin(selection, context, selection.read_envs, listener)
        assert launches is not None
        with closing(launches):
            assert [message.partition(":")[0] for message in messages] == ["1 cell not launched"]
            with pytest.raises(SelectionError, match="no Dask worker has a GPU of sm_90"):
                launches.check()
            equipped.start("equipped", has_gpu=True)
            wait_until(lambda: len(where.workers) == 2)
            launches.wait()
            launches.check()
            assert launches.merged_results.stored == 1
