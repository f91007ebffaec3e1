"""This tree's command in a process of its own, forked from one that has imported it: importing
takes longer than most commands.

What a command is given is what ``python -P -m compat.cli`` would be given: a folder, variables, and
pipes. Tests of signals, of terminals, of how Python itself starts, and of the installed command
start that instead.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

_ROOT = Path(__file__).parent.parent
_AT_ITS_START = ("PYTHON", "LC_", "LANG", "COVERAGE")
"""How the names of variables begin that Python reads when it starts."""


def run(
    *arguments: str, cwd: Path, env: Mapping[str, str], timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """What ``compat`` with these arguments does, as :func:`subprocess.run` tells it.

    Raises TimeoutExpired.
    """
    if _has_to_start(env):
        command = [sys.executable, "-P", "-m", "compat.cli", *arguments]
        return subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
        )
    told, its = socket.socketpair()
    with told:
        pipes = [os.pipe(), os.pipe()]
        socket.send_fds(
            _server(os.getpid()), [b"x"], [its.fileno(), *(write for _, write in pipes)]
        )
        its.close()
        for _, write in pipes:
            os.close(write)
        asked = {"arguments": arguments, "cwd": str(cwd), "env": dict(env), "mask": os.umask(0o022)}
        os.umask(asked["mask"])  # type: ignore[arg-type]
        told.sendall(json.dumps(asked).encode() + b"\n")
        answers = told.makefile()
        pid = int(answers.readline())
        output, errors = _read([read for read, _ in pipes], pid, arguments, timeout)
        return subprocess.CompletedProcess(
            ["compat", *arguments], int(answers.readline()), output, errors
        )


def _has_to_start(env: Mapping[str, str]) -> bool:
    """Whether Python would start otherwise with these variables than the process has that is
    forked.
    """
    usual = {**os.environ, "PYTHONPATH": str(_ROOT)}
    names = [name for name in {*env, *usual} if name.startswith(_AT_ITS_START)]
    return any(env.get(name) != usual.get(name) or name.startswith("COVERAGE") for name in names)


def _read(pipes: list[int], pid: int, arguments: tuple[str, ...], timeout: float) -> list[str]:
    """All that comes through pipes, until all that hold them have closed them."""
    found = dict.fromkeys(pipes, b"")
    end = time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, end - time.monotonic()))
            if not ready and time.monotonic() >= end:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["compat", *arguments], timeout, *found.values())
            for key, _ in ready:
                if read := os.read(key.fd, 1 << 16):
                    found[key.fd] += read
                else:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [text.decode().replace("\r\n", "\n") for text in found.values()]


@cache
def _server(_: int) -> socket.socket:
    """The way to the process that forks; one for each process of tests, and it ends with that."""
    ours, its = socket.socketpair()
    with its:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.commands", str(its.fileno())],
            pass_fds=[its.fileno()],
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(_end, ours, server)
    return ours


def _end(ours: socket.socket, server: subprocess.Popen[bytes]) -> None:
    ours.close()
    server.wait()


# --- in the process that forks --------------------------------------------------------------------


_FEATURES = (
    "cli.progress",
    "matrix",
    "report.folder",
    "launch.merging",
    "report.render.terminal",
    "envs.provider",
)
"""What most commands import when they run."""


def _serve(news: socket.socket) -> None:
    """Fork for every command that is asked for, until nobody can ask any more."""
    from compat.cli import commands

    for name in (*(f"cli.{module}" for module, _ in commands.COMMANDS.values()), *_FEATURES):
        import_module(f"compat.{name}")
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, with which this ends
    while True:
        _, handed, _, _ = socket.recv_fds(news, 1, 3)
        with suppress(ChildProcessError):
            # So that what they have used of processors is told to who measures it.
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not handed:
            return
        if os.fork() == 0:
            news.close()
            _attend(*handed)
        for each in handed:
            os.close(each)


def _attend(conversation: int, output: int, errors: int) -> NoReturn:
    """Run one command, and tell its number and what became of it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    told = socket.socket(fileno=conversation)
    asked = json.loads(told.makefile().readline())
    pid = os.fork()
    if pid == 0:
        told.close()
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.closerange(3, 256)
        _be(asked["arguments"], asked["cwd"], asked["env"], asked["mask"])
    os.close(output)
    os.close(errors)
    told.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):
        told.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _be(arguments: list[str], cwd: str, env: dict[str, str], mask: int) -> NoReturn:
    from compat.cli.start import start

    os.umask(mask)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = [str(_ROOT / "compat" / "cli" / "__main__.py"), *arguments]
    start()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
