"""A server for each env that a task comes to: started when first needed, replaced when it has died, let go at the end."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

from compat.engine import kept
from compat.engine.launch import WORKER, OwnServer
from compat.engine.server import Server
from compat.model import BuiltEnv
from compat.store import folder_digest


class Workers:
    """Servers by env, for several threads."""

    def __init__(self, *, worker: Path = WORKER, idle_timeout: float = 0.0) -> None:
        """``idle_timeout`` is for how many seconds a server that was let go waits for the next command; with 0 it ends."""
        self._worker, self._idle_timeout = worker, idle_timeout
        self._servers: dict[str, Server] = {}
        self._locks: dict[str, threading.Lock] = {}

    def of(self, built: BuiltEnv) -> Server:
        """The env's server; one that never became ready is returned as it is, one that has died since is replaced."""
        name = built.env.name
        with self._lock(name):
            server = self._servers.get(name)
            if server is not None and server.hello.ready and not server.alive:
                server.close()
                server = None
            if server is None:
                server = self._servers[name] = self._new(built)
            return server

    def _new(self, built: BuiltEnv) -> Server:
        assert built.python is not None, "an env without an interpreter is broken, and nothing is compiled in a broken env"
        if self._idle_timeout > 0:
            return kept.borrow(built, self._worker, folder_digest(self._worker), self._idle_timeout)
        return OwnServer(built.python, worker=self._worker)

    def release(self, name: str) -> None:
        """Let an env's server go."""
        with self._lock(name):
            if server := self._servers.pop(name, None):
                server.close()

    def close(self) -> None:
        """Let all of them go."""
        for name in list(self._servers):
            self.release(name)

    def _lock(self, name: str) -> threading.Lock:
        """One lock for each env: while one server starts, others can."""
        return self._locks.setdefault(name, threading.Lock())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
