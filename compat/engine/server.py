"""The driver's end of a worker that serves. The other side of :mod:`compat.worker`'s contract, which is written down there."""

from __future__ import annotations

import array
import json
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from attrs import frozen

READY_DEADLINE = 180.0
"""Seconds a worker may take to import its toolchain; the first import of a fresh env reads gigabytes from disk."""


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
    raised: tuple[Mapping[str, str], ...] = ()
    words: str = ""
    """What it printed, where it did not become ready."""


class Server:
    """A control socket with a worker at its other end. May be used from several threads; closing it ends all that was asked for."""

    def __init__(self, control: socket.socket, timeout: float = READY_DEADLINE) -> None:
        """Wait for the worker's hello, for ``timeout`` seconds at most."""
        self._control = control
        self._lock = threading.Lock()
        self.hello = self._await_hello(timeout)

    def _await_hello(self, timeout: float) -> Hello:
        self._control.settimeout(timeout)
        try:
            packet = self._control.recv(1 << 20)
            message = json.loads(packet) if packet else {}
        except TimeoutError:
            message = {"raised": [{"type": "TimeoutError", "message": f"not ready after {timeout:g} s"}]}
        except (OSError, ValueError):
            message = {}
        self._control.settimeout(None)
        if not isinstance(message, dict):
            message = {}
        if message.get("event") != "ready":
            return Hello(ready=False, raised=tuple(message.get("raised", ())))
        return Hello(
            ready=True,
            version=str(message.get("version", "")),
            pid=int(message.get("pid", 0)),
            seconds=float(message.get("seconds", 0.0)),
            threads=int(message.get("threads", 1)),
        )

    @property
    def alive(self) -> bool:
        """Whether it still takes requests."""
        if not self.hello.ready:
            return False
        try:
            return bool(self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def fork(self, directory: Path, jobs: int, events: int, output: int, exit_pipe: int) -> None:
        """Have a child forked that runs a batch, with this private directory and these file descriptors (see the contract).

        Raises ``OSError`` when the server is gone.
        """
        descriptors = array.array("i", [jobs, events, output, exit_pipe])
        self._send({"do": "batch", "directory": str(directory)}, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])

    def dismiss(self) -> None:
        """Tell a server that stays for others not to. Raises ``OSError`` when it is gone."""
        self._send({"do": "leave"})

    def _send(self, message: Mapping[str, str], ancillary: list[tuple[int, int, Any]] | None = None) -> None:
        with self._lock:
            self._control.sendmsg([json.dumps(message).encode()], ancillary or [])

    def close(self) -> None:
        """Let go of the worker, which ends what it does for us, and itself if it stays for nobody else."""
        self._control.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
