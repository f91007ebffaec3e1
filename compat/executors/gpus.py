"""GPUs for launches: those of this machine, and those of an executor's other machines.

In: cells of one target in a folder of ``compat build``, which one process launches together. Out:
lines of ``results.jsonl`` in the launcher's form (``compat/toolchains/pytorch/host/__init__.py``),
or the reason why there are none. Separate processes call the GPU driver and run the launcher.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import math
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol

from attrs import evolve, frozen
from packaging.version import InvalidVersion, Version

from compat.envs.cache import EnvCache
from compat.envs.record import NotInstalled, interpreter, kept_envs, packages
from compat.errors import EnvError, MachineError
from compat.interruption import Stopped
from compat.processes import keeper
from compat.processes.supervisor import ProcessResult, Session, SessionEnded, run
from compat.text import JsonMapping, read_json
from compat.toolchains import pytorch
from compat.toolchains.base import PYTORCH


@frozen(kw_only=True)
class GpuDevice:
    """The facts that a GPU driver reports about a GPU."""

    name: str
    arch: int
    """Ten times the compute capability: 90 for 9.0."""
    identity: str
    """An identifier that is the same for all processes of the machine."""
    visible: str | None = None
    """The value of ``CUDA_VISIBLE_DEVICES`` that leaves only this GPU visible; ``None`` if it is
    the only one anyway.
    """


@frozen(kw_only=True)
class GpuHost:
    """The GPUs of a machine, and its interpreter for launches."""

    devices: tuple[GpuDevice, ...] = ()
    why_none: str = ""
    """Why the machine has no devices."""
    python: str | None = None
    """Path of an interpreter with PyTorch; ``None`` without one."""
    resource: str | None = None
    """The name of the cluster's resource for GPUs, if the Dask worker declares one."""


@frozen(kw_only=True)
class Load:
    """Cells for one process to launch."""

    target: str
    """Name of the target for messages, such as ``sm_90``."""
    arch: int
    cells: tuple[JsonMapping, ...]
    """The cells in the form of an archive's index."""
    pack: Callable[[Sequence[JsonMapping]], bytes]
    """Cells → an archive with everything that their launch needs."""
    options: tuple[str, ...] = ()
    """Options of the launcher."""
    python: str | None = None
    """Path of an interpreter with PyTorch on the launching machine; ``None`` if that machine
    chooses it.
    """


@frozen(kw_only=True)
class LaunchedPiece:
    """The results of cells that one process launched together."""

    worker: str
    lines: tuple[JsonMapping, ...]


@frozen(kw_only=True)
class NotLaunched:
    """Cells that were not launched."""

    cells: tuple[JsonMapping, ...]
    why: str
    is_lost: bool
    """Whether a launch was tried and its workers were lost. Otherwise no machine can launch."""


class Gpus(Protocol):
    """The GPUs of other machines. Safe to call from several threads: each launches on one GPU."""

    def lack(self, target: str, arch: int, python: str | None = None) -> str | None:
        """Return what is missing now to launch for a target; ``None`` if a launch is possible.

        ``python`` is the path of an interpreter with PyTorch that all machines have. If it is
        ``None``, each machine finds one. Raises the errors of ``Executor.submit``.
        """

    def count(self, arch: int) -> int:
        """Return the number of known GPUs of an architecture."""

    def launch(self, load: Load) -> Generator[LaunchedPiece | NotLaunched]:
        """Launch a load, on one GPU at a time, and yield the results of its cells.

        Each cell is reported once. Raises the errors of ``Executor.submit``.
        """


# --- this machine ---------------------------------------------------------------------------------

PYTHON = "COMPAT_LAUNCH_PYTHON"
"""The environment variable of a Dask worker that names its interpreter with PyTorch."""
_PATIENCE = 120.0
"""Seconds that a GPU driver may take to list its GPUs."""
_TICK = 0.1
_LOCKS = "/tmp"  # noqa: S108 - one for all users, and links are not followed
"""The folder for the locks of GPUs: one for all processes of a machine, with any TMPDIR."""


