"""Start processes, exchange lines with them, watch them, and end them with their descendants.

On the driver, only this module starts processes. It also reads Linux's facts about them, mostly
from ``/proc``.

Output of a process goes to a file. A bounded part of it is read: beginning and end, in whole lines.

Every process leads a session of its own, except that of :func:`run_in_foreground`. So Ctrl-C in the
terminal does not reach it, and this module ends it in order, with its process group.
"""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from attrs import frozen

from compat import interruption
from compat.errors import MachineError, SelectionError, is_refusal
from compat.files import Closing, read_end, read_ends
from compat.interruption import Stopped

PIPE = subprocess.PIPE
POLL = 0.05
"""Seconds between two checks whether a process has ended, or the command must end."""
SHOWN = 8192
"""Bytes at the end of a process's output that are shown to users."""
_PATIENCE = 3.0
"""Seconds that a program in the foreground may take to end after a signal."""

File = int | IO[bytes]


@frozen(kw_only=True)
class ProcessResult:
    """How a process ended, and what it printed."""

    exit_code: int | None
    """Negative if a signal ended it; ``None`` if it was still running at the deadline."""
    output: str
    """The output on descriptors 1 and 2, bounded."""


class Process:
    """A process in a session of its own, from its start until it is ended or detached."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: File = subprocess.DEVNULL,
        stdout: File,
        stderr: File,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start the process.

        Raises MachineError if the machine refuses to start any process, and OSError if there is no
        such program.
        """
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=env,
                cwd=cwd,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
        except OSError as error:
            if is_refusal(error):
                raise MachineError.of(error) from error
            raise
        self.stdin, self.stdout = self._process.stdin, self._process.stdout

    def wait(self, seconds: float) -> int | None:
        """Wait for the exit code, which is negative if a signal ended the process.

        It is ``None`` if the process has not ended within ``seconds``.
        """
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def wait_while(self, waiting: Callable[[], bool]) -> int | None:
        """Wait for the exit code; ``None`` if the process still runs when ``waiting`` turns false.

        Raises Stopped.
        """
        while waiting():
            interruption.check()
            if (code := self.wait(POLL)) is not None:
                return code
        return None

    def end(self) -> int:
        """Kill the process, its descendants and its process group, and return its exit code."""
        if self._process.poll() is None:
            end_family(self._process.pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()

    def detach(self) -> None:
        """Let the process outlive this program."""
        self._process.returncode = 0  # no code waits for it any more


def run(  # noqa: PLR0913 - the options of one start, by name
    command: Sequence[str],
    *,
    timeout: float = math.inf,
    document: str = "",
    into: IO[bytes] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    limit: int | None = None,
    heading: str = "",
    waiting: Callable[[], bool] = lambda: True,
) -> ProcessResult:
    """Run a command to its end, with a document on its standard input.

    Its whole process group ends with it. It is killed after ``timeout`` seconds, or once
    ``waiting`` becomes false. ``limit`` bytes of its output are read, as :func:`read_ends` does.
    Without a limit, the last :data:`SHOWN` bytes are read. With ``into``, standard output goes into
    that file, and only the output on descriptor 2 is read.

    Raises MachineError if the machine refuses to start a process, OSError if there is no such
    program, and Stopped if all running work must end.
    """
    with TemporaryFile() as printed, TemporaryFile() as stdin_file:
        stdin_file.write(document.encode("utf-8", "backslashreplace"))
        stdin_file.seek(0)
        process = Process(
            command, stdin=stdin_file, stdout=into or printed, stderr=printed, env=env, cwd=cwd
        )
        give_up = time.monotonic() + timeout
        try:
            code = process.wait_while(lambda: time.monotonic() < give_up and waiting())
        finally:
            process.end()
        output = printed.fileno()
        text = (
            read_end(output, SHOWN) if limit is None else read_ends(output, 0, None, limit, heading)
        )
        return ProcessResult(exit_code=code, output=text)


@frozen(kw_only=True)
class ForegroundResult:
    """How a program in the foreground ended."""

    exit_code: int
    """The exit code as in a shell: 128 plus the number of the signal that ended the program."""
    signal: str | None = None
    """The name of that signal (``SIGKILL``)."""
    timed_out: bool = False
    interrupted: bool = False
    """Whether it was ended because all running work must end."""


def run_in_foreground(
    command: Sequence[str],
    variables: Mapping[str, str],
    *,
    folder: Path | None = None,
    output: IO[bytes] | None = None,
    timeout: float | None = None,
    on_tick: Callable[[float], None] = lambda _: None,
) -> ForegroundResult:
    """Run a user's program to its end as the user would, on this terminal.

    ``variables`` are added to the environment. The program runs in ``folder``, and writes into
    ``output`` instead of the terminal. ``on_tick`` is called regularly, with the seconds since the
    start. After ``timeout`` seconds, or if all running work must end, the program is asked to end,
    and then killed. Raises SelectionError if there is no such program.
    """
    began = time.monotonic()
    hint = "A program is a command on PATH, a script (train.py), or a module (-m module)."
    with SelectionError.for_os_errors("cannot start the program", where=command[0], hint=hint):
        process = subprocess.Popen(
            list(command), env={**os.environ, **variables}, cwd=folder, stdout=output, stderr=output
        )
    interrupted = timed_out = False
    while process.poll() is None:
        _ends(process, 2 * POLL)
        seconds = time.monotonic() - began
        on_tick(seconds)
        interrupted = interruption.is_requested()
        timed_out = timeout is not None and seconds > timeout
        if interrupted or timed_out:
            interruption.clear()  # the caller still reads what the program recorded
            _end_in_foreground(process, at_once=timed_out)
            break
    code = process.wait()
    return ForegroundResult(
        exit_code=code if code >= 0 else 128 - code,
        signal=signal.Signals(-code).name if code < 0 else None,
        timed_out=timed_out,
        interrupted=interrupted,
    )


def _end_in_foreground(process: subprocess.Popen[bytes], *, at_once: bool) -> None:
    """End a program.

    Unless ``at_once``, it may first end by itself, after the user's Ctrl-C. Otherwise SIGTERM ends
    it, and finally SIGKILL.
    """
    if not at_once and _ends(process, _PATIENCE):
        return
    process.terminate()
    if not _ends(process, _PATIENCE):
        end_family(process.pid)


def _ends(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a process ends within ``seconds``."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return True
    return False


# --- programs that answer questions ---------------------------------------------------------------


class SessionEnded(Exception):
    """The program has ended, or does not answer.

    The message is the last line that it printed, or the reason.
    """


class Session(Closing):
    """A running program that answers lines of text, until it is closed."""

    def __init__(
        self,
        command: Sequence[str],
        stop: threading.Event | None = None,
        *,
        variables: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        patience: float = 0.0,
    ) -> None:
        """Start a program.

        Args:
            command: The command line.
            stop: An event that makes waiting for an answer raise Stopped.
            variables: Environment variables besides this process's.
            pass_fds: File descriptors that the program inherits.
            patience: Seconds that the program has to end by itself when it is closed.

        Raises:
            SessionEnded: There is no such program.
            MachineError: The machine refuses to start a process.
        """
        self.stop, self._patience = stop, patience
        self._printed = TemporaryFile()  # noqa: SIM115 - closed with all else
        self._rest = b""
        env = {**os.environ, **(variables or {})}
        try:
            self._process = Process(
                command, stdin=PIPE, stdout=PIPE, stderr=self._printed, env=env, pass_fds=pass_fds
            )
        except BaseException as error:
            self._printed.close()
            if isinstance(error, OSError):
                raise SessionEnded(f"{command[0]}: {error.strerror}") from error
            raise

    def ask(self, line: str, seconds: float = math.inf) -> str:
        """Send a line, and return the answer that arrives within ``seconds``.

        Raises SessionEnded if there is none, and Stopped.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._end_error() from error
        return self.read_line(seconds)

    def read_line(self, seconds: float) -> str:
        """The next line that the program writes. Raises as :meth:`ask` does."""
        assert self._process.stdout is not None
        pipe, until = self._process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._rest:
            interruption.check()
            if self.stop is not None and self.stop.is_set():
                raise Stopped
            if time.monotonic() > until:
                raise SessionEnded(f"it did not answer within {seconds:g} s")
            if select.select([pipe], [], [], POLL)[0]:
                data = os.read(pipe, 1 << 16)
                if not data:
                    raise self._end_error()
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    @property
    def output_end(self) -> str:
        """The end of the program's output besides its answers."""
        return read_end(self._printed.fileno(), SHOWN)

    def _end_error(self) -> SessionEnded:
        lines = self.output_end.strip().splitlines()
        return SessionEnded(lines[-1] if lines else "it ended without output")

    def end(self) -> int:
        """End the program, its descendants and its process group, and return its exit code."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._process.wait(self._patience)
        return self._process.end()

    def close(self) -> None:
        """End the program, and close its output."""
        self.end()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._printed.close()


_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")

AVAILABLE_CORES = len(os.sched_getaffinity(0))
"""Cores that this process may use."""


def resident_bytes(pid: int) -> int:
    """Bytes in memory of a process and all its descendants; 0 if it is gone.

    Shared pages count once per process.
    """
    return sum(_resident(member) for member in family(pid))


def family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    waiting = [pid]
    while waiting:
        member = waiting.pop()
        yield member
        waiting += children(member)


def children(pid: int) -> list[int]:
    """The child processes of a process; none if it is gone."""
    pids: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                pids += map(int, (task / "children").read_text().split())
    return pids


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process and all its descendants, and of children that they waited for."""
    return sum(_ticks(member) for member in family(pid)) / _TICKS


def _ticks(pid: int) -> int:
    """CPU time of a process and of the children that it waited for; 0 if it is gone.

    The unit is the system's clock tick.
    """
    return sum(map(int, _stat(pid)[11:15]))


def _stat(pid: int) -> list[str]:
    """The fields of a process's ``stat`` after the name of its program; none if it is gone."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return text.rpartition(")")[2].split()
    return []


def starved_seconds(pid: int) -> float:
    """Seconds that a process and its descendants were ready to run and had no processor.

    They are of each one's main thread. They are 0 if the process is gone or the system does not
    count them.
    """
    return sum(map(_starved_nanoseconds, family(pid))) / 1e9


def _starved_nanoseconds(pid: int) -> int:
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1])
    return 0


def private_bytes(pid: int) -> int:
    """Bytes in memory of one process without pages of files, which the system could drop.

    They are 0 if the process is gone.
    """
    return bytes_in(Path(f"/proc/{pid}/status"), "RssAnon") or 0


def bytes_in(file: Path, field: str) -> int | None:
    """The bytes that a file of Linux gives for a field, in kB; ``None`` if it gives none."""
    try:
        fields = dict(line.split(":", 1) for line in file.read_text(encoding="utf-8").splitlines())
        return int(fields[field].split()[0]) * 1024
    except (OSError, KeyError, IndexError, ValueError):
        return None


def command(pid: int) -> tuple[str, ...]:
    """The command line of a process; empty if it is gone or cannot be read."""
    with suppress(OSError):
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        return tuple(word.decode(errors="replace") for word in arguments if word)
    return ()


def working_folder(pid: int) -> str | None:
    """The working folder of a process; ``None`` if it is gone or belongs to another user."""
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def state(pid: int) -> str:
    """The system's letter for the state of a process: ``T`` if it is stopped.

    It is empty if the process is gone.
    """
    return next(iter(_stat(pid)), "")


def inside(folder: Path) -> list[int]:
    """The processes of this user whose working folder is ``folder``."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if working_folder(pid) == str(folder)]


def end_users(folder: Path) -> None:
    """Kill every process of this user that works in a folder or has a file in it open.

    This also finds processes that lost their parents, which nothing else connects to the folder.
    """
    inside = f"{folder}/"
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                links = [entry / "cwd", *(entry / "fd").iterdir()]
                if any(f"{link.readlink()}/".startswith(inside) for link in links):
                    os.kill(int(entry.name), signal.SIGKILL)


def end_family(pid: int) -> None:
    """Kill a process and all its descendants."""
    for member in list(family(pid)):
        with suppress(OSError):
            os.kill(member, signal.SIGKILL)
