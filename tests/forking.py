"""Programs in processes of their own, forked from a process that has imported them.

Importing takes longer than most of what the programs do.

A program gets what ``python -P -m PROGRAM`` would get: a folder, variables, and where it writes.
Tests of signals, of terminals, of how Python itself starts, and of the installed script do not
fork: they start the program itself.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

_ROOT = Path(__file__).parent.parent
_BYTECODE = ("-X", f"pycache_prefix={sys.pycache_prefix}") if sys.pycache_prefix else ()
_AT_ITS_START = ("PYTHON", "LC_", "LANG", "COVERAGE")
"""Prefixes of the variables that Python reads when it starts."""


class Forked:
    """A process that runs a program."""

    def __init__(self, conversation: socket.socket) -> None:
        with conversation:
            self._answers = conversation.makefile("rb", buffering=0)
        self.pid = int(self._answers.readline())
        self._exit_code: int | None = None

    def wait(self) -> int:
        """Waits for the exit code; if a signal ended the process, its number, negative."""
        if self._exit_code is None:
            with self._answers:
                self._exit_code = int(self._answers.readline())
        return self._exit_code

    def poll(self) -> int | None:
        """The exit code, without waiting; ``None`` while the process runs."""
        has_ended = self._exit_code is not None or select.select([self._answers], [], [], 0)[0]
        return self.wait() if has_ended else None


def is_usual(env: Mapping[str, str], script: Path | None = None, program: str = "") -> bool:
    """Whether Python would start with these variables as it started in the process that forks.

    With a script, that process has the package that is installed beside the script. Otherwise it
    has this tree, and the folders after it on ``PYTHONPATH``. With nox it always has this tree.
    """
    path = env.get("PYTHONPATH", "").split(os.pathsep)
    if program != "nox" and path[0] != ("" if script else str(_ROOT)):
        return False
    names = {name for name in {*env, *os.environ} if name.startswith(_AT_ITS_START)}
    return not any(
        env.get(name) != os.environ.get(name) or name.startswith("COVERAGE")
        for name in names - {"PYTHONPATH"}
    )


def fork(
    program: str,
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: int,
    errors: int,
    script: Path | None = None,
) -> Forked:
    """Run ``compat.cli``, ``dask`` or ``nox``, with usual variables; it writes into two open files.

    With a script, the ``compat.cli`` of the script's environment runs.
    """
    connection, peer = socket.socketpair()
    with peer:
        server = _server(os.getpid(), program, script)
        socket.send_fds(server, [b"x"], [peer.fileno(), output, errors])
    request = {
        "name": str(script or _ROOT / "compat" / "cli" / "__main__.py"),
        "arguments": arguments,
        "cwd": str(cwd),
        "env": dict(env),
        "mask": os.umask(0o022),
    }
    os.umask(request["mask"])  # type: ignore[arg-type]
    connection.sendall(json.dumps(request).encode() + b"\n")
    return Forked(connection)


@cache
def _server(_: int, program: str, script: Path | None) -> socket.socket:
    """The connection to the process that forks. Each test process has one, which ends with it."""
    python = script.with_name("python") if script else sys.executable
    connection, peer = socket.socketpair()
    with peer:
        server = subprocess.Popen(
            [python, "-P", *_BYTECODE, __file__, program, str(peer.fileno())],
            pass_fds=[peer.fileno()],
            cwd="/",
            env={**os.environ, "PYTHONPATH": "" if script else str(_ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(_end, connection, server)
    return connection


def _end(connection: socket.socket, server: subprocess.Popen[bytes]) -> None:
    connection.close()
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
_OF_NOX = (
    *("nox.__main__", "nox.virtualenv", "compat.nox"),
    *("compat.config.kernel_files", "compat.config.matrix", "compat.envs.installers"),
)
"""What our noxfile imports."""
_OF_DASK = (
    *("distributed.cli", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"),
    *("distributed.nanny", "distributed.scheduler", "distributed.worker"),
    "compat.executors.dask.remote",
)
"""What schedulers and workers import, and what they import for our tasks."""


def _import(program: str) -> None:
    """Import what the program imports."""
    if program == "dask":
        names = [*_OF_DASK]
    elif program == "nox":
        names = [*_OF_NOX]
    else:
        from compat.cli import commands

        modules = (f"cli.{module}" for module, _ in commands.COMMANDS.values())
        names = [f"compat.{name}" for name in (*modules, *_FEATURES)]
    for name in names:
        import_module(name)
    if program == "compat.cli":
        _render_nothing()


def _render_nothing() -> None:
    """Make what a command makes on first use: templates and patterns."""
    from compat.report.render import FORMATS
    from compat.report.summary.record import Report
    from compat.text import Lazy

    nothing = Report(results=(), verdicts=(), envs=(), command="", seconds=0)
    for form in FORMATS:
        list(form.render(nothing, ""))
    for pattern in [candidate for candidate in gc.get_objects() if isinstance(candidate, Lazy)]:
        pattern.pattern  # noqa: B018 - that compiles it


def _serve(program: str, news: socket.socket) -> None:
    """Fork for every requested run, until the connection is closed."""
    _import(program)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests; this ends with them
    while True:
        _, handed, _, _ = socket.recv_fds(news, 1, 3)
        with suppress(ChildProcessError):
            # Reap ended children, so that a measurement includes their processor time.
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not handed:
            return
        if os.fork() == 0:
            news.close()
            _attend(program, *handed)
        for file in handed:
            os.close(file)


def _attend(program: str, conversation: int, output: int, errors: int) -> NoReturn:
    """Run a program once, and send its process ID and its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    connection = socket.socket(fileno=conversation)
    request = json.loads(connection.makefile().readline())
    pid = os.fork()
    if pid == 0:
        connection.close()
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.closerange(3, 256)
        os.umask(request["mask"])
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.path[1:1] = os.environ.get("PYTHONPATH", "").split(os.pathsep)[1:]
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        if program == "dask":
            _be_dask(request["arguments"])
        if program == "nox":
            _be_nox(request["arguments"])
        _be_compat(request["name"], request["arguments"])
    os.close(output)
    os.close(errors)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _be_compat(name: str, arguments: list[str]) -> NoReturn:
    from compat.cli.start import start

    sys.argv = [name, *arguments]
    start()


def _be_nox(arguments: list[str]) -> NoReturn:
    from nox.__main__ import main

    sys.argv = ["nox", *arguments]
    main()
    sys.exit()


def _be_dask(arguments: list[str]) -> NoReturn:
    import dask

    os.setsid()
    dask.config.refresh()  # from the variables
    sys.argv = ["dask", *arguments]
    # Run it as the main module, which the processes that a nanny starts do not import again.
    runpy.run_module("dask", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    _serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