def find_gpus(python: str = sys.executable) -> GpuHost:
    """Return the GPUs that a process of an interpreter sees, or the reason why there are none.

    It waits for the GPU driver, up to :data:`_PATIENCE` seconds. Raises OSError if the interpreter
    does not exist, and MachineError.
    """
    with TemporaryFile() as answer:
        if (
            run([python, "-I", str(pytorch.GPU_LISTING)], timeout=_PATIENCE, into=answer).exit_code
            is None
        ):
            return GpuHost(why_none=f"its driver did not answer within {_PATIENCE:g} s")
        answer.seek(0)
        text = answer.read()
    try:
        listed = read_json(text)
        return GpuHost(
            devices=tuple(GpuDevice(**device) for device in listed["devices"]),
            why_none=str(listed["why"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        return GpuHost(why_none=_driver_error(error))


def find_host(environ: Mapping[str, str] = os.environ) -> GpuHost:
    """Return the GPUs of this machine, and its interpreter for launches. Runs on Dask workers.

    It searches for an interpreter only if there is a GPU.
    """
    try:
        host = find_gpus()
    except (OSError, MachineError) as error:
        return GpuHost(why_none=_driver_error(error))
    if not host.devices:
        return host
    return evolve(host, python=environ.get(PYTHON) or _worker_python(environ))


def _driver_error(error: Exception) -> str:
    return f"cannot ask its driver: {type(error).__name__}: {error}"


def _worker_python(environ: Mapping[str, str]) -> str | None:
    from compat.envs.worker_envs import worker_envs

    try:
        envs = worker_envs(environ)
    except (EnvError, OSError):
        return find_python(())
    return find_python((*envs.also, EnvCache(envs.folder)))


def find_python(caches: Iterable[EnvCache]) -> str | None:
    """Return an interpreter with PyTorch; ``None`` without one.

    It is this process's interpreter, or else that of the env with the newest PyTorch in ``caches``.
    """
    if importlib.util.find_spec(PYTORCH.name) is not None:
        return sys.executable
    interpreters: list[tuple[Version, str]] = []
    with suppress(OSError):
        for cache in caches:
            complete = (env.folder.path for env in kept_envs(cache) if env.state == "complete")
            interpreters += [pair for folder in complete for pair in _with_pytorch(folder)]
    return max(interpreters)[1] if interpreters else None


def _with_pytorch(folder: Path) -> Iterator[tuple[Version, str]]:
    """Yield PyTorch's version and the interpreter, for interpreters of an env that have PyTorch."""
    for location in sorted(folder.glob("cp*")):
        with suppress(NotInstalled, InvalidVersion, OSError):
            for package in packages(location):
                if package.name == PYTORCH.name:
                    yield Version(package.version), str(interpreter(location))


@contextmanager
def alone_on(device: GpuDevice, stop: threading.Event) -> Iterator[int]:
    """Wait for the lock of a GPU, so that only one process of this machine launches on it.

    Yields the descriptor that holds the lock. Raises Stopped if ``stop`` is set before, and
    OSError.
    """
    descriptor = _open_lock(lock_file(device.identity))
    try:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if stop.is_set():
                raise Stopped
            stop.wait(_TICK)
        yield descriptor
    finally:
        os.close(descriptor)


def lock_file(identity: str) -> Path:
    """The file whose lock a process holds while it launches on the GPU with this UUID."""
    return Path(_LOCKS, f"compat-gpu-{identity}.lock")


def _open_lock(path: Path) -> int:
    """Open a file to lock, and create it if it is missing.

    In a folder of all users, a process can open another user's file for reading, but cannot create
    it again.
    """
    with suppress(FileExistsError):
        return os.open(
            path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644
        )
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def run_kept(
    command: Sequence[str], variables: Mapping[str, str], stop: threading.Event, lock: int
) -> ProcessResult:
    """Run a program to its end.

    The program also ends when ``stop`` is set, or this process ends. It holds ``lock`` until then.
    Raises Stopped, and OSError.
    """
    keeping = [sys.executable, "-I", keeper.__file__]
    with Session(
        keeping, stop, variables=variables, pass_fds=(lock,), patience=math.inf
    ) as session:
        try:
            code = int(session.ask(json.dumps(list(command))))
        except SessionEnded:
            code = session.end()
        return ProcessResult(exit_code=code, output=session.output_end)
