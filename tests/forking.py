"""Programs in processes of their own, forked from a process that has imported them.

Importing takes longer than most of what the programs do. All processes of a run of the tests share
the processes that have imported.

A program gets what ``python -P -m PROGRAM`` would get: a folder, variables, and where it writes.
Tests of signals at any moment, of how Python itself starts, and of the installed script do not
fork: they start the program itself.

:func:`write_python` does the same for the Python of an env, with PyTorch or Triton imported.
"""

from __future__ import annotations

import atexit
import errno
import faulthandler
import fcntl
import gc
import hashlib
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from ast import literal_eval
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

_ROOT = Path(__file__).parent.parent
folder = Path("unset")
"""The folder of this run of the tests, which ``conftest.py`` sets."""
_BYTECODE = ("-X", f"pycache_prefix={sys.pycache_prefix}") if sys.pycache_prefix else ()
_AT_ITS_START = ("PYTHON", "LC_", "LANG", "COVERAGE")
"""Prefixes of the variables that Python reads when it starts."""
_BEGIN = """#!%(own)s -IS
import _socket, os, sys

"""
"""The first lines of a program. A base interpreter runs it, whose path has no spaces.

The modules ``socket`` and ``json`` would double the time of its start.
"""
_AS_PYTHON = """\
arguments = sys.argv[1:]
if shows_faults := arguments[:2] == ["-X", "faulthandler"]:
    arguments = arguments[2:]
if arguments[0].startswith("-") or any(
    os.environ.get(name) != %(variables)r.get(name)
    for name in {*os.environ, *%(variables)r}
    if name.startswith("PYTHON")
):
    os.execv(%(python)r, [%(python)r, *sys.argv[1:]])
"""
"""Take the arguments of Python. Some need a new process of it."""
_AS_COMMAND = """\
arguments = [%(script)r, *sys.argv[1:]]
shows_faults = False
"""
_FORK = """
connection = _socket.socket(_socket.AF_UNIX)
connection.connect(%(address)r)
files = b"".join(file.to_bytes(4, sys.byteorder) for file in (0, 1, 2))
connection.sendmsg([b"x"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
request = {
    "name": arguments[0],
    "arguments": arguments[1:],
    "executable": os.path.abspath(sys.argv[0]),
    "shows_faults": shows_faults,
    "cwd": os.getcwd(),
    "env": dict(os.environ),
    "mask": os.umask(0),
}
connection.sendall(ascii(request).encode() + b"\\n")
answers = b""
while part := connection.recv(100):
    answers += part
code = int(answers.split()[1])
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
"""Have the process that forks run the program, and end as it ends."""


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

    With a script, the ``compat.cli`` of the script's environment runs. Any other program is a
    module, and ``compat.cli`` runs after an import of that module.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(_command_server(program, script))
    with Path(os.devnull).open("rb") as nothing:
        socket.send_fds(connection, [b"x"], [nothing.fileno(), output, errors])
    request = {
        "name": str(script or _ROOT / "compat" / "cli" / "__main__.py"),
        "arguments": arguments,
        "cwd": str(cwd),
        "env": dict(env),
        "mask": os.umask(0o022),
    }
    os.umask(request["mask"])  # type: ignore[arg-type]
    connection.sendall(ascii(request).encode() + b"\n")
    return Forked(connection)


def write_python(
    path: Path, python: str, *modules: str, variables: Mapping[str, str] | None = None
) -> str:
    """Write a program that takes the place of an env's Python, and return its path.

    It runs scripts, also with ``-X faulthandler``, in processes that are forked from one that has
    imported some modules. That process starts with this process's variables for Python, or with
    ``variables``. Scripts with others, and other arguments, start the env's Python itself. The end
    of the program ends the script, too.
    """
    variables = _python_variables() if variables is None else dict(variables)
    address = _server((python, "-P"), tuple(sorted(variables.items())), *modules)
    facts = {"python": python, "address": address, "variables": variables}
    _write_program(path, _AS_PYTHON, facts)
    return str(path)


def write_command(path: Path, script: Path) -> None:
    """Write a program that runs as the ``compat`` of an environment, for usual variables.

    ``script`` is that ``compat``.
    """
    facts = {"script": str(script), "address": _command_server("compat.cli", script)}
    _write_program(path, _AS_COMMAND, facts)


def _write_program(path: Path, begin: str, facts: Mapping[str, object]) -> None:
    text = (_BEGIN + begin + _FORK) % {**facts, "own": Path(sys.executable).resolve()}
    # A process that another thread forks would hold a file open that is written here, and Linux
    # would refuse to run it.
    command = ["install", "-m", "755", "/dev/stdin", str(path)]
    subprocess.run(command, input=text, encoding="utf-8", check=True)


def _command_server(program: str, script: Path | None) -> bytes:
    """The address of the process that forks for a program of ours."""
    python = str(script.with_name("python")) if script else sys.executable
    variables = {**_python_variables(), "PYTHONPATH": "" if script else str(_ROOT)}
    programs = (program,) if program in PROGRAMS else ("compat.cli", program)
    # An installed package keeps its bytecode, for the programs that start it themselves.
    command = (python, "-P", *(() if script else _BYTECODE))
    return _server(command, tuple(sorted(variables.items())), *programs)


def _python_variables() -> dict[str, str]:
    """The variables that Python read when this process started."""
    return {name: text for name, text in os.environ.items() if name.startswith("PYTHON")}


@cache
def _server(
    python: tuple[str, ...], variables: tuple[tuple[str, str], ...], *programs: str
) -> bytes:
    """The address of the process that forks. The first test process that needs it starts it."""
    with _HOLDING:
        pipe, started = _hold_pipe()
    facts = repr((pipe, python, variables, programs)).encode()
    address = b"\0compat-tests-" + hashlib.sha256(facts).hexdigest().encode()  # no file
    others = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    with socket.socket(socket.AF_UNIX) as listener, pipe.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            listener.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return address
        listener.listen(100)
        life = os.open(pipe, os.O_RDONLY)
        files = (life, listener.fileno())
        server = subprocess.Popen(
            [*python, __file__, *map(str, files), *programs],
            pass_fds=files,
            cwd="/",
            env={**others, **dict(variables)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    os.close(life)
    started.append(server)
    return address


_HOLDING = threading.Lock()


@cache
def _hold_pipe() -> tuple[Path, list[subprocess.Popen[bytes]]]:
    """A pipe that each test process holds open until it ends, and the servers of this process.

    The servers end with the last test process.
    """
    path = folder / "forking"
    with suppress(FileExistsError):
        os.mkfifo(path)
    started: list[subprocess.Popen[bytes]] = []
    atexit.register(_end, os.open(path, os.O_RDWR), started)
    return path, started


def _end(pipe: int, started: Sequence[subprocess.Popen[bytes]]) -> None:
    os.close(pipe)
    for server in started:
        server.wait()


# --- in the process that forks --------------------------------------------------------------------


_FEATURES = (
    "cli.progress",
    "matrix",
    "report.folder",
    "launch.merging",
    "report.render.terminal",
    "report.views.matrix",
    "envs.provider",
    "toolchains.triton.edits.block_pointers.editing",
    "toolchains.triton.edits.expressions",
    "toolchains.triton.language.guessing.kernels",
)
"""What most commands import when they run."""
_OF_NOX = (
    *("nox.__main__", "nox.virtualenv", "compat.nox"),
    *("compat.config.kernel_files", "compat.config.matrix", "compat.envs.index"),
    *("compat.envs.installers", "uv"),
)
"""What our noxfile imports, and what it imports to build envs."""
_OF_DASK = (
    *("distributed.cli", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"),
    *("distributed.nanny", "distributed.scheduler", "distributed.worker"),
    "compat.executors.dask.remote",
)
"""What schedulers and workers import, and what they import for our tasks."""
PROGRAMS = ("compat.cli", "dask", "nox")


def _import(program: str, *modules: str) -> None:
    """Import the modules, and then what the program imports, or a module of an env."""
    for name in modules:
        import_module(name)
    if program == "dask":
        names = [*_OF_DASK]
    elif program == "nox":
        names = [*_OF_NOX]
    elif program == "compat.cli":
        from compat.cli import commands

        of_commands = (f"cli.{module}" for module, _ in commands.COMMANDS.values())
        names = ["tomlkit", *(f"compat.{name}" for name in (*of_commands, *_FEATURES))]
    else:
        names = [program]
    for name in names:
        import_module(name)
    if config := sys.modules.get("compat.config.matrix"):
        config.no_matrix(Path("/"), locked=False)  # reads toolchains and their releases
    if program == "compat.cli":
        _prepare_commands()
    if "triton" in sys.modules:
        _prepare_triton()


def _prepare_triton() -> None:
    """Import what the first compile imports, and spare a hash of the whole package.

    The hash is a part of the names in Triton's cache. The path of the package replaces it.
    """
    import_module("triton.compiler.code_generator")
    for name in ("triton.compiler.compiler", "triton.runtime.cache"):
        module: Any = sys.modules.get(name)
        if hasattr(module, "triton_key"):
            module.triton_key = lambda: sys.modules["triton"].__file__


def _prepare_commands() -> None:
    """Make what a command makes on first use: templates, conversions of records, and patterns."""
    from compat.api.histories import PackedNames
    from compat.model import Evidence, Failure, Package, codec
    from compat.report import document
    from compat.report.render import FORMATS
    from compat.report.summary.record import Report
    from compat.store.database import Reading
    from compat.text import Lazy
    from compat.toolchains.cute import CUTE
    from compat.toolchains.triton import TRITON

    nothing = Report(results=(), verdicts=(), envs=(), command="", seconds=0)
    for form in FORMATS:
        list(form.render(nothing, ""))
    records = [kind for name, kind in vars(document).items() if name.endswith("Record")]
    for kind in (*records, Evidence, Failure, Package, PackedNames, Reading):
        codec._reader(True).get_structure_hook(kind)
        for compact in (True, False):
            codec._writer(compact).get_unstructure_hook(kind)
    for toolchain in (CUTE, TRITON):
        toolchain.failures.recognise(toolchain.failures.symptoms(Evidence(answered=False)))
    for pattern in [candidate for candidate in gc.get_objects() if isinstance(candidate, Lazy)]:
        pattern.pattern  # noqa: B018 - that compiles it


def _serve(life: int, listener: socket.socket, program: str, *modules: str) -> None:
    """Fork for every requested run, until the other end of ``life`` is closed.

    A script of an env's Python is killed if the process that requested it ends.
    """
    # Ctrl-C is for the tests; this ends with them. A forked process gets what comes from then on.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    gc.disable()
    _import(program, *modules)
    for finalizer in [*weakref.finalize._registry]:  # type: ignore[attr-defined]
        finalizer.atexit = False  # those of PyTorch take 25 ms in each forked process
    gc.freeze()
    gc.enable()
    opened: list[int | socket.socket] = [life, listener]
    running: dict[int, tuple[int, socket.socket]] = {}  # by the files of the processes
    while opened or running:
        asking = {} if program in PROGRAMS else {asked: pid for pid, asked in running.values()}
        ready = select.select([*opened, *running, *asking], [], [])[0]
        for asked in asking.keys() & ready:
            with suppress(ProcessLookupError):  # it has no group yet
                os.killpg(asking[asked], signal.SIGKILL)
        for process in running.keys() & ready:
            _report(process, *running.pop(process))
        if life in ready:
            opened.clear()
            listener.close()
        elif listener in ready and (requested := _accepted(listener)):
            asked, request, handed = requested
            pid = os.fork()
            if pid == 0:
                for connection in (listener, asked, *(other for _, other in running.values())):
                    connection.close()
                _run(program, request, handed)
            running[os.pidfd_open(pid)] = pid, asked
            for file in handed:
                os.close(file)
            with suppress(OSError):
                asked.sendall(f"{pid}\n".encode())


def _accepted(listener: socket.socket) -> tuple[socket.socket, dict[str, Any], list[int]] | None:
    """Who asks for a run, what is to run, and its standard files."""
    asked, _ = listener.accept()
    try:
        _, handed, _, _ = socket.recv_fds(asked, 1, 3)
        return asked, literal_eval(asked.makefile().readline()), handed
    except (OSError, SyntaxError):  # the process that asked has ended
        asked.close()
        return None


def _report(process: int, pid: int, asked: socket.socket) -> None:
    """Send the exit code of a process that has ended."""
    os.close(process)
    _, status = os.waitpid(pid, 0)
    with asked, suppress(OSError):
        asked.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _run(program: str, request: dict[str, Any], handed: Sequence[int]) -> NoReturn:
    """Be a process that runs a program as requested."""
    for number, file in enumerate(handed):
        os.dup2(file, number)
    os.closerange(3, 256)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    os.umask(request["mask"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    if program not in PROGRAMS:
        sys.executable = request["executable"]
        if request["shows_faults"]:
            faulthandler.enable()
        _be_script(request["name"], request["arguments"])
    if further := os.environ.get("PYTHONPATH", "").split(os.pathsep)[1:]:
        sys.path[1:1] = further
        if toolchains := sys.modules.get("compat.toolchains"):
            toolchains.every.cache_clear()  # these folders may have more
    if program == "dask":
        _be_dask(request["arguments"])
    if program == "nox":
        _be_nox(request["arguments"])
    _be_compat(request["name"], request["arguments"])


def _be_script(path: str, arguments: list[str]) -> NoReturn:
    os.setsid()
    tempfile.tempdir = None  # the variables may name another folder
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).parent))
    code = None
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        code = end.code
    if isinstance(code, str):
        sys.exit(code)
    # Python would clear all modules, and so copy the memory that this process shares.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


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
    dask.config.paths.append(os.path.expanduser("~/.config/dask"))  # another HOME
    dask.config.refresh()
    sys.argv = ["dask", *arguments]
    # Run it as the main module, which the processes that a nanny starts do not import again.
    runpy.run_module("dask", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])), *sys.argv[3:])
