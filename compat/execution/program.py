"""Ask a program of the user's what it thinks of a result."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

from attrs import frozen

from compat import interruption
from compat.errors import MachineError, SelectionError, is_refusal

DEADLINE = 600.0
"""Seconds that a program may take unless the user says otherwise."""
_NOT_RUN = (126, 127)
"""How a shell says that there is no such command, or that it cannot be executed."""
_SHOWN = 8192
"""Bytes of a program's output that are kept: the last ones."""
_TICK = 0.05


@frozen(kw_only=True)
class Said:
    """What a program said."""

    exit_code: int | None
    """Negative where a signal ended it; ``None`` where it was still running at the deadline."""
    output: str
    """The end of what it printed."""


def ask(command: str, document: str, variables: Mapping[str, str], deadline: float) -> Said:
    """Run a shell command with a document on its standard input, and these variables besides the user's own.

    After ``deadline`` seconds it is killed, and in any case what it leaves in its process group. Raises SelectionError where there
    is no such command, and Stopped where everything is to end meanwhile.
    """
    try:
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
            given.write(document.encode("utf-8", "backslashreplace"))
            given.seek(0)
            exit_code = _run(command, given, printed, variables, deadline)
            output = _end_of(printed)
    except OSError as error:
        if is_refusal(error):
            raise MachineError.of(error) from error
        raise
    if exit_code in _NOT_RUN:
        raise SelectionError(f"the command cannot be run: {output.strip()}", where=f"--judge run={command}")
    return Said(exit_code=exit_code, output=output)


def _run(command: str, given: IO[bytes], printed: IO[bytes], variables: Mapping[str, str], deadline: float) -> int | None:
    process = subprocess.Popen(
        ["sh", "-c", command],
        stdin=given,
        stdout=printed,
        stderr=printed,
        env={**os.environ, **variables},
        process_group=0,
    )
    return wait_for(process, deadline)


def wait_for(process: subprocess.Popen[bytes], deadline: float) -> int | None:
    """The exit code of a process that leads a group; ``None`` where it did not end by itself within so many seconds.

    Nothing is left of its group afterwards. Raises Stopped where the command is to end meanwhile.
    """
    give_up = time.monotonic() + deadline
    try:
        while time.monotonic() < give_up:
            interruption.check()
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_TICK)
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end_of(printed: IO[bytes]) -> str:
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(0, size - _SHOWN))
    text = printed.read().decode(errors="replace")
    return text if size <= _SHOWN else f"[… {size - _SHOWN:,} bytes left out …]\n{text}"
