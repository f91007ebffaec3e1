"""A Dask cluster of real processes: a scheduler, and workers with their own nannies and folders.

The workers run as if they were on separate machines.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from compat.executors.dask.cluster import CALM, DaskSettings
from compat.executors.dask.session import DaskSession
from compat.processes import supervisor
from tests.forking import Forked, fork, is_usual
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
_QUIET = {
    "distributed.worker.daemon": False,
    "distributed.admin.tick.limit": "1h",
    **CALM,
}
DROPPED_SOON = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "4s"}
"""Variables of a scheduler that drops a worker after 5 s without a heartbeat.

Dask's default is 5 minutes. A machine that stands still for 5 s loses all its workers, so only a
test of this starts the scheduler with them.
"""
_VARIABLES = {
    f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": str(setting)
    for name, setting in _QUIET.items()
}


class Machines:
    """The processes of a cluster on this machine."""

    def __init__(self, folder: Path, host: str = "127.0.0.1") -> None:
        self.folder = folder
        self.host = host
        self.port = _free_port()
        self.processes: dict[str, subprocess.Popen[bytes] | Forked] = {}

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    def start_scheduler(
        self, *, within: Sequence[str] = (), python: str = sys.executable, **environ: str
    ) -> None:
        arguments = [
            "scheduler",
            "--host",
            self.host,
            "--port",
            str(self.port),
            "--no-dashboard",
            "--no-show",
            "--no-jupyter",
        ]
        self._start("scheduler", arguments, within=within, python=python, **environ)
        wait_until(self.scheduler_answers)

    def scheduler_answers(self) -> bool:
        """Whether a process listens at the scheduler's address."""
        with socket.socket() as probe:
            return probe.connect_ex((self.host, self.port)) == 0

    def start_worker(
        self,
        name: str,
        *,
        threads: int = 1,
        nanny: bool = True,
        within: Sequence[str] = (),
        host: str | None = None,
        python: str = sys.executable,
        **environ: str,
    ) -> None:
        """Start a worker that has neither the envs of this user nor those of another worker.

        ``environ`` can change that. ``within`` is a command prefix that runs the worker in other
        surroundings than this process.
        """
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        folders = {"COMPAT_ENVS": "envs", "COMPAT_WORKER_ENVS": "worker-envs"}
        own = {
            "TMPDIR": str(folder),
            **{variable: str(folder / place) for variable, place in folders.items()},
        }
        arguments = [
            "worker",
            self.address,
            "--name",
            name,
            "--nthreads",
            str(threads),
            "--local-directory",
            str(folder / "local"),
        ]
        arguments += [
            "--no-dashboard",
            "--host",
            host or self.host,
            "--nanny" if nanny else "--no-nanny",
            "--memory-limit",
            "0",
        ]
        self._start(name, arguments, within=within, python=python, **{**own, **environ})

    def _start(
        self,
        name: str,
        arguments: list[str],
        *,
        within: Sequence[str] = (),
        python: str = sys.executable,
        **environ: str,
    ) -> None:
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        folder = self.folder / name
        env = {**os.environ, "PYTHONPATH": str(ROOT), **_VARIABLES, **environ}
        with (self.folder / f"{name}.log").open("ab") as log:
            if python == sys.executable and not within and is_usual(env):
                file = log.fileno()
                process = fork("dask", arguments, cwd=folder, env=env, output=file, errors=file)
                self.processes[name] = process
                return
            self.processes[name] = subprocess.Popen(
                [*within, python, "-m", "dask", *arguments],
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """Kill a process and all its descendants with SIGKILL, as if its machine were lost."""
        process = self.processes.pop(name)
        pids = [process.pid, *_descendants(process.pid)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()

    def kill_alone(self, name: str) -> None:
        """Kill a process with SIGKILL, and leave its descendants."""
        process = self.processes.pop(name)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def suspend(self, name: str) -> None:
        """Suspend a process, as if its network were cut."""
        os.kill(self.processes[name].pid, signal.SIGSTOP)

    def kill_worker_process(self, name: str) -> None:
        """Kill the process that a nanny has started with SIGKILL. The nanny starts another one."""
        child, *_ = [
            pid
            for pid in supervisor.children(self.processes[name].pid)
            if b"spawn_main" in _command(pid)
        ]
        os.kill(child, signal.SIGKILL)

    def left(self) -> list[int]:
        """The ids of the processes that run below the folder of this cluster."""
        return [
            pid
            for pid in (int(process.name) for process in Path("/proc").glob("[0-9]*"))
            if str(self.folder).encode() in _environ(pid)
        ]

    def close(self) -> None:
        """Kill all processes, and print their logs, which pytest shows for a failed test."""
        for name in list(self.processes):
            self.kill(name)
        for log in sorted(self.folder.glob("*.log")):
            print(f"{log.name}:", *log.read_text(errors="replace").splitlines()[-20:], sep="\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def session(
    machines: Machines,
    messages: list[str] | None = None,
    *,
    wait: float = 30.0,
    in_flight: int | None = None,
) -> DaskSession:
    """A session on that cluster, which adds its messages to a list."""
    settings = DaskSettings(where="test", address=machines.address, wait=wait, in_flight=in_flight)
    return DaskSession(settings, (lambda message: None) if messages is None else messages.append)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _descendants(pid: int) -> list[int]:
    children = supervisor.children(pid)
    return [*children, *(inner for child in children for inner in _descendants(child))]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
