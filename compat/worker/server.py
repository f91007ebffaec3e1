"""The warm server: import the toolchain once, then fork a child per batch.

A fork costs milliseconds where a fresh process would import the toolchain and warm its compiler again. The server itself never
compiles anything of the user's, so nothing a kernel does can reach the next batch.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import platform
import select
import signal
import socket
import sys
import time
from typing import Any, Callable, NoReturn

from . import batch, triton_api

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> int:
    """Serve until the driver closes the control socket. ``arguments`` is ``[CONTROL_FD]``, or ``[CONTROL_FD, "cold"]``."""
    control = socket.socket(fileno=int(arguments[0]))
    control.set_inheritable(False)
    _die_with_parent(signal.SIGKILL)  # an import can hang
    started = time.monotonic()
    try:
        toolchain = triton_api.Triton()
        if "cold" not in arguments:
            toolchain.warm()
    except BaseException as error:
        _send(control, {"event": "broken", "raised": batch.exception_chain(error)})
        return 1
    gc.collect()
    gc.freeze()
    _send(
        control,
        {
            "event": "ready",
            "toolchain": toolchain.name,
            "version": toolchain.version,
            "python": platform.python_version(),
            "threads": len(os.listdir("/proc/self/task")),
            "seconds": time.monotonic() - started,
        },
    )
    _die_with_parent(0)  # from here on the end of the socket says it, and leaves time to kill what the children started
    Server(control, toolchain).serve()
    return 0


class Server:
    """Forks children on request and reports how they ended."""

    def __init__(self, control: socket.socket, toolchain: triton_api.Triton) -> None:
        self.control = control
        self.toolchain = toolchain
        self.exits: dict[int, int] = {}
        """Child → the exit pipe its end is to be written to."""

    def serve(self) -> None:
        wake, woken = os.pipe()
        for fd in (wake, woken):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        while True:
            readable, _, _ = select.select([self.control.fileno(), wake], [], [])
            if wake in readable:
                _drain(wake)
                self.reap()
            if self.control.fileno() in readable and not self.accept():
                self.kill_all()
                return

    def accept(self) -> bool:
        """Take one request; ``False`` once the driver is gone."""
        packet, fds = _receive(self.control)
        if not packet:
            return False
        jobs, events, output, exit_pipe = fds
        pid = os.fork()
        if pid == 0:
            self.become_child(jobs, events, output, exit_pipe)
        _quietly(os.setpgid, pid, pid)  # the child does the same: whoever comes first, the group exists before anyone kills it
        for fd in (jobs, events, output):
            os.close(fd)
        self.exits[pid] = exit_pipe
        _report(exit_pipe, {"pid": pid})
        return True

    def become_child(self, jobs: int, events: int, output: int, exit_pipe: int) -> NoReturn:
        """Leave the server behind and run the batch; never returns."""
        try:
            _quietly(os.setpgid, 0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _die_with_parent(signal.SIGKILL)
            self.control.close()
            os.close(exit_pipe)
            for fd in self.exits.values():
                os.close(fd)
            batch.run(self.toolchain, jobs, events, output)
        finally:
            # No atexit handlers, no flushing of what was inherited: this process is a copy.
            os._exit(0)

    def reap(self) -> None:
        for pid in list(self.exits):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                exit_pipe = self.exits.pop(pid)
                _quietly(os.killpg, pid, signal.SIGKILL)  # what it started and left behind, such as ptxas
                _report(exit_pipe, _ending(status))
                os.close(exit_pipe)

    def kill_all(self) -> None:
        for pid in self.exits:
            _quietly(os.killpg, pid, signal.SIGKILL)


def _ending(status: int) -> dict[str, Any]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return {"signal": signal.Signals(number).name}
        except ValueError:
            return {"signal": "signal %d" % number}
    return {"exit_code": os.WEXITSTATUS(status)}


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """One packet and its file descriptors. (``socket.recv_fds`` is there from Python 3.9 on only.)"""
    packet, ancillary, _, _ = control.recvmsg(4096, socket.CMSG_SPACE(4 * 4))
    fds: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds += [int.from_bytes(data[i : i + 4], sys.byteorder) for i in range(0, len(data) - len(data) % 4, 4)]
    for fd in fds:
        os.set_inheritable(fd, False)
    return packet, fds


def _send(control: socket.socket, message: dict[str, Any]) -> None:
    control.send(json.dumps(message).encode())


def _report(exit_pipe: int, message: dict[str, Any]) -> None:
    """Write to a driver that may have stopped listening."""
    _quietly(os.write, exit_pipe, json.dumps(message).encode() + b"\n")


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            pass
    except BlockingIOError:
        pass


def _quietly(function: Callable[..., Any], *arguments: Any) -> None:
    with contextlib.suppress(OSError):
        function(*arguments)


def _die_with_parent(number: int) -> None:
    """Ask Linux to send this signal (0 for none) when the parent ends, so that ``kill -9`` of it leaves nothing behind."""
    _quietly(ctypes.CDLL(None, use_errno=True).prctl, _PR_SET_PDEATHSIG, number, 0, 0, 0)
