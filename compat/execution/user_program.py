"""Run a program of the user's as the user would: on this terminal, with these variables besides, to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from attrs import frozen

from compat import interruption
from compat.errors import SelectionError
from compat.execution import procfs

_TICK = 0.1
_PATIENCE = 3.0
"""Seconds that a program may take to end after it was told to."""


@frozen(kw_only=True)
class Ended:
    """How a program ended."""

    exit_code: int
    """As a shell tells it: 128 and the number of the signal that ended it."""
    signal: str | None = None
    """The name of that signal (``SIGKILL``)."""
    timed_out: bool = False
    interrupted: bool = False
    """Whether the user asked for its end."""
    seconds: float = 0.0


def run_program(
    words: Sequence[str],
    variables: Mapping[str, str],
    *,
    timeout: float | None = None,
    on_tick: Callable[[float], None] = lambda _: None,
) -> Ended:
    """Run a command to its end, and say how that was. ``on_tick`` is called now and then, with the seconds since it began.

    After ``timeout`` seconds, or where everything is to end meanwhile, it is told to end, and then killed. Raises SelectionError
    where there is no such program.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(list(words), env={**os.environ, **variables})
    except OSError as error:
        hint = "A program is a command on PATH, a script (train.py), or a module (-m module)."
        raise SelectionError(f"the program cannot be started: {error.strerror}", where=words[0], hint=hint) from error
    interrupted = timed_out = False
    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TICK)
        seconds = time.monotonic() - began
        on_tick(seconds)
        interrupted = interruption.asked()
        timed_out = timeout is not None and seconds > timeout
        if interrupted or timed_out:
            interruption.take_back()  # what was recorded by then is to be read
            _end(process, at_once=timed_out)
            break
    code = process.wait()
    return Ended(
        exit_code=code if code >= 0 else 128 - code,
        signal=signal.Signals(-code).name if code < 0 else None,
        timed_out=timed_out,
        interrupted=interrupted,
        seconds=time.monotonic() - began,
    )


def _end(process: subprocess.Popen[bytes], *, at_once: bool) -> None:
    """Have a program end: by itself where it has heard of the user's Ctrl-C, else by SIGTERM, and in the end by SIGKILL."""
    if not at_once and _ends(process):
        return
    process.terminate()
    if not _ends(process):
        procfs.end_family(process.pid)


def _ends(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return False
    return True
