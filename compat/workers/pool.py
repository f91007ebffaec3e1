"""One worker for each env, started when first needed and replaced when it dies; some stay.

A user who edits a kernel and repeats a command needs the same envs. Importing a toolchain takes
longer than compiling a small kernel. A worker that stays when a command ends costs 20 to 30 MB and
no CPU time.
It ends by itself if no driver has come for a while, if a file that it has loaded is changed, or on
request (:func:`stop_resident_workers`).

Each worker has its own folder in the user's runtime folder. The folder's name is a key over
everything that the worker's answers depend on. The folder contains ``socket``, where drivers
connect, ``about.json`` and ``output``. If no process listens on the socket, the folder is left from
a killed worker, and is removed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import resource
import secrets
import shutil
import socket
import stat
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from compat import interruption, toolchains
from compat.errors import MachineError, is_refusal
from compat.files import (
    Closing,
    claim_folder,
    content_of,
    folder_digest,
    release_folder,
    remove_folder,
)
from compat.model import BuiltEnv
from compat.processes import supervisor
from compat.text import read_json
from compat.toolchains.base import Toolchain
from compat.workers.attempt import PreloadedPackage
from compat.workers.client import WorkerClient, WorkerGone
from compat.workers.spawn import (
    STANDIN,
    WORKER,
    ForkedWorker,
    OwnWorker,
    control_pair,
    last_output,
    spawn,
    visible_variables,
)

_log = logging.getLogger(__name__)

_GREETING = 5.0
"""Seconds that a waiting worker may take to answer. The driver ignores a slower one."""
_BACKLOG = 16
_STOPPED = ("T", "t")
_SOCKET, _ABOUT = "socket", "about.json"
_LARGEST_ABOUT = 64 * 1024


@frozen(kw_only=True)
class ResidentWorker:
    """A worker that has stayed."""

    env: str
    toolchain: str
    version: str
    """The version of its toolchain."""
    python: str
    pid: int
    memory: int
    """Bytes without pages of files, which the system could drop."""
    idle: float
    """Seconds since a driver last left it."""


@frozen(kw_only=True)
class StopResult:
    """The numbers of workers that ended on request, and of workers that were killed."""

    stopped: int
    """The number of workers that got the request."""
    killed: int
    """The number of workers that did not answer."""


def borrow(built: BuiltEnv, worker: Path, worker_digest: str, idle_timeout: float) -> WorkerClient:
    """Return a worker of an env that has stayed, or start a new one that will.

    The worker stays until it has been idle for ``idle_timeout`` seconds. If none can stay, the
    worker ends with the command. This happens if this user has no runtime folder, or if the disk is
    full.
    """
    assert built.python is not None, "nothing is compiled in an env without an interpreter"
    toolchain = toolchains.of(built.env)
    runtime = _runtime_folder()
    if runtime is not None:
        key = worker_key(built, toolchain, worker_digest)
        for folder in runtime.glob(f"{key}-*"):
            if client := _connect(folder):
                return client
            if _is_stopped(folder):  # it no longer answers; a merely slow worker is left alone
                _kill_worker(folder)
        try:
            return _start_worker(
                built, worker, runtime / f"{key}-{secrets.token_hex(4)}", idle_timeout
            )
        except (OSError, MachineError) as error:
            _log.info("cannot keep a worker of %s for the next command: %s", built.env.name, error)
    return OwnWorker(built.python, toolchain=toolchain, worker=worker)


def resident_workers() -> list[ResidentWorker]:
    """Return the workers of this user that have stayed, by env.

    No worker is asked, so looking does not make a worker stay.
    """
    runtime = _runtime_folder()
    workers = (_resident_worker(folder) for folder in (runtime.iterdir() if runtime else ()))
    return sorted(
        (worker for worker in workers if worker), key=lambda worker: (worker.env, worker.pid)
    )


def stop_resident_workers() -> StopResult:
    """Tell every worker of this user to end; a busy worker ends when it is done.

    A worker that does not answer is killed.
    """
    runtime = _runtime_folder()
    dismissed, killed = 0, 0
    for folder in runtime.iterdir() if runtime else ():
        if client := _connect(folder):
            with client, suppress(WorkerGone):
                client.dismiss()
                dismissed += 1
        else:
            killed += _kill_worker(folder)
    return StopResult(stopped=dismissed, killed=killed)


# --- finding and starting -------------------------------------------------------------------------


def worker_key(built: BuiltEnv, toolchain: Toolchain, worker_digest: str) -> str:
    """Return what two runs must share to use the same worker."""
    code = [worker_digest, folder_digest(toolchain.adapter), *map(folder_digest, STANDIN)]
    facts = [
        built.python,
        built.digest,
        code,
        sorted(visible_variables(toolchain).items()),
        _inherited_facts(),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _inherited_facts() -> list[object]:
    """Return what a process inherits: limits, cores, priority, and its memory group."""
    limits = [
        resource.getrlimit(getattr(resource, name))
        for name in dir(resource)
        if name.startswith("RLIMIT_")
    ]
    try:
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        group = ""
    return [limits, sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0), group]


def _runtime_folder() -> Path | None:
    """Return a folder that only this user can read.

    Returns ``None`` if it cannot be made, or if another user has made it.
    """
    xdg_runtime_dir = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(
        xdg_runtime_dir if os.path.isdir(xdg_runtime_dir) else tempfile.gettempdir(),
        f"triton-compat-{os.getuid()}",
    )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    ours = (
        stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    )
    return folder if ours else None


def _connect(folder: Path) -> WorkerClient | None:
    """Return a client of the worker that listens in a folder.

    Returns ``None`` if no worker is there, or if it does not answer in time.
    """
    if _is_stopped(folder):
        return None
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.settimeout(_GREETING)
    try:
        control.connect(str(folder / _SOCKET))
    except OSError as error:
        control.close()
        if isinstance(error, ConnectionRefusedError):
            shutil.rmtree(folder, ignore_errors=True)
        return None
    client = WorkerClient(control, timeout=_GREETING)
    if client.hello.ready:
        return client
    client.close()
    return None


def _is_stopped(folder: Path) -> bool:
    """Whether the process of a folder's worker is stopped. It would connect and never answer."""
    about = _resident_worker(folder)
    return about is not None and supervisor.state(about.pid) in _STOPPED


