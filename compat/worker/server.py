"""The server: import the toolchain once, then fork a child per batch.

A fork costs milliseconds, while a new process would import the toolchain again. The server itself
never compiles anything, so a kernel cannot affect the next batch or the next driver.

A server can also fork another server, which imports one more package of a library. So servers form
a tree like the packages, and each package is imported once.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import platform
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import Any, Callable, NamedTuple, NoReturn

from . import adapter
from .batch import run as run_batch
from .descendants import adopt_orphans, children, end_children
from .exceptions import exception_chain
from .imports import Beginning, LoadedFiles, check_threads

_PR_SET_PDEATHSIG = 1
_FILES_OF_BATCH = 4
"""The number of file descriptors that come with a request for a batch."""
_LARGEST_REQUEST = 64 * 1024
_FAILED = 70
"""Exit code of a child that could not do its work, whatever its cells."""
_LEFTOVERS_AGAIN = 0.5
"""Seconds between two attempts to end processes that could not be killed."""


def main(arguments: list[str]) -> int:
    """Serve until no driver is left.

    ``arguments`` is ``[FOLDER, CONTROL_FD, ADAPTER]``, optionally followed by ``LISTEN_FD,
    SECONDS``, or by ``interpret``.
    """
    folder, control_fd, toolchain_folder, *others = arguments
    stay = others if len(others) == 2 else []
    control, *listening = [socket.socket(fileno=int(fd)) for fd in (control_fd, *stay[:1])]
    for sock in (control, *listening):
        sock.set_inheritable(False)
    _die_with_parent(signal.SIGKILL)  # an import can hang

    def load() -> tuple[adapter.Adapter, Beginning]:
        adapter.load_standin()
        toolchain = adapter.load(toolchain_folder)
        if others == ["interpret"]:
            toolchain.begin_interpreting()  # the driver never asks a toolchain without interpreter
            adapter.load_numerics()
            check_threads("making the interpreter ready")
        return toolchain, Beginning()

    server = _new_server(load, control, folder)
    if server is None:
        return 1
    # From here on the end of the socket shows that the driver is gone, and leaves time to kill
    # descendants.
    _die_with_parent(0)
    if listening:
        server.keep_alive(listening[0], float(stay[1]))
    server.greet(control)
    server.serve()
    return 0


def _new_server(
    load: Callable[[], tuple[adapter.Adapter, Beginning]], control: socket.socket, folder: str
) -> Server | None:
    """Return a server with what ``load`` imports.

    If the import fails, send the driver the reason and return ``None``.
    """
    started = time.monotonic()
    gc.disable()  # garbage collection takes a tenth of the import's time
    try:
        toolchain, beginning = load()
    except BaseException as error:
        _send(control, {"event": "broken", "raised": exception_chain(error, links=8, letters=4000)})
        return None
    ready = {
        "event": "ready",
        "toolchain": toolchain.name,
        "version": toolchain.version,
        "python": platform.python_version(),
        "pid": os.getpid(),
        "threads": len(os.listdir("/proc/self/task")),
        "seconds": time.monotonic() - started,
    }
    gc.freeze()  # these objects stay, and children share their memory until something writes to it
    gc.enable()
    adopt_orphans()
    return Server(toolchain, ready, beginning, folder=folder)


class ServedChild(NamedTuple):
    """A child and its purpose: to run a batch, or to be a server."""

    driver: socket.socket
    """The driver that asked for the child."""
    folder: str
    """The private folder of the child. The driver removes it, unless the driver is gone."""
    exit_pipe: int | None
    """The exit pipe of a batch; ``None`` for a server."""


class Server:
    """Forks children on request and reports how they ended."""

    def __init__(
        self,
        toolchain: adapter.Adapter,
        ready: dict[str, object],
        beginning: Beginning,
        folder: str,
    ) -> None:
        self.toolchain = toolchain
        self.beginning = beginning
        self.ready = ready
        self.folder = folder
        self.drivers: list[socket.socket] = []
        """The control sockets of the connected drivers."""
        self.children: dict[int, ServedChild] = {}
        """Process id → child."""
        self.listening: socket.socket | None = None
        """The socket for further drivers, if the server stays for them."""
        self.idle_timeout = 0.0
        self.loaded: LoadedFiles | None = None
        self.own = frozenset(children())
        """Processes that the import of the toolchain has started."""
        self.leftovers = False
        """Whether a process that a batch has started is still there."""

    def keep_alive(self, listening: socket.socket, idle_timeout: float) -> None:
        """Accept further drivers on this socket.

        Stop when none has been connected for ``idle_timeout`` seconds.
        """
        self.listening, self.idle_timeout = listening, idle_timeout
        self.loaded = LoadedFiles(self.toolchain.files())

    def greet(self, driver: socket.socket) -> None:
        """Accept a driver, unless a loaded file has changed."""
        driver.set_inheritable(False)
        if self.loaded is not None and self.loaded.have_changed():
            _send(driver, {"event": "stale"})
            driver.close()
            self.leave()
        else:
            self.drivers.append(driver)
            _send(driver, self.ready)

    def leave(self) -> None:
        """Accept no more drivers, and end with the last connected one."""
        if self.listening is not None:
            self.listening.close()
            self.listening = None
            shutil.rmtree(self.folder, ignore_errors=True)  # now, so that no driver finds it

    def serve(self) -> None:
        """Serve requests until no driver and no child is left, and no driver can connect.

        ``folder`` is removed afterwards.
        """
        wake, woken = os.pipe()
        for fd in (wake, woken):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        while self.drivers or self.listening or self.children:
            watched: list[Any] = [wake, *self.sockets()]
            idle = not (self.drivers or self.children or self.leftovers)
            readable, _, _ = select.select(
                watched,
                [],
                [],
                self.idle_timeout if idle else _LEFTOVERS_AGAIN if self.leftovers else None,
            )
            if wake in readable:
                _drain(wake)
                self.reap()
            elif self.leftovers:
                self.clear_leftovers()
            for driver in [driver for driver in self.drivers if driver in readable]:
                if not self.take_request(driver):
                    self.dismiss(driver)
            if self.listening in readable:
                self.accept()
            if idle and not readable:
                self.leave()
        end_children()
        shutil.rmtree(self.folder, ignore_errors=True)

    def sockets(self) -> list[socket.socket]:
        """Return the sockets that drivers may send on or connect to."""
        return [*self.drivers, *([self.listening] if self.listening else [])]

    def accept(self) -> None:
        """Accept the next driver."""
        with contextlib.suppress(OSError):  # the driver is gone already
            if self.listening is not None:
                self.greet(self.listening.accept()[0])

    def take_request(self, driver: socket.socket) -> bool:
        """Take one request. Returns ``False`` once the driver is gone."""
        try:
            packet, fds = _receive(driver)
        except OSError:  # the driver left without reading all messages
            return False
        if not packet:
            return False
        request = json.loads(packet)
        if request["do"] == "leave":
            self.leave()
        elif request["do"] == "end":
            self.end_server(driver, request["directory"])
        # If this process may open no more files, some are missing. Closing the others tells the
        # driver that nothing has begun.
        elif len(fds) != (_FILES_OF_BATCH if request["do"] == "batch" else 1):
            for fd in fds:
                os.close(fd)
        elif request["do"] == "batch":
            self.begin(driver, request["directory"], fds)
        else:
            self.begin_server(driver, request["directory"], request["package"], fds[0])
        return True

    def begin(self, driver: socket.socket, folder: str, fds: list[int]) -> None:
        """Fork a child for a batch. If that fails, write the reason to the exit pipe."""
        jobs, events, output, exit_pipe = fds
        try:
            pid = self.fork(ServedChild(driver, folder, exit_pipe))
        except OSError as error:
            _report(exit_pipe, {"refused": exception_chain(error)})
            for fd in fds:
                os.close(fd)
            return
        if pid == 0:
            self.become_child(
                lambda: run_batch(self.toolchain, jobs, events, output, self.beginning), exit_pipe
            )
        for fd in (jobs, events, output):
            os.close(fd)
        _report(exit_pipe, {"pid": pid})

    def begin_server(
        self, driver: socket.socket, folder: str, package: dict[str, object], control_fd: int
    ) -> None:
        """Fork a server for this driver that imports one more package.

        If that fails, close its control socket, which tells the driver.
        """
        control = socket.socket(fileno=control_fd)
        with contextlib.suppress(OSError):
            if self.fork(ServedChild(driver, folder, None)) == 0:
                self.become_child(lambda: self.serve_package(control, folder, package))
        control.close()

    def serve_package(
        self, control: socket.socket, folder: str, package: dict[str, object]
    ) -> None:
        """Import a package in a copy of this server, and serve its modules' jobs."""

        def load() -> tuple[adapter.Adapter, Beginning]:
            outer = self.beginning
            return self.toolchain, Beginning.of(package, self.toolchain, folder, outer)

        os.environ["TMPDIR"] = tempfile.tempdir = folder
        os.chdir(folder)
        output = os.open("output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for fd in (1, 2):
            os.dup2(output, fd)
        os.close(output)
        server = _new_server(load, control, folder)
        if server is not None:
            server.greet(control)
            server.serve()

    def end_server(self, driver: socket.socket, folder: str) -> None:
        """End the server that works in this folder, and everything that it does."""
        for pid, child in self.children.items():
            if (child.driver, child.folder) == (driver, folder):
                _kill(pid)

    def fork(self, served: ServedChild) -> int:
        """Fork, and note the child's purpose. Returns 0 in the child. Raises OSError."""
        pid = os.fork()
        if pid:
            # The child does the same, so that the group exists before anyone kills it.
            _quietly(os.setpgid, pid, pid)
            self.children[pid] = served
        return pid

    def become_child(self, work: Callable[[], None], *fds: int) -> NoReturn:
        """Turn this copy into a child: close the server's files and ``fds``, and do ``work``.

        It never returns.
        """
        code = _FAILED
        try:
            _quietly(os.setpgid, 0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _die_with_parent(signal.SIGKILL)
            adopt_orphans()
            for sock in self.sockets():
                sock.close()
            pipes = (child.exit_pipe for child in self.children.values())
            for fd in (*fds, *(pipe for pipe in pipes if pipe is not None)):
                os.close(fd)
            work()
            code = 0
        finally:
            # No atexit handlers, no flushing of what was inherited: this process is a copy.
            os._exit(code)

    def reap(self) -> None:
        """Report batches that have ended to their drivers, after killing the batches' processes."""
        ended: list[tuple[ServedChild, int]] = []
        for pid in list(self.children):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                ended.append((self.children.pop(pid), status))
                # The child may have left processes behind, such as ptxas.
                _quietly(os.killpg, pid, signal.SIGKILL)
        self.clear_leftovers()
        for child, status in ended:
            if child.exit_pipe is not None:
                _report(child.exit_pipe, _ending(status))
                os.close(child.exit_pipe)
            if child.driver not in self.drivers:  # the driver that would remove it is gone
                shutil.rmtree(child.folder, ignore_errors=True)

    def clear_leftovers(self) -> None:
        """Kill the processes that ended batches left behind.

        A process here that is not a child of a running batch can only be such a leftover.
        """
        self.leftovers = not end_children(spared={*self.children, *self.own}, seconds=1.0)

    def dismiss(self, driver: socket.socket) -> None:
        """Forget a driver that is gone, and end everything that it asked for."""
        self.drivers.remove(driver)
        driver.close()
        for pid in [pid for pid, child in self.children.items() if child.driver is driver]:
            _kill(pid)
        if self.listening:
            _quietly(os.utime, self.folder)  # records when the last driver left


def _kill(pid: int) -> None:
    _quietly(os.killpg, pid, signal.SIGKILL)
    _quietly(os.kill, pid, signal.SIGKILL)  # it may have left its group


def _ending(status: int) -> dict[str, object]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return {"signal": signal.Signals(number).name}
        except ValueError:
            return {"signal": "signal %d" % number}
    return {"exit_code": os.WEXITSTATUS(status)}


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """Receive one packet with its file descriptors. Python 3.8 has no ``socket.recv_fds``."""
    packet, ancillary, _, _ = control.recvmsg(
        _LARGEST_REQUEST, socket.CMSG_SPACE(4 * _FILES_OF_BATCH)
    )
    fds: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds += [
                int.from_bytes(data[i : i + 4], sys.byteorder)
                for i in range(0, len(data) - len(data) % 4, 4)
            ]
    for fd in fds:
        os.set_inheritable(fd, False)
    return packet, fds


def _send(control: socket.socket, message: dict[str, object]) -> None:
    """Write to a driver that may be gone. The next read from it shows whether it is."""
    _quietly(control.send, json.dumps(message).encode())


def _report(exit_pipe: int, message: dict[str, object]) -> None:
    """Write to a driver that may have stopped listening."""
    _quietly(os.write, exit_pipe, json.dumps(message).encode() + b"\n")


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            pass
    except BlockingIOError:
        pass


def _quietly(function: Callable[..., object], *arguments: object) -> None:
    with contextlib.suppress(OSError):
        function(*arguments)


def _die_with_parent(number: int) -> None:
    """Ask Linux to send this signal (0 for none) when the parent ends.

    So ``kill -9`` of the parent leaves nothing behind.
    """
    _quietly(ctypes.CDLL(None, use_errno=True).prctl, _PR_SET_PDEATHSIG, number, 0, 0, 0)
