"""The GPUs of this machine, and a program that launches on one of them: asked and run in processes of their own."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from attrs import frozen
from packaging.version import InvalidVersion, Version

from compat.envs.cache import EnvCache
from compat.envs.installed import NotInstalled, interpreter, packages
from compat.envs.inventory import kept_envs
from compat.envs.provision import worker_envs
from compat.errors import EnvError
from compat.execution import keeper, listing
from compat.execution.executors.gpus import Device
from compat.interruption import Stopped
from compat.json_text import read_json

PYTHON = "COMPAT_LAUNCH_PYTHON"
"""The environment variable of a worker that names its interpreter with PyTorch."""
_ASKING = 120.0
"""Seconds that a driver may take to tell which GPUs there are."""
_TICK = 0.1
_LAST_WORDS = 8192
_LOCKS = "/tmp"
"""Where the locks of GPUs are: one folder for all processes of a machine, whatever TMPDIR is."""


@frozen(kw_only=True)
class Machine:
    """What a machine has to launch with."""

    devices: tuple[Device, ...] = ()
    why_none: str = ""
    python: str | None = None
    """An interpreter with PyTorch; only looked for where there is a GPU."""


@frozen(kw_only=True)
class Ended:
    """How a program ended that was kept."""

    exit_code: int
    """Negative where a signal ended it."""
    said: str
    """The end of what it printed."""


def look() -> Machine:
    """The GPUs that a process here sees, and what launches on them. It takes as long as the driver takes."""
    try:
        said = subprocess.run(
            [sys.executable, "-I", listing.__file__], stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASKING, check=False
        )
        told = read_json(said.stdout)
        devices = tuple(Device(**each) for each in told["devices"])
        why = str(told["why"])
    except subprocess.TimeoutExpired:
        devices, why = (), f"its driver does not answer within {_ASKING:g} s"
    except (OSError, ValueError, TypeError, KeyError) as error:
        devices, why = (), f"its driver could not be asked: {type(error).__name__}: {error}"
    return Machine(devices=devices, why_none=why, python=find_python() if devices else None)


def find_python(environ: Mapping[str, str] = os.environ) -> str | None:
    """An interpreter with PyTorch: the one that is named, else this one, else that of an env of this machine, the newest."""
    if said := environ.get(PYTHON):
        return said
    if importlib.util.find_spec("torch") is not None:
        return sys.executable
    found: list[tuple[Version, str]] = []
    with suppress(EnvError, OSError):
        envs = worker_envs(environ)
        for cache in (*envs.also, EnvCache(envs.folder)):
            kept = (each.folder.path for each in kept_envs(cache) if each.state == "complete")
            found += [each for folder in kept for each in _with_torch(folder)]
    return max(found)[1] if found else None


def _with_torch(folder: Path) -> Iterator[tuple[Version, str]]:
    """The interpreters of an env's folder that have PyTorch, with its version."""
    for location in sorted(folder.glob("cp*")):
        with suppress(NotInstalled, InvalidVersion, OSError):
            for package in packages(location):
                if package.name == "torch":
                    yield Version(package.version), str(interpreter(location))


@contextmanager
def alone_on(device: Device, stop: threading.Event) -> Iterator[int]:
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


def run_kept(words: Sequence[str], variables: Mapping[str, str], stop: threading.Event, lock: int) -> Ended:
    """Run a program to its end. It ends with ``stop``, and with this process, too; ``lock`` is held until it has.

    Raises Stopped, and OSError.
    """
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, "-I", keeper.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            env={**os.environ, **variables},
            pass_fds=(lock,),
            process_group=0,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(list(words)).encode() + b"\n")
            process.stdin.flush()
            while not stop.is_set():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_TICK)
                    break
            else:
                raise Stopped
            code = process.stdout.read().strip()
        finally:
            process.stdin.close()  # has the keeper end it
            process.wait()
            process.stdout.close()
        return Ended(exit_code=int(code) if code else process.returncode, said=_end_of(printed))


def _end_of(printed: IO[bytes]) -> str:
    printed.seek(max(0, printed.seek(0, os.SEEK_END) - _LAST_WORDS))
    return printed.read().decode(errors="replace")
