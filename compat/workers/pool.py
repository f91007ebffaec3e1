"""A worker for each env that a task comes to: started when first needed, replaced when it has died, let go at the end."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Self

from compat import interruption, toolchains
from compat.files import folder_digest
from compat.model import BuiltEnv
from compat.workers import resident
from compat.workers.attempt import PreloadedPackage
from compat.workers.client import WorkerClient
from compat.workers.spawn import WORKER, OwnWorker

_log = logging.getLogger(__name__)


class WorkerPool:
    """Workers by env, for several threads."""

    def __init__(self, *, worker: Path = WORKER, idle_timeout: float = 0.0) -> None:
        """``idle_timeout`` is for how many seconds a worker that was let go waits for the next command; with 0 it ends."""
        self._worker, self._idle_timeout = worker, idle_timeout
        self._clients: dict[str, WorkerClient] = {}
        self._begun: dict[tuple[str, PreloadedPackage], WorkerClient] = {}
        """Those that have imported a package."""
        self._interpreters: dict[str, WorkerClient] = {}
        """Those that run kernels instead of compiling them."""
        self._locks: dict[str, threading.Lock] = {}

    def of(self, built: BuiltEnv) -> WorkerClient:
        """The env's worker; one that never became ready is returned as it is, one that has died since is replaced.

        Raises Stopped where everything is to end, and MachineError where the machine does not let one start.
        """
        interruption.check()
        name = built.env.name
        with self._lock(name):
            client = self._clients.get(name)
            if client is not None and client.hello.ready and not client.alive:
                _log.info("the worker of %s has died, and is replaced", name)
                client.close()
                client = None
            if client is None:
                client = self._clients[name] = self._new(built)
                _log.info("worker of %s: pid %s, %s", name, client.hello.pid, "ready" if client.hello.ready else "not ready")
            return client

    def begun(self, built: BuiltEnv, beginning: PreloadedPackage | None) -> WorkerClient:
        """A worker of the env that has imported a package; the env's own where there is none, or where importing it fails.

        Raises what :meth:`of` does.
        """
        if beginning is None:
            return self.of(built)
        with self._lock(f"{built.env.name} {beginning}"):
            client = self._begun.get((built.env.name, beginning))
            if client is None or (client.hello.ready and not client.alive):
                interruption.check()
                assert built.python is not None
                client = OwnWorker(built.python, toolchain=toolchains.of(built.env), worker=self._worker, beginning=beginning)
                self._begun[built.env.name, beginning] = client
                _log.info("worker of %s for %s: %s", built.env.name, beginning.name, "ready" if client.hello.ready else "not ready")
        return client if client.hello.ready else self.of(built)

    def interpreter(self, built: BuiltEnv) -> WorkerClient:
        """A worker of the env that runs kernels in its toolchain's interpreter. Raises what :meth:`of` does."""
        interruption.check()
        name = built.env.name
        with self._lock(f"{name} interpreter"):
            client = self._interpreters.get(name)
            if client is not None and client.hello.ready and not client.alive:
                client.close()
                client = None
            if client is None:
                assert built.python is not None
                toolchain = toolchains.of(built.env)
                client = OwnWorker(built.python, toolchain=toolchain, worker=self._worker, interprets=True)
                self._interpreters[name] = client
                _log.info("interpreter of %s: %s", name, "ready" if client.hello.ready else "not ready")
            return client

    def _new(self, built: BuiltEnv) -> WorkerClient:
        assert built.python is not None, "an env without an interpreter is broken, and nothing is compiled in a broken env"
        if self._idle_timeout > 0:
            return resident.borrow(built, self._worker, folder_digest(self._worker), self._idle_timeout)
        return OwnWorker(built.python, toolchain=toolchains.of(built.env), worker=self._worker)

    def release(self, name: str) -> None:
        """Let an env's worker go."""
        with self._lock(name):
            if client := self._clients.pop(name, None):
                client.close()
        for env, beginning in [key for key in self._begun if key[0] == name]:
            self._begun.pop((env, beginning)).close()
        with self._lock(f"{name} interpreter"):
            if client := self._interpreters.pop(name, None):
                client.close()

    def close(self) -> None:
        """Let all of them go."""
        for name in {*self._clients, *self._interpreters, *(env for env, _ in self._begun)}:
            self.release(name)

    def _lock(self, name: str) -> threading.Lock:
        """One lock for each env: while one worker starts, others can."""
        return self._locks.setdefault(name, threading.Lock())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
