"""The driver's ends of a worker and of the children that it forks.

:mod:`compat.worker` has the contract. This module also parses incoming messages: lines of limited
length, objects, and the parts of an answer. Kernels and compilers can write where the worker
writes, and so corrupt its messages. No function that reads a message raises because of that.
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import define, field, frozen

from compat import interruption
from compat.errors import MachineError
from compat.files import Closing, TemporaryFolder, read_ends
from compat.model import RaisedException
from compat.model.evidence import (
    read_done,
    read_metrics,
    read_paths,
    read_raised,
    read_stages,
    read_stood_in,
    read_warnings,
)
from compat.text import WIDTH_LIMIT, JsonMapping, JsonObject, read_json
from compat.workers.attempt import NOWHERE_ELSE, Mode, Places

READY_DEADLINE = 180.0
"""Seconds a worker may take to import its toolchain; the first import of a fresh env reads
gigabytes from disk.
"""
_SEND_DEADLINE = 10.0
"""Seconds a worker may take to make room for a request: it only forks, and does nothing that takes
long.
"""
_TICK = 0.1


class WorkerGone(Exception):
    """The worker has ended, or no longer takes requests."""


_VERSION = 200
"""The most characters of the version that a toolchain reports."""


@frozen(kw_only=True)
class Hello:
    """The message of a server that is ready, or the reason why it never will be."""

    ready: bool
    version: str = ""
    pid: int = 0
    seconds: float = 0.0
    """The duration of the import."""
    threads: int = 1
    """Threads in the server; forking is only safe with one."""
    raised: tuple[RaisedException, ...] = ()
    output: str = ""
    """The output of a worker that did not become ready."""


class WorkerClient(Closing):
    """A control socket with a worker at its other end.

    Several threads may use it. Closing it ends everything that was requested through it.
    """

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
        """Return the worker's first message.

        Raises :class:`compat.interruption.Stopped` if the command must end meanwhile.
        """
        try:
            message = json_object(self._first_packet(timeout))
        except TimeoutError:
            message = {
                "raised": [{"type": "TimeoutError", "message": f"not ready after {timeout:g} s"}]
            }
        except OSError:
            message = {}
        self._control.settimeout(_SEND_DEADLINE)
        if message.get("event") != "ready":
            return Hello(ready=False, raised=read_raised(message.get("raised")))
        numbers = read_stages(message)
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
        """Whether the worker still takes requests."""
        if not self.hello.ready:
            return False
        poll = select.poll()
        try:
            poll.register(self._control, select.POLLIN)
            return not poll.poll(0) or bool(self._control.recv(1, socket.MSG_PEEK))
        except (OSError, ValueError):  # closed
            return False

    def fork(self, directory: Path, jobs: int, events: int, output: int, exit_pipe: int) -> None:
        """Ask for a child that runs a batch, with this private directory.

        The other arguments are file descriptors, as in the contract. Raises WorkerGone if the
        worker is gone.
        """
        descriptors = array.array("i", [jobs, events, output, exit_pipe])
        self._send(
            {"do": "batch", "directory": str(directory)},
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)],
        )

    def fork_server(self, directory: Path, package: JsonObject, control: socket.socket) -> None:
        """Ask for a worker that imports one more package, at the other end of this socket.

        Raises WorkerGone if the worker is gone.
        """
        descriptors = array.array("i", [control.fileno()])
        self._send(
            {"do": "serve", "directory": str(directory), "package": package},
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)],
        )

    def end_server(self, directory: Path) -> None:
        """End the worker that was forked with this private directory, and all that it does.

        Raises WorkerGone if the worker is gone.
        """
        self._send({"do": "end", "directory": str(directory)})

    def dismiss(self) -> None:
        """Tell a server that stays for other drivers to end instead.

        Raises WorkerGone if the worker is gone.
        """
        self._send({"do": "leave"})

    def _send(
        self, message: JsonMapping, ancillary: list[tuple[int, int, array.array[int]]] | None = None
    ) -> None:
        try:
            with self._lock:
                self._control.sendmsg([json.dumps(message).encode()], ancillary or [])
        except OSError as error:
            raise WorkerGone(str(error)) from error

    def kill(self) -> None:
        """Kill a worker that no longer responds, and with it all that it does for any driver."""
        # While the worker's end of the socket is open, no other process has its process id.
        if self.hello.pid and self.alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.hello.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the connection to the worker.

        This ends everything that the worker does for this driver. The worker itself ends unless it
        stays for other drivers.
        """
        self._control.close()


LINE_LIMIT = 4 * 1024 * 1024
"""The most bytes of one message. The worker's messages are far shorter."""
_OFFSETS = 1 << 62
_NAME, _FEW = 100, 10


@define
class Lines:
    """Assembles whole lines from the pieces that come through a pipe."""

    _pieces: list[bytes] = field(factory=list)
    _length: int = 0
    overlong: int = 0
    """Lines that were longer than :data:`LINE_LIMIT`, and are left out."""
    _dropping: bool = False

    def add(self, data: bytes) -> list[bytes]:
        """Add data from the pipe, and return the lines that end in it."""
        first, *more = data.split(b"\n")
        lines: list[bytes] = []
        for piece in more:
            self._hold(first)
            if not self._dropping:
                lines.append(b"".join(self._pieces))
            self._pieces, self._length, self._dropping = [], 0, False
            first = piece
        self._hold(first)
        return lines

    @property
    def unfinished(self) -> bool:
        """Whether a line has begun and not ended."""
        return self._length > 0 or self._dropping

    def _hold(self, piece: bytes) -> None:
        if self._dropping:
            return
        self._length += len(piece)
        if self._length > LINE_LIMIT:
            self.overlong += 1
            self._pieces, self._length, self._dropping = [], 0, True
        elif piece:
            self._pieces.append(piece)


