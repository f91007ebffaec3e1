"""Servers that stay when a command ends, so that the next one need not import their toolchains again.

Whoever edits a kernel and asks again asks the same envs, and importing them takes longer than compiling a small kernel. A server
that stays costs 20 to 30 MB and no time. It ends by itself when nobody has come for a while, when a file that it has loaded is
changed, or when it is told to (:func:`stop`).

Each has a folder of its own in the user's runtime folder, called after a key over all that its answers depend on: ``socket``, where
drivers come to, ``about.json`` and ``output``. A folder whose socket nobody listens on is what a killed server left; it is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import secrets
import shutil
import socket
import stat
import tempfile
import time
from pathlib import Path

from attrs import evolve, frozen

from compat.engine import procfs
from compat.engine.launch import OwnServer, control_pair, last_words, passed_on, spawn
from compat.engine.server import Server
from compat.model import BuiltEnv

_GREETING = 5.0
"""Seconds that a server which is there may take to say so; one that does not is passed by."""
_BACKLOG = 16
_SOCKET, _ABOUT = "socket", "about.json"


@frozen(kw_only=True)
class Kept:
    """A server that has stayed."""

    env: str
    version: str
    """Of its toolchain."""
    python: str
    pid: int
    memory: int
    """Bytes that are no pages of files, which the system could drop."""
    idle: float
    """Seconds since a driver last left it."""


def borrow(built: BuiltEnv, worker: Path, worker_digest: str, idle_timeout: float) -> Server:
    """A server of an env that has stayed, or else a new one that will, until it has been idle for ``idle_timeout`` seconds.

    Where none can stay (no runtime folder of this user's own, a full disk), it is one that ends with the command.
    """
    assert built.python is not None, "nothing is compiled in an env without an interpreter"
    runtime = _runtime_folder()
    if runtime is not None:
        key = _key(built, worker_digest)
        for folder in runtime.glob(f"{key}-*"):
            if server := _connected(folder):
                return server
        try:
            return _started(built, worker, runtime / f"{key}-{secrets.token_hex(4)}", idle_timeout)
        except OSError:
            pass
    return OwnServer(built.python, worker=worker)


def kept() -> list[Kept]:
    """The servers of this user that have stayed, by env. Asks none of them, so that looking does not make them stay."""
    runtime = _runtime_folder()
    found = (_looked_at(folder) for folder in (runtime.iterdir() if runtime else ()))
    return sorted((each for each in found if each), key=lambda each: (each.env, each.pid))


def stop() -> int:
    """Tell every server of this user to end, those in use when they are done. Returns how many were told."""
    runtime = _runtime_folder()
    told = 0
    for folder in runtime.iterdir() if runtime else ():
        if server := _connected(folder):
            with server:
                server.dismiss()
                told += 1
    return told


# --- finding and starting ----------------------------------------------------------------------------------------------------


def _key(built: BuiltEnv, worker_digest: str) -> str:
    facts = [built.python, built.digest, worker_digest, sorted(passed_on().items()), _surroundings()]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _surroundings() -> list[object]:
    """What a process has from the one that started it: limits, cores, priority, and the group that its memory is counted to."""
    limits = [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]
    try:
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        group = ""
    return [limits, sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0), group]


def _runtime_folder() -> Path | None:
    """A folder that only this user can look into; ``None`` where there can be none, or somebody else has made it."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(given if os.path.isdir(given) else tempfile.gettempdir(), f"triton-compat-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return folder if ours else None


def _connected(folder: Path) -> Server | None:
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        control.connect(str(folder / _SOCKET))
    except OSError as error:
        control.close()
        if isinstance(error, ConnectionRefusedError):
            shutil.rmtree(folder, ignore_errors=True)
        return None
    server = Server(control, timeout=_GREETING)
    if server.hello.ready:
        return server
    server.close()
    return None


def _started(built: BuiltEnv, worker: Path, folder: Path, idle_timeout: float) -> Server:
    assert built.python is not None
    making = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(str(making / _SOCKET))
            listening.listen(_BACKLOG)
            making = making.rename(folder)  # before it listens, others would take it for one that a killed server left
            control, far_end = control_pair()
            with far_end:
                descriptors = [str(far_end.fileno()), str(listening.fileno())]
                command = [built.python, "-I", str(worker), str(folder), *descriptors, f"{idle_timeout:g}"]
                process = spawn(command, [far_end, listening], folder, {})
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    server = Server(control)
    if server.hello.ready:
        process.returncode = 0  # it outlives us, and nobody waits for it
        about = {"env": built.env.name, "python": built.python, "pid": server.hello.pid, "version": server.hello.version}
        (folder / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        return server
    server.close()
    server.hello = evolve(server.hello, words=last_words(process, folder))
    process.kill()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
    return server


def _looked_at(folder: Path) -> Kept | None:
    """What is known of the server in a folder, if one is there: a process of that number and in that folder."""
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        if procfs.working_folder(about["pid"]) != str(folder.resolve()):
            return None
        idle = max(0.0, time.time() - folder.stat().st_mtime)
        return Kept(**about, memory=procfs.private_bytes(about["pid"]), idle=idle)
    except (OSError, ValueError, TypeError, KeyError):
        return None
