"""Start a process, ask it, watch it, and end it with all that it has started. Only this module starts any.

What a process prints goes to a file, of which a bounded part is read: of much, its beginning and its end, in whole lines, and only
with ``pread``, since who prints into it may write, cut or lengthen it meanwhile.

Every process but :func:`run_in_foreground`'s leads a session of its own: the terminal's Ctrl-C does not reach it, and it is ended
in order, with its process group.
"""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Self

from attrs import frozen

from compat import interruption
from compat.errors import MachineError, SelectionError, is_refusal
from compat.interruption import Stopped
from compat.processes import procfs

PIPE = subprocess.PIPE
POLL = 0.05
"""Seconds between two looks at whether a process has ended, or the command is to end."""
SHOWN = 8192
"""Bytes of what a process printed that are shown to people: the last ones."""
_PATIENCE = 3.0
"""Seconds that a program in the foreground may take to end after it was told to."""

File = int | IO[bytes]


@frozen(kw_only=True)
class ProcessResult:
    """How a process ended, and what it printed."""

    exit_code: int | None
    """Negative where a signal ended it; ``None`` where it was still running at the deadline."""
    output: str
    """What it printed to descriptors 1 and 2, within bounds."""


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
        """Start it. Raises MachineError where the machine refuses to start any, and OSError where there is no such program."""
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
        """Its exit code, negative where a signal ended it; ``None`` where it has not ended within so many seconds."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def wait_while(self, waiting: Callable[[], bool]) -> int | None:
        """Its exit code; ``None`` where it has not ended by the time that ``waiting`` says no. Raises Stopped."""
        while waiting():
            interruption.check()
            if (code := self.wait(POLL)) is not None:
                return code
        return None

    def end(self) -> int:
        """Kill what is left of it, its descendants and its process group; its exit code."""
        if self._process.poll() is None:
            procfs.end_family(self._process.pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()

    def detach(self) -> None:
        """Let it outlive this program."""
        self._process.returncode = 0  # nobody waits for it


def run(
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
    """Run a command to its end, with a document on its standard input; nothing is left of its process group.

    It is killed after ``timeout`` seconds, or once ``waiting`` says no. Of what it printed ``limit`` bytes are read, as
    :func:`read_ends` does; without a limit as much of its end as is shown to people. With a file that it writes ``into``, only
    what it printed to descriptor 2 is read.

    Raises MachineError where the machine refuses to start a process, OSError where there is no such program, and Stopped where the
    command is to end.
    """
    with TemporaryFile() as printed, TemporaryFile() as given:
        given.write(document.encode("utf-8", "backslashreplace"))
        given.seek(0)
        process = Process(command, stdin=given, stdout=into or printed, stderr=printed, env=env, cwd=cwd)
        give_up = time.monotonic() + timeout
        try:
            code = process.wait_while(lambda: time.monotonic() < give_up and waiting())
        finally:
            process.end()
        output = printed.fileno()
        text = read_end(output, SHOWN) if limit is None else read_ends(output, 0, None, limit, heading)
        return ProcessResult(exit_code=code, output=text)


@frozen(kw_only=True)
class ForegroundResult:
    """How a program in the foreground ended."""

    exit_code: int
    """As a shell tells it: 128 and the number of the signal that ended it."""
    signal: str | None = None
    """The name of that signal (``SIGKILL``)."""
    timed_out: bool = False
    interrupted: bool = False
    """Whether the user asked for its end."""
    seconds: float = 0.0


def run_in_foreground(
    command: Sequence[str],
    variables: Mapping[str, str],
    *,
    timeout: float | None = None,
    on_tick: Callable[[float], None] = lambda _: None,
) -> ForegroundResult:
    """Run a program of the user's as the user would, on this terminal and with these variables besides, to its end.

    ``on_tick`` is called now and then, with the seconds since it began. After ``timeout`` seconds, or where everything is to end
    meanwhile, it is told to end, and then killed. Raises SelectionError where there is no such program.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(list(command), env={**os.environ, **variables})
    except OSError as error:
        hint = "A program is a command on PATH, a script (train.py), or a module (-m module)."
        raise SelectionError(f"the program cannot be started: {error.strerror}", where=command[0], hint=hint) from error
    interrupted = timed_out = False
    while process.poll() is None:
        _ends(process, 2 * POLL)
        seconds = time.monotonic() - began
        on_tick(seconds)
        interrupted = interruption.asked()
        timed_out = timeout is not None and seconds > timeout
        if interrupted or timed_out:
            interruption.clear()  # what was recorded by then is to be read
            _end_in_foreground(process, at_once=timed_out)
            break
    code = process.wait()
    return ForegroundResult(
        exit_code=code if code >= 0 else 128 - code,
        signal=signal.Signals(-code).name if code < 0 else None,
        timed_out=timed_out,
        interrupted=interrupted,
        seconds=time.monotonic() - began,
    )


