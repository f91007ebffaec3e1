"""Start a worker in an env."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from compat.engine.server import Server

WORKER = Path(__file__).parent.parent / "worker"

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "ROCM_PATH", "USER", "LOGNAME")
"""What a toolchain sees of the caller's environment variables. Everything else could change results behind the store's back."""

_OUTPUT = "output"


def passed_on() -> dict[str, str]:
    """The environment variables that a toolchain sees of the caller's."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


class OwnServer(Server):
    """A worker that serves nobody else. Closing it ends every process it started."""

    def __init__(self, python: str, *, worker: Path = WORKER, variables: Mapping[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="compat-server-", ignore_cleanup_errors=True)
        control, far_end = control_pair()
        with far_end:
            command = [python, "-I", str(worker), self._folder.name, str(far_end.fileno())]
            self._process = spawn(command, [far_end], Path(self._folder.name), variables or {})
        super().__init__(control)
        if not self.hello.ready:
            self.hello = evolve(self.hello, words=last_words(self._process, Path(self._folder.name)))
            self.close()

    def close(self) -> None:
        """End the worker and everything it started."""
        super().close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()


def control_pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a control socket."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def spawn(
    command: Sequence[str], sockets: Sequence[socket.socket], folder: Path, variables: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a worker's process, which has ``folder`` for its output and temporary files and inherits the sockets."""
    home = str(folder)
    private = {"TMPDIR": home, "TRITON_HOME": home, "TRITON_CACHE_DIR": f"{home}/cache", "TRITON_ALWAYS_COMPILE": "1"}
    with (folder / _OUTPUT).open("wb") as output:
        # A session of its own keeps the terminal's Ctrl-C away from it: stopping children is for us to do, in order.
        return subprocess.Popen(
            command,
            pass_fds=[each.fileno() for each in sockets],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**passed_on(), **private, **variables},
            cwd=folder,
            start_new_session=True,
        )


def last_words(process: subprocess.Popen[bytes], folder: Path) -> str:
    """What a worker printed that did not become ready; it has a second to end."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(1)
    return (folder / _OUTPUT).read_bytes()[-8192:].decode(errors="replace")
