"""The driver's end of a worker that serves. The other side of :mod:`compat.worker`'s contract, which is written down there."""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from attrs import frozen

from compat import interruption
from compat.diagnosis import bounds
from compat.model import Raised
from compat.workers.messages import json_object, pid_of

READY_DEADLINE = 180.0
"""Seconds a worker may take to import its toolchain; the first import of a fresh env reads gigabytes from disk."""
_SEND_DEADLINE = 10.0
"""Seconds a worker may take to make room for a request: it only forks, and does nothing that takes long."""
_TICK = 0.1


class WorkerGone(Exception):
    """The worker has ended, or no longer takes requests."""


_VERSION = 200
"""Characters of the version that a toolchain says it has."""


@frozen(kw_only=True)
class Hello:
    """What a server said when it was ready, or why it never will be."""

    ready: bool
    version: str = ""
    pid: int = 0
    seconds: float = 0.0
    """How long importing took."""
    threads: int = 1
    """Threads in the server; forking is only safe with one."""
    raised: tuple[Raised, ...] = ()
    words: str = ""
    """What it printed, where it did not become ready."""


class WorkerClient:
    """A control socket with a worker at its other end. May be used from several threads; closing it ends all that was asked for."""

    def __init__(self, control: socket.socket, timeout: float = READY_DEADLINE) -> None:
        """Wait for the worker's hello, for ``timeout`` seconds at most."""
        self._control = control
        self._lock = threading.Lock()
        try:
            self.hello = self._await_hello(timeout)
        except BaseException:
            control.close()
            raise

    def _await_hello(self, timeout: float) -> Hello:
        """What it says first. Raises :class:`compat.interruption.Stopped` where the command is to end meanwhile."""
        try:
            message = json_object(self._first_packet(timeout))
        except TimeoutError:
            message = {"raised": [{"type": "TimeoutError", "message": f"not ready after {timeout:g} s"}]}
        except OSError:
            message = {}
        self._control.settimeout(_SEND_DEADLINE)
        if message.get("event") != "ready":
            return Hello(ready=False, raised=bounds.raised(message.get("raised")))
        numbers = bounds.stages(message)
        return Hello(
            ready=True,
            version=str(message.get("version", ""))[:_VERSION],
            pid=pid_of(message) or 0,
            seconds=numbers.get("seconds", 0.0),
            threads=int(numbers.get("threads", 1)),
        )

    def _first_packet(self, timeout: float) -> bytes:
        self._control.settimeout(_TICK)
        give_up = time.monotonic() + timeout
        while True:
            interruption.check()
            try:
                return self._control.recv(1 << 20)
            except TimeoutError:
                if time.monotonic() > give_up:
                    raise

    @property
    def alive(self) -> bool:
        """Whether it still takes requests."""
        if not self.hello.ready:
            return False
        poll = select.poll()
        try:
            poll.register(self._control, select.POLLIN)
            return not poll.poll(0) or bool(self._control.recv(1, socket.MSG_PEEK))
        except (OSError, ValueError):  # closed
            return False

    def fork(self, directory: Path, jobs: int, events: int, output: int, exit_pipe: int) -> None:
        """Have a child forked that runs a batch, with this private directory and these file descriptors (see the contract).

        Raises WorkerGone where there is nobody to ask.
        """
        descriptors = array.array("i", [jobs, events, output, exit_pipe])
        self._send({"do": "batch", "directory": str(directory)}, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])

    def dismiss(self) -> None:
        """Tell a server that stays for others not to. Raises WorkerGone where there is nobody to tell."""
        self._send({"do": "leave"})

    def _send(self, message: Mapping[str, str], ancillary: list[tuple[int, int, Any]] | None = None) -> None:
        try:
            with self._lock:
                self._control.sendmsg([json.dumps(message).encode()], ancillary or [])
        except OSError as error:
            raise WorkerGone(str(error)) from error

    def kill(self) -> None:
        """End a worker that no longer does anything, and with it what it does for anybody."""
        if self.hello.pid and self.alive:  # while its end of the socket is open, that number is nobody else's
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.hello.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let go of the worker, which ends what it does for us, and itself if it stays for nobody else."""
        self._control.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
