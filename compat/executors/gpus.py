"""GPUs to launch on: those of this machine, and those of an executor's other machines.

In: cells of a folder that ``compat build`` has written, of one target, which one process launches
together. Out: lines of ``results.jsonl`` in the launcher's form
(``compat/toolchains/pytorch/host/__init__.py``), or the reason why there are none. Processes of
their own ask the driver of a GPU and run the launcher.
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
    """A GPU as its driver tells of it."""

    name: str
    arch: int
    """90 for a compute capability of 9.0."""
    identity: str
    """The same for all processes of its machine."""
    visible: str | None = None
    """The value of ``CUDA_VISIBLE_DEVICES`` that leaves only this one; ``None`` if it is the only
    one anyway.
    """


@frozen(kw_only=True)
class GpuHost:
    """The GPUs and the interpreter of a machine."""

    devices: tuple[GpuDevice, ...] = ()
    why_none: str = ""
    """Why it has no devices."""
    python: str | None = None
    """An interpreter with PyTorch."""
    resource: str | None = None
    """The name of GPUs among the resources of the cluster, if the worker declares them."""


@frozen(kw_only=True)
class Load:
    """Cells that one process is to launch."""

    target: str
    """``sm_90``, for messages."""
    arch: int
    cells: tuple[JsonMapping, ...]
    """As an index has them."""
    pack: Callable[[Sequence[JsonMapping]], bytes]
    """An archive with all that launching some of them needs."""
    options: tuple[str, ...] = ()
    """Of the launcher."""
    python: str | None = None
    """The path of an interpreter with PyTorch there; by default that of the launching program."""


@frozen(kw_only=True)
class LaunchedPiece:
    """The results of cells that were launched together."""

    worker: str
    lines: tuple[JsonMapping, ...]


@frozen(kw_only=True)
class NotLaunched:
    """Cells that were not launched."""

    cells: tuple[JsonMapping, ...]
    why: str
    is_lost: bool
    """Whether it was tried; else no machine has a GPU for them."""


class Gpus(Protocol):
    """GPUs of other machines. May be used from several threads: each launches on one GPU."""

    def lack(self, target: str, arch: int, python: str | None = None) -> str | None:
        """The thing that is missing for a target, asked now; ``None`` if a launch is possible.

        ``python`` is the path of an interpreter with PyTorch that all machines have, if they need
        not look for one. Raises the errors of submitting.
        """
        ...

    def count(self, arch: int) -> int:
        """How many GPUs of an architecture are known."""
        ...

    def launch(self, load: Load) -> Generator[LaunchedPiece | NotLaunched]:
        """Launch a load, on one GPU at a time.

        Each cell is reported once. Raises the errors of submitting a batch.
        """
        ...


# --- this machine ---------------------------------------------------------------------------------

PYTHON = "COMPAT_LAUNCH_PYTHON"
"""The environment variable of a worker that names its interpreter with PyTorch."""
_PATIENCE = 120.0
"""Seconds that a driver may take to tell which GPUs there are."""
_TICK = 0.1
_LOCKS = "/tmp"  # noqa: S108 - one for all users, and links are not followed
"""The folder for the locks of GPUs: one for all processes of a machine, with any TMPDIR."""


def find_gpus(python: str = sys.executable) -> GpuHost:
    """The GPUs that a process of an interpreter sees here, or the reason why there are none.

    It takes as long as the driver takes. Raises OSError if there is no such interpreter, and
    MachineError.
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
        return GpuHost(why_none=_unanswered(error))


def find_host(environ: Mapping[str, str] = os.environ) -> GpuHost:
    """The GPUs and the interpreter of a cluster's worker, here.

    An interpreter is only looked for if there is a GPU.
    """
    try:
        host = find_gpus()
    except (OSError, MachineError) as error:
        return GpuHost(why_none=_unanswered(error))
    return (
        evolve(host, python=environ.get(PYTHON) or _worker_python(environ))
        if host.devices
        else host
    )


def _unanswered(error: Exception) -> str:
    return f"cannot ask its driver: {type(error).__name__}: {error}"


def _worker_python(environ: Mapping[str, str]) -> str | None:
    from compat.envs.worker_envs import worker_envs

    try:
        envs = worker_envs(environ)
    except (EnvError, OSError):
        return find_python(())
    return find_python((*envs.also, EnvCache(envs.folder)))


def find_python(caches: Iterable[EnvCache]) -> str | None:
    """An interpreter with PyTorch: this one, else that of the env with the newest PyTorch.

    ``caches`` have the envs.
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
    """The interpreters of an env's folder that have PyTorch, with its version."""
    for location in sorted(folder.glob("cp*")):
        with suppress(NotInstalled, InvalidVersion, OSError):
            for package in packages(location):
                if package.name == PYTORCH.name:
                    yield Version(package.version), str(interpreter(location))


@contextmanager
def alone_on(device: GpuDevice, stop: threading.Event) -> Iterator[int]:
    """Be the only process of this machine that launches on a GPU, once others have ended.

    Gives the descriptor that holds the lock. Raises Stopped if ``stop`` is set before, and OSError.
    """
    descriptor = _opened(Path(_LOCKS, f"compat-gpu-{device.identity}.lock"))
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


def _opened(path: Path) -> int:
    """A file to lock, whoever made it.

    In a folder of all users, files of others may be read, but not made anew.
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

    It also ends with ``stop``, and with this process. ``lock`` is held until it has ended. Raises
    Stopped, and OSError.
    """
    keeping = [sys.executable, "-I", keeper.__file__]
    with Session(
        keeping, stop, variables=variables, pass_fds=(lock,), patience=math.inf
    ) as session:
        try:
            code = int(session.ask(json.dumps(list(command))))
        except SessionEnded:
            code = session.end()
        return ProcessResult(exit_code=code, output=session.printed)
