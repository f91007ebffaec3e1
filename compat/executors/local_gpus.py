"""The GPUs of this machine, and a program that launches on one of them: asked and run in processes of their own."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import math
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import frozen
from packaging.version import InvalidVersion, Version

from compat.envs.cache import EnvCache
from compat.envs.inventory import kept_envs
from compat.envs.record import NotInstalled, interpreter, packages
from compat.envs.worker_envs import worker_envs
from compat.errors import EnvError, MachineError
from compat.executors import gpu_listing as listing
from compat.executors.gpus import GpuDevice
from compat.interruption import Stopped
from compat.model.json_text import read_json
from compat.processes import keeper
from compat.processes.supervisor import ProcessResult, Session, SessionEnded, run
from compat.toolchains.base import PYTORCH

PYTHON = "COMPAT_LAUNCH_PYTHON"
"""The environment variable of a worker that names its interpreter with PyTorch."""
_ASKING = 120.0
"""Seconds that a driver may take to tell which GPUs there are."""
_TICK = 0.1
_LOCKS = "/tmp"
"""Where the locks of GPUs are: one folder for all processes of a machine, whatever TMPDIR is."""


@frozen(kw_only=True)
class Machine:
    """What a machine has to launch with."""

    devices: tuple[GpuDevice, ...] = ()
    why_none: str = ""
    python: str | None = None
    """An interpreter with PyTorch; only looked for where there is a GPU."""


def look() -> Machine:
    """The GPUs that a process here sees, and what launches on them. It takes as long as the driver takes."""
    try:
        with tempfile.TemporaryFile() as answer:
            ended = run([sys.executable, "-I", listing.__file__], timeout=_ASKING, into=answer)
            if ended.exit_code is None:
                return Machine(why_none=f"its driver does not answer within {_ASKING:g} s")
            answer.seek(0)
            listed = read_json(answer.read())
        devices = tuple(GpuDevice(**device) for device in listed["devices"])
        why = str(listed["why"])
    except (OSError, MachineError, ValueError, TypeError, KeyError) as error:
        devices, why = (), f"its driver could not be asked: {type(error).__name__}: {error}"
    return Machine(devices=devices, why_none=why, python=find_python() if devices else None)


def find_python(environ: Mapping[str, str] = os.environ) -> str | None:
    """An interpreter with PyTorch: the one that is named, else this one, else that of an env of this machine, the newest."""
    if python := environ.get(PYTHON):
        return python
    if importlib.util.find_spec(PYTORCH.name) is not None:
        return sys.executable
    interpreters: list[tuple[Version, str]] = []
    with suppress(EnvError, OSError):
        envs = worker_envs(environ)
        for cache in (*envs.also, EnvCache(envs.folder)):
            kept = (env.folder.path for env in kept_envs(cache) if env.state == "complete")
            interpreters += [interpreter_ for folder in kept for interpreter_ in _with_pytorch(folder)]
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
    """Be the only one of this machine that launches on a GPU, once others have ended; the descriptor that holds the lock.

    Raises Stopped where ``stop`` is set before, and OSError.
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
    """A file to lock, whoever made it: in a folder of all users, what others own may be read and not be made anew."""
    with suppress(FileExistsError):
        return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def run_kept(words: Sequence[str], variables: Mapping[str, str], stop: threading.Event, lock: int) -> ProcessResult:
    """Run a program to its end. It ends with ``stop``, and with this process, too; ``lock`` is held until it has.

    Raises Stopped, and OSError.
    """
    keeping = [sys.executable, "-I", keeper.__file__]
    with Session(keeping, stop, variables=variables, pass_fds=(lock,), patience=math.inf) as session:
        try:
            code = int(session.ask(json.dumps(list(words))))
        except SessionEnded:
            code = session.end()
        return ProcessResult(exit_code=code, output=session.printed)