def _kill_worker(folder: Path) -> bool:
    """Kill the unresponsive worker of a folder, and everything that it does for drivers.

    Returns whether it was still there.
    """
    pids = supervisor.inside(folder.resolve())
    for pid in pids:
        supervisor.end_family(pid)
    shutil.rmtree(folder, ignore_errors=True)
    return bool(pids)


def _start_worker(built: BuiltEnv, worker: Path, folder: Path, idle_timeout: float) -> WorkerClient:
    """Start a new worker in this folder.

    Raises OSError if none can be started, or none can stay there. Nothing is left in that case.
    """
    making = folder.with_name(f".new-{folder.name}")
    for path in (making, folder):
        claim_folder(path)
    try:
        client = _spawn_worker(built, worker, making, folder, idle_timeout)
    except BaseException:
        for path in (making, folder):
            remove_folder(path)
        raise
    release_folder(making)
    if client.hello.ready:
        release_folder(folder)
    else:
        remove_folder(folder)
    return client


def _spawn_worker(
    built: BuiltEnv, worker: Path, making: Path, folder: Path, idle_timeout: float
) -> WorkerClient:
    assert built.python is not None
    making.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(making / _SOCKET))
        listening.listen(_BACKLOG)
        # Other processes would mistake a folder without a listener for that of a killed worker.
        making.rename(folder)
        control, far_end = control_pair()
        with far_end:
            toolchain = toolchains.of(built.env)
            arguments = [
                str(folder),
                str(far_end.fileno()),
                str(toolchain.adapter),
                str(listening.fileno()),
                f"{idle_timeout:g}",
            ]
            process = spawn(
                [built.python, "-I", str(worker), *arguments],
                [far_end, listening],
                folder,
                toolchain,
                {},
            )
    try:
        client = WorkerClient(control)
        if client.hello.ready:
            about = {
                "env": built.env.name,
                "toolchain": toolchain.name,
                "python": built.python,
                "pid": client.hello.pid,
                "version": client.hello.version,
            }
            (folder / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
            process.detach()
            return client
    except BaseException:
        process.end()
        raise
    client.close()
    client.hello = evolve(client.hello, output=last_output(process, folder))
    process.end()
    return client


def _resident_worker(folder: Path) -> ResidentWorker | None:
    """Return a description of the worker in a folder.

    Returns ``None`` unless the process with the recorded process id works in the folder.
    """
    try:
        about = read_json(content_of(folder / _ABOUT, _LARGEST_ABOUT) or b"")
        if supervisor.working_folder(about["pid"]) != str(folder.resolve()):
            return None
        idle = max(0.0, time.time() - folder.stat().st_mtime)
        return ResidentWorker(**about, memory=supervisor.private_bytes(about["pid"]), idle=idle)
    except (OSError, ValueError, TypeError, KeyError):
        return None


# --- workers of a task ----------------------------------------------------------------------------

_UNUSED = 8
"""The number of unused forked workers that stay. One of a large library takes some 100 MB."""
_COMPILING, _INTERPRETING = "compiling", "interpreting"
_Purpose = tuple[str, PreloadedPackage | str]
"""An env by its name, and the work of its worker: it compiles any cell, or kernels of a package, or
it interprets.
"""


class WorkerPool(Closing):
    """Workers by env and by purpose. Several threads may use it."""

    def __init__(self, *, worker: Path = WORKER, idle_timeout: float = 0.0) -> None:
        """Make an empty pool.

        ``idle_timeout`` is how many seconds a worker waits for the next command after its release.
        With 0 it ends.
        """
        self._worker, self._idle_timeout = worker, idle_timeout
        # Slots add clients at any time, so every loop is over a copy.
        self._clients: dict[_Purpose, WorkerClient] = {}
        self._locks: dict[_Purpose, threading.Lock] = {}
        """A lock for each purpose, so that several workers can start at the same time."""
        self._uses: Counter[_Purpose] = Counter()
        """The uses of workers that have imported a package, and of those that forked them."""
        self._guard = threading.Lock()

    def of(self, built: BuiltEnv) -> WorkerClient:
        """Return the env's worker.

        A worker that never became ready is returned as it is. A worker that has died since is
        replaced. Raises Stopped if everything must end, and MachineError if the machine does not
        let a worker start.
        """
        return self._client(built, _COMPILING, lambda: self._new(built))

    @contextmanager
    def lend(self, built: BuiltEnv, package: PreloadedPackage | None) -> Iterator[WorkerClient]:
        """Lend a worker of the env that has imported a package. It stays until the block ends.

        It is the env's own worker if ``package`` is ``None``. If the import of the package fails,
        it is the worker of the package around it, or else the env's own worker. Raises what
        :meth:`of` raises.
        """
        if package is None:
            yield self.of(built)
            return
        purposes = [(built.env.name, preloaded) for preloaded in package.with_outer]
        with self._guard:
            self._uses.update(purposes)
            for purpose in purposes:  # the order is from the least to the most recently used
                if purpose in self._clients:
                    self._clients[purpose] = self._clients.pop(purpose)
        try:
            yield self._preloaded_worker(built, package)
        finally:
            with self._guard:
                self._uses.subtract(purposes)
                surplus = self._take_surplus()
            for client in surplus:
                client.close()

    def _preloaded_worker(self, built: BuiltEnv, package: PreloadedPackage) -> WorkerClient:
        client = self._client(built, package, lambda: self._new_preloaded(built, package))
        if client.hello.ready:
            return client
        return self._preloaded_worker(built, package.outer) if package.outer else self.of(built)

    def _new_preloaded(self, built: BuiltEnv, package: PreloadedPackage) -> WorkerClient:
        outer = package.outer
        return ForkedWorker(
            self._preloaded_worker(built, outer) if outer else self.of(built), package
        )

    def _take_surplus(self) -> list[WorkerClient]:
        """Remove and return the unused forked workers, except the most recently used ones.

        A worker ends with the one that it was forked from, so the latter counts as used.
        """
        needed = {
            (env, package.outer)
            for env, package in list(self._clients)
            if isinstance(package, PreloadedPackage)
        }
        unused = [
            purpose
            for purpose in list(self._clients)
            if isinstance(purpose[1], PreloadedPackage)
            and purpose[1].outer
            and not self._uses[purpose]
            and purpose not in needed
        ]
        return [self._clients.pop(purpose) for purpose in unused[: max(0, len(unused) - _UNUSED)]]

    def interpreter(self, built: BuiltEnv) -> WorkerClient:
        """Return a worker of the env that runs kernels in its toolchain's interpreter.

        Raises what :meth:`of` raises.
        """
        return self._client(built, _INTERPRETING, lambda: self._own_worker(built, interprets=True))

    def _client(
        self, built: BuiltEnv, use: PreloadedPackage | str, start: Callable[[], WorkerClient]
    ) -> WorkerClient:
        interruption.check()
        purpose = built.env.name, use
        name = f"worker of {built.env.name} for {use if isinstance(use, str) else use.name}"
        with self._locks.setdefault(purpose, threading.Lock()):
            client = self._clients.get(purpose)
            if client is not None and client.hello.ready and not client.alive:
                _log.info("the %s died; starting another", name)
                client.close()
                client = None
            if client is None:
                client = self._clients[purpose] = _try_to_start(start)
                _log.info(
                    "%s: pid %s, %s",
                    name,
                    client.hello.pid,
                    f"ready after {client.hello.seconds:.1f} s"
                    if client.hello.ready
                    else "not ready",
                )
            return client

    def _new(self, built: BuiltEnv) -> WorkerClient:
        if self._idle_timeout > 0:
            return borrow(built, self._worker, folder_digest(self._worker), self._idle_timeout)
        return self._own_worker(built)

    def _own_worker(self, built: BuiltEnv, **facts: Any) -> WorkerClient:
        assert built.python is not None, (
            "an env without an interpreter is broken, and nothing is compiled in a broken env"
        )
        return OwnWorker(
            built.python, toolchain=toolchains.of(built.env), worker=self._worker, **facts
        )

    def release(self, name: str) -> None:
        """Release the workers of an env."""
        for purpose in [purpose for purpose in list(self._clients) if purpose[0] == name]:
            with self._locks[purpose]:
                if client := self._clients.pop(purpose, None):
                    client.close()

    def close(self) -> None:
        """Release all workers."""
        for name in {name for name, _ in list(self._clients)}:
            self.release(name)


def _try_to_start(start: Callable[[], WorkerClient]) -> WorkerClient:
    """Return a new worker, or one that never became ready if its interpreter cannot be started.

    Raises what :meth:`WorkerPool.of` raises.
    """
    try:
        return start()
    except OSError as error:
        if is_refusal(error):
            raise MachineError.of(error) from error
        control, far_end = control_pair()
        far_end.close()
        client = WorkerClient(control)
        output = f"cannot start {error.filename}: {error.strerror}"
        client.hello = evolve(client.hello, output=output)
        return client