def json_object(line: bytes) -> dict[str, object]:
    """Return the JSON object on a line, or an empty one if there is none."""
    try:
        message = read_json(line, lenient=True)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def answer_of(message: Mapping[str, object]) -> tuple[JsonObject, int] | None:
    """Return the answer in a ``done`` event, or ``None`` if the event is malformed.

    It has fields of :class:`compat.model.Evidence`, and the offset in the output file at which the
    cell's own output ends. Malformed details are left out.
    """
    done, end = read_done(message.get("actions")), offset(message.get("output"))
    if done is None or end is None:
        return None
    if not isinstance(message.get("stages"), dict) or not isinstance(message.get("warnings"), list):
        return None
    facts: JsonObject = {
        "done": done,
        "raised": read_raised(message.get("raised")),
        "stages": read_stages(message["stages"]),
        "metrics": read_metrics(message.get("metrics")),
        "warnings": read_warnings(message["warnings"]),
        "imported": read_paths(message.get("imported")),
        "stood_in": read_stood_in(message.get("stood_in")),
        "at": _place(message.get("at")),
    }
    return facts, end


def _place(location: object) -> str | None:
    """Return ``{"path", "line"}`` as ``path:number``, or ``None`` if it has another form."""
    path, number = (
        (location.get("path"), location.get("line"))
        if isinstance(location, Mapping)
        else (None, None)
    )
    is_valid = isinstance(path, str) and len(path) <= WIDTH_LIMIT and offset(number) is not None
    return f"{path}:{number}" if is_valid else None


def names(value: object) -> list[str]:
    """Return the strings among the first few values of a list, cut to a limited length."""
    items = value[:_FEW] if isinstance(value, list) else ()
    return [name[:_NAME] for name in items if isinstance(name, str)]


def offset(value: object) -> int | None:
    """Return a value that can be an offset in a file, or ``None``."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _OFFSETS:
        return value
    return None


def ending_of(message: dict[str, object]) -> dict[str, object]:
    """Return how a child ended: an exit code or the name of a signal.

    The result is empty if the message has neither.
    """
    code, signal = message.get("exit_code"), message.get("signal")
    if isinstance(signal, str):
        return {"signal": signal}
    return {"exit_code": code} if isinstance(code, int) and abs(code) < 1 << 31 else {}


def pid_of(message: dict[str, object]) -> int | None:
    """Return the child's process id; never a number that means a group or all processes."""
    pid = message.get("pid")
    return pid if isinstance(pid, int) and not isinstance(pid, bool) and 1 < pid < 1 << 31 else None


class Child:
    """The driver's ends of one forked child: its pipes, its output and its private directory."""

    def __init__(
        self,
        server: WorkerClient,
        jobs: Sequence[Mapping[str, object]],
        *,
        mode: Mode,
        places: Places = NOWHERE_ELSE,
    ) -> None:
        """Ask the server for a child that runs these jobs.

        Raises MachineError if the machine has no room for the child's files, or allows no more open
        files.
        """
        self._open: list[int] = []
        self._private = TemporaryFolder("compat-batch-")
        self.directory = self._private.path
        request = {
            "directory": str(self.directory),
            "diagnose": mode.diagnose,
            "variables": dict(mode.variables),
            "hidden": list(mode.hidden_packages),
            "places": list(places.pairs),
            "jobs": list(jobs),
        }
        try:
            self._give(mode.action_files)
            self._begin(server, json.dumps(request))
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise MachineError.of(error, where=str(self.directory.parent)) from error
            raise

    def _give(self, files: Mapping[str, bytes]) -> None:
        """Write the files that actions name into the folder in which the worker expects them."""
        for name, data in files.items():
            path = self.directory / "given" / Path(name).name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)

    def _begin(self, server: WorkerClient, request: str) -> None:
        jobs = self.directory / "jobs.json"
        jobs.write_text(request, encoding="utf-8")
        self.output = self._remember_descriptor(
            os.open(self.directory / "output", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        )
        self.events, events = map(self._remember_descriptor, os.pipe())
        self.exit, exit_pipe = map(self._remember_descriptor, os.pipe())
        os.set_blocking(self.events, False)
        jobs_file = self._remember_descriptor(os.open(jobs, os.O_RDONLY))
        with suppress(WorkerGone):  # closing our copies then ends both pipes, which shows it
            server.fork(self.directory, jobs_file, events, self.output, exit_pipe)
        for fd in (jobs_file, events, exit_pipe):
            os.close(fd)
            self._open.remove(fd)

    def _remember_descriptor(self, fd: int) -> int:
        self._open.append(fd)
        return fd

    def read_output(self, start: int, end: int | None, limit: int, heading: str = "") -> str:
        """Return what was printed between two offsets.

        If this is more than ``limit`` bytes, only the beginning and the end are returned
        (:func:`read_ends`).
        """
        return read_ends(self.output, start, end, limit, heading)

    def close(self) -> None:
        """Close the pipes and remove the directory. The child must have ended."""
        while self._open:
            os.close(self._open.pop())
        self._private.close()
