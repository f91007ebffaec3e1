"""Start a worker in an env, with the environment variables of the caller that reach its toolchain.

A toolchain sees the variables that locate its tools and that control the generated code. Results
depend on these variables, so they are part of every result's key, together with the digests of the
files that they name. A toolchain does not see variables that would turn a compile into something
else, or that the worker sets itself. The toolchain's description classifies every variable that one
of its releases reads.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path

from attrs import evolve

from compat import toolchains
from compat.files import TemporaryFolder, read_ends
from compat.processes.supervisor import SHOWN, Process
from compat.toolchains import DEFAULT, pytorch
from compat.toolchains.base import Toolchain
from compat.workers.attempt import PreloadedPackage
from compat.workers.client import WorkerClient, WorkerGone

WORKER = Path(__file__).parent.parent / "worker"
STANDIN = (pytorch.FOLDER / "standin", pytorch.FOLDER / "device")
"""The folders of the code that a worker imports kernels with."""
NUMERICS = pytorch.FOLDER / "numerics"
"""The folder with the worker's code that compares numbers of kernels with references."""

_OUTPUT = "output"
_PATIENCE = 5.0
"""Seconds that a worker may take to end its processes."""


class OwnWorker(WorkerClient):
    """A worker that serves no other driver. Closing it ends every process that it started."""

    def __init__(
        self,
        python: str,
        *,
        toolchain: Toolchain = DEFAULT,
        worker: Path = WORKER,
        variables: Mapping[str, str] | None = None,
        interprets: bool = False,
    ) -> None:
        """Start the worker and wait until it is ready.

        Raises MachineError and OSError if it cannot be started. If it ``interprets``, it runs
        kernels in the toolchain's interpreter instead of compiling them. The toolchain must have an
        interpreter then.
        """
        self._folder = TemporaryFolder("compat-server-")
        folder = self._folder.path
        with ExitStack() as undo:
            undo.callback(self._folder.close)
            control, far_end = control_pair()
            undo.callback(control.close)
            with far_end:
                command = [
                    python,
                    "-I",
                    str(worker),
                    str(folder),
                    str(far_end.fileno()),
                    str(toolchain.adapter),
                ]
                command += ["interpret"] if interprets else []
                own = (
                    toolchain.device.interpreter.variables
                    if interprets and toolchain.device.interpreter
                    else {}
                )
                self._process = spawn(
                    command, [far_end], folder, toolchain, {**(variables or {}), **own}
                )
            undo.pop_all()
        try:
            super().__init__(control)
        except BaseException:
            self._end(patience=0.0)
            raise
        if not self.hello.ready:
            self.hello = evolve(self.hello, output=last_output(self._process, folder))
            self.close()

    def close(self) -> None:
        """End the worker and everything it started."""
        super().close()
        self._end(patience=_PATIENCE)

    def _end(self, patience: float) -> None:
        """Wait for the process, which was told to end, then end it, and remove its folder."""
        self._process.wait(patience)
        self._process.end()
        self._folder.close()


class ForkedWorker(WorkerClient):
    """A worker that another one forked. It imports one more package, and serves no other driver."""

    def __init__(self, outer: WorkerClient, package: PreloadedPackage) -> None:
        """Wait until the worker is ready. The worker ends with the one that it was forked from.

        Raises MachineError if there is no room for its folder.
        """
        self._outer = outer
        self._folder = TemporaryFolder("compat-server-")
        try:
            control, far_end = control_pair()
            with far_end, suppress(WorkerGone):  # closing the other end then shows it
                outer.fork_server(self._folder.path, package.document(), far_end)
            super().__init__(control)
        except BaseException:
            self._end()
            raise
        if not self.hello.ready:
            self.close()

    def close(self) -> None:
        """End the worker and everything it started."""
        super().close()
        self._end()

    def _end(self) -> None:
        with suppress(WorkerGone):  # this worker has ended with the outer one
            self._outer.end_server(self._folder.path)
        self._folder.close()


def control_pair() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a control socket."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def spawn(
    command: Sequence[str],
    sockets: Sequence[socket.socket],
    folder: Path,
    toolchain: Toolchain,
    variables: Mapping[str, str],
) -> Process:
    """Start a worker's process, which inherits the sockets.

    Its output and its temporary files go to ``folder``.
    """
    home = str(folder)
    with (folder / _OUTPUT).open("wb") as output:
        return Process(
            command,
            pass_fds=[sock.fileno() for sock in sockets],
            stdout=output,
            stderr=output,
            env={
                **visible_variables(toolchain),
                "TMPDIR": home,
                **toolchain.variables.private(home),
                **variables,
            },
            cwd=folder,
        )


def last_output(process: Process, folder: Path) -> str:
    """Return the output of a worker that did not become ready, after a second for it to end."""
    process.wait(1)
    with (folder / _OUTPUT).open("rb") as output:
        return read_ends(output.fileno(), 0, None, SHOWN)


# --- environment variables ------------------------------------------------------------------------

_ANY_PROGRAM = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "USER", "LOGNAME")
"""Variables that any program may need. No result depends on them."""


def visible_variables(toolchain: Toolchain | None = None) -> dict[str, str]:
    """Return the caller's environment variables that a toolchain sees.

    Without a toolchain, these are the variables that any toolchain sees. Paths of existing files
    and folders are absolute, so they are valid in any folder.
    """
    here = dict(os.environ)  # looking up each name costs more
    variables: dict[str, str] = {name: here[name] for name in _ANY_PROGRAM if name in here}
    for selected_toolchain in [toolchain] if toolchain else toolchains.every():
        reads = selected_toolchain.variables
        variables |= {
            name: here[name]
            for name in (*reads.files, *reads.folders, *reads.settings)
            if name in here
        }
        variables |= {
            name: os.path.abspath(variables[name])
            for name in (*reads.files, *reads.folders)
            if name in variables and os.path.exists(variables[name])
        }
    return variables


def code_settings(toolchain: Toolchain) -> dict[str, str]:
    """Return the caller's variables that control the code and mean the same on every machine."""
    return {name: os.environ[name] for name in toolchain.variables.settings if name in os.environ}


def variable_dependencies(toolchain: Toolchain, backend: str) -> dict[str, str]:
    """Return the caller's variables that a result of a backend (``cuda``, ``hip``) depends on.

    Digests of the files that the variables name are included.
    """
    reads = toolchain.variables
    variables = {
        name: value
        for name, value in visible_variables(toolchain).items()
        if name not in _ANY_PROGRAM
    }
    paths = [
        path
        for name in reads.files
        if name in variables
        for path in variables[name].split(os.pathsep)
    ]
    paths += reads.programs.get(backend, ())
    return variables | {path: digest for path in paths if (digest := _digest(path))}


def _digest(path: str) -> str | None:
    """Return a hash over a file's content, or over the files in a folder.

    Returns ``None`` if there is neither.
    """
    try:
        if os.path.isdir(path):
            files = [file for file in sorted(Path(path).iterdir()) if file.is_file()]
            contents = [(file.name, _digest(str(file))) for file in files]
            return hashlib.sha256(json.dumps(contents).encode()).hexdigest()
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    if not Path(path).is_file():
        return None
    return _digest_of(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache
def _digest_of(path: str, *_stamp: int) -> str | None:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
