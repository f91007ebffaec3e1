"""Start a process, watch it, and end it with all that it has started. Only this module starts any.

What a process prints goes to a file, of which a bounded part is read. Every process but :func:`run_in_foreground`'s leads a session
of its own: the terminal's Ctrl-C does not reach it, and it is ended in order, with its process group.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from attrs import frozen

from compat import interruption
from compat.errors import MachineError, SelectionError, is_refusal
from compat.processes import procfs
from compat.processes.output import read_end, read_ends

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