def _end_in_foreground(process: subprocess.Popen[bytes], *, at_once: bool) -> None:
    """Have a program end: by itself where it has heard of the user's Ctrl-C, else by SIGTERM, and in the end by SIGKILL."""
    if not at_once and _ends(process, _PATIENCE):
        return
    process.terminate()
    if not _ends(process, _PATIENCE):
        procfs.end_family(process.pid)


def _ends(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it ends within so many seconds."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return True
    return False


# --- what it printed ----------------------------------------------------------------------------------------------------------

_CHUNK = 1 << 20


def read_end(fd: int, limit: int) -> str:
    """The last ``limit`` bytes of a file, behind how much is left out."""
    size = os.fstat(fd).st_size
    text = read_bytes(fd, max(0, size - limit), size).decode(errors="replace")
    return text if size <= limit else f"[… {size - limit:,} bytes left out …]\n{text}"


def read_ends(fd: int, start: int, end: int | None, limit: int, heading: str = "") -> str:
    """What stands between two offsets of a file (``None``: its end); of more than ``limit`` bytes the first eighth and the rest
    from the end, and between them how much is left out.

    ``heading`` is what a line begins with that is the heading of what follows. The last one in the part left out stands before the
    rest, so that this is not taken for what follows an earlier one.
    """
    size = os.fstat(fd).st_size
    start = min(start, size)
    end = size if end is None else max(start, min(end, size))
    if end - start <= limit:
        return read_bytes(fd, start, end).decode(errors="replace")
    head = read_bytes(fd, start, start + limit // 8)
    head = head[: head.rfind(b"\n") + 1] or head + b"\n"
    tail_start = end - (limit - limit // 8)
    tail = read_bytes(fd, tail_start, end)
    last = _last_line(fd, start, tail_start, b"\n" + heading.encode()) if heading else b""
    cut = tail.find(b"\n") + 1
    tail = tail[cut:] if cut < len(tail) else tail
    note = f"[… {tail_start - start - limit // 8:,} bytes left out …]\n".encode()
    inside = last + b"// " + note if last else b""
    return (head + note + inside + tail).decode(errors="replace")


def read_bytes(fd: int, start: int, end: int) -> bytes:
    """The bytes between two offsets, as many of them as there are."""
    pieces: list[bytes] = []
    while start < end and (piece := os.pread(fd, min(end - start, 64 * _CHUNK), start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _last_line(fd: int, start: int, end: int, beginning: bytes) -> bytes:
    """The last line between two offsets that begins so; empty where there is none."""
    while end > start:
        low = max(start, end - _CHUNK)
        chunk = read_bytes(fd, low, end + len(beginning))
        at = chunk.rfind(beginning)
        if at >= 0:
            line = read_bytes(fd, low + at + 1, low + at + 4096)
            return line.partition(b"\n")[0] + b"\n"
        end = low
    return b""


# --- programs that stay and answer --------------------------------------------------------------------------------------------


class SessionEnded(Exception):
    """The program has ended, or does not answer. The message is the last line that it printed."""


class Session:
    """A program that is asked, from its start until it is closed."""

    def __init__(
        self,
        command: Sequence[str],
        stop: threading.Event | None = None,
        *,
        variables: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        patience: float = 0.0,
    ) -> None:
        """Start it, with variables besides one's own. ``stop`` ends whoever waits for an answer; ``patience`` is how many seconds
        it has to end by itself when it is closed.

        Raises SessionEnded where there is no such program, and MachineError where the machine refuses to start any.
        """
        self.stop, self._patience = stop, patience
        self._printed = TemporaryFile()  # noqa: SIM115 - closed with all else
        self._rest = b""
        env = {**os.environ, **(variables or {})}
        try:
            self._process = Process(command, stdin=PIPE, stdout=PIPE, stderr=self._printed, env=env, pass_fds=pass_fds)
        except BaseException as error:
            self._printed.close()
            if isinstance(error, OSError):
                raise SessionEnded(f"{command[0]}: {error.strerror}") from error
            raise

    def ask(self, line: str, seconds: float = math.inf) -> str:
        """The answer to a line, within so many seconds. Raises SessionEnded where there is none, and Stopped."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended() from error
        return self.read_line(seconds)

    def read_line(self, seconds: float) -> str:
        """The next line that it writes. Raises as asking does."""
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
                    raise self._ended()
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    @property
    def printed(self) -> str:
        """The end of what it printed besides its answers."""
        return read_end(self._printed.fileno(), SHOWN)

    def _ended(self) -> SessionEnded:
        lines = self.printed.strip().splitlines()
        return SessionEnded(lines[-1] if lines else "it ended, and said nothing")

    def end(self) -> int:
        """End it, with all that it has started in its group; its exit code."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._process.wait(self._patience)
        return self._process.end()

    def close(self) -> None:
        """End it, and let go of what it printed."""
        self.end()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._printed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
