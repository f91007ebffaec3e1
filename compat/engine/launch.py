"""Start a worker's warm server in an env, and have it fork a child for a batch.

The other side of :mod:`compat.worker`'s contract, which is written down there. A :class:`Server` may be used from several threads.
"""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from attrs import frozen

WORKER = Path(__file__).parent.parent / "worker"

READY_DEADLINE = 180.0
"""Seconds a server may take to import its toolchain and to warm it; the first import of a fresh env reads gigabytes from disk."""

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "ROCM_PATH", "USER", "LOGNAME")
"""What a toolchain sees of the caller's environment variables. Everything else could change results behind the store's back."""


@frozen(kw_only=True)
class Hello:
    """What a server said when it was ready, or why it never will be."""

    ready: bool
    version: str = ""
    seconds: float = 0.0
    """How long importing and warming took."""
    threads: int = 1
    """Threads in the server; forking is only safe with one."""
    raised: tuple[Mapping[str, str], ...] = ()
    words: str = ""
    """What it printed, where it did not become ready."""


class Server:
    """A worker in one env, warm unless told otherwise. Closing it ends every process it started."""

    def __init__(
        self, python: str, *, warm: bool = True, worker: Path = WORKER, variables: Mapping[str, str] | None = None
    ) -> None:
        self.python = python
        self.warm = warm
        self.worker = worker
        self.variables = dict(variables or {})
        self.directory = tempfile.TemporaryDirectory(prefix="compat-server-", ignore_cleanup_errors=True)
        self._control, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._output = open(os.path.join(self.directory.name, "output"), "w+b")  # noqa: SIM115 (closed by close())
        with far_end:
            self._process = self._start(far_end.fileno())
        self.hello = self._await_hello()

    def _start(self, control: int) -> subprocess.Popen[bytes]:
        # A session of its own keeps the terminal's Ctrl-C away from it: stopping children is for us to do, in order.
        return subprocess.Popen(
            [self.python, "-I", str(self.worker), str(control), *([] if self.warm else ["cold"])],
            pass_fds=[control],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            env=self._environment(),
            cwd=self.directory.name,
            start_new_session=True,
        )

    def _environment(self) -> dict[str, str]:
        passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        home = self.directory.name
        private = {"TMPDIR": home, "TRITON_HOME": home, "TRITON_CACHE_DIR": f"{home}/cache", "TRITON_ALWAYS_COMPILE": "1"}
        return passed_on | private | self.variables

    def _await_hello(self) -> Hello:
        self._control.settimeout(READY_DEADLINE)
        try:
            packet = self._control.recv(1 << 20)
            message = json.loads(packet) if packet else {}
        except TimeoutError:
            message = {"raised": [{"type": "TimeoutError", "message": f"not ready after {READY_DEADLINE:g} s"}]}
        except (OSError, ValueError):
            message = {}
        self._control.settimeout(None)
        if isinstance(message, dict) and message.get("event") == "ready":
            return Hello(
                ready=True,
                version=str(message.get("version", "")),
                seconds=float(message.get("seconds", 0.0)),
                threads=int(message.get("threads", 1)),
            )
        hello = Hello(ready=False, raised=tuple(message.get("raised", ())), words=self._last_words())
        self.close()
        return hello

    def _last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._output.seek(0)
        return self._output.read()[-8192:].decode(errors="replace")

    @property
    def alive(self) -> bool:
        """Whether it still takes requests."""
        return self.hello.ready and self._process.poll() is None

    def fork(self, jobs: int, events: int, output: int, exit_pipe: int) -> None:
        """Have a child forked that runs a batch, with these file descriptors (see the contract).

        Raises ``OSError`` when the server is gone.
        """
        with self._lock:
            descriptors = array.array("i", [jobs, events, output, exit_pipe])
            self._control.sendmsg([b'{"do": "batch"}'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])

    def close(self) -> None:
        """End the server and everything it started."""
        self._control.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()
        self.directory.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Child:
    """The driver's ends of one forked child: its pipes, its output and its private directory."""

    def __init__(self, server: Server, jobs: Sequence[Mapping[str, Any]], *, diagnose: bool, variables: Mapping[str, str]) -> None:
        self._private = tempfile.TemporaryDirectory(prefix="compat-batch-", ignore_cleanup_errors=True)
        self.directory = Path(self._private.name)
        request = {"directory": str(self.directory), "diagnose": diagnose, "variables": dict(variables), "jobs": list(jobs)}
        (self.directory / "jobs.json").write_text(json.dumps(request), encoding="utf-8")
        self.output = os.open(self.directory / "output", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self.events, events = os.pipe()
        self.exit, exit_pipe = os.pipe()
        jobs_file = os.open(self.directory / "jobs.json", os.O_RDONLY)
        try:
            server.fork(jobs_file, events, self.output, exit_pipe)
        except OSError:
            pass  # the server is gone; closing our copies makes both pipes end at once, which says so
        finally:
            for fd in (jobs_file, events, exit_pipe):
                os.close(fd)

    def read_output(self, start: int, end: int | None, limit: int) -> str:
        """What was printed between two offsets; of more than ``limit`` bytes the first quarter and the end."""
        size = (os.fstat(self.output).st_size if end is None else end) - start
        if size <= limit:
            return os.pread(self.output, max(size, 0), start).decode(errors="replace")
        head = os.pread(self.output, limit // 4, start)
        tail = os.pread(self.output, limit - len(head), start + size - limit + len(head))
        return f"{head.decode(errors='replace')}\n[… {size - limit} bytes left out …]\n{tail.decode(errors='replace')}"

    def close(self) -> None:
        """Close the pipes and remove the directory. The child must have ended."""
        for fd in (self.events, self.exit, self.output):
            os.close(fd)
        self._private.cleanup()


# --- scripts of ours ---------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class ScriptRun:
    """How a script ended."""

    exit_code: int | None
    """Negative for a signal; ``None`` where it did not end by itself before the deadline."""
    output: str
    """What it wrote to descriptors 1 and 2."""


def run_script(python: str, script: Path, deadline: float) -> ScriptRun:
    """Run a script in an env, in a fresh process and a folder of its own, as somebody would who knows nothing of us.

    After ``deadline`` seconds it is killed, with what it started in its process group.
    """
    with tempfile.TemporaryDirectory(prefix="compat-script-", ignore_cleanup_errors=True) as home:
        passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        with open(os.path.join(home, "output"), "w+b") as output:
            process = subprocess.Popen(
                [python, str(script)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=passed_on | {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"},
                cwd=home,
                start_new_session=True,
            )
            try:
                exit_code = process.wait(deadline)
            except subprocess.TimeoutExpired:
                exit_code = None
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            output.seek(0)
            return ScriptRun(exit_code=exit_code, output=output.read().decode(errors="replace"))
