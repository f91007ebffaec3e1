"""Start a worker in an env."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve

from compat.errors import MachineError, is_refusal
from compat.processes.output import read_ends
from compat.processes.supervisor import SHOWN, Process
from compat.scratch import Folder
from compat.toolchains import DEFAULT, Toolchain, pytorch
from compat.workers.attempt import PreloadedPackage
from compat.workers.client import WorkerClient
from compat.workers.variables import passed_on

WORKER = Path(__file__).parent.parent / "worker"
STANDIN = (pytorch.FOLDER / "standin", pytorch.FOLDER / "device")
"""The folders of the code that a worker imports kernels with."""
NUMERICS = pytorch.FOLDER / "numerics"
"""What a worker holds the numbers of kernels to their references with."""

_OUTPUT = "output"
_PATIENCE = 5.0
"""Seconds that a worker may take to end what it has started."""


class OwnWorker(WorkerClient):
    """A worker that serves nobody else. Closing it ends every process it started."""

    def __init__(
        self,
        python: str,
        *,
        toolchain: Toolchain = DEFAULT,
        worker: Path = WORKER,
        variables: Mapping[str, str] | None = None,
        beginning: PreloadedPackage | None = None,
        interprets: bool = False,
    ) -> None:
        """Start it and wait until it is ready. Raises MachineError where the machine does not let it start.

        It imports the package that ``beginning`` names before it is ready; where it ``interprets``, it runs kernels in the
        toolchain's interpreter, which must have one, instead of compiling them.
        """
        self._folder = Folder("compat-server-")
        folder = self._folder.path
        try:
            control, far_end = control_pair()
            with far_end:
                command = [python, "-I", str(worker), str(folder), str(far_end.fileno()), str(toolchain.adapter)]
                asked = {"interpret": True} if interprets else beginning.document() if beginning else None
                command += [json.dumps(asked)] if asked else []
                own = toolchain.device.interpreter.variables if interprets and toolchain.device.interpreter else {}
                self._process = spawn(command, [far_end], folder, toolchain, {**(variables or {}), **own})
        except BaseException as error:
            self._folder.close()
            if isinstance(error, OSError) and is_refusal(error):
                raise MachineError.of(error) from error
            raise
        try:
            super().__init__(control)
        except BaseException:
            self._end(patience=0.0)
            raise
        if not self.hello.ready:
            self.hello = evolve(self.hello, words=last_output(self._process, folder))
            self.close()

    def close(self) -> None:
        """End the worker and everything it started."""
        super().close()
        self._end(patience=_PATIENCE)

    def _end(self, patience: float) -> None:
        """Have the process gone, which was told to end, and its folder with it."""
        self._process.wait(patience)
        self._process.end()
        self._folder.close()


def control_pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a control socket."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def spawn(
    command: Sequence[str], sockets: Sequence[socket.socket], folder: Path, toolchain: Toolchain, variables: Mapping[str, str]
) -> Process:
    """Start a worker's process, which has ``folder`` for its output and temporary files and inherits the sockets."""
    home = str(folder)
    with (folder / _OUTPUT).open("wb") as output:
        return Process(
            command,
            pass_fds=[each.fileno() for each in sockets],
            stdout=output,
            stderr=output,
            env={**passed_on(toolchain), "TMPDIR": home, **toolchain.variables.private(home), **variables},
            cwd=folder,
        )


def last_output(process: Process, folder: Path) -> str:
    """What a worker printed that did not become ready; it has a second to end."""
    process.wait(1)
    with (folder / _OUTPUT).open("rb") as output:
        return read_ends(output.fileno(), 0, None, SHOWN)
