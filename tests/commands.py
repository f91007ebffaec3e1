"""The command in a separate process, forked from one that has imported the command."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result

from compat.cli.commands import main
from tests.forking import PROGRAMS, fork, is_usual
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent


def compat(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``compat`` of this tree in a project, with lines of 100 columns."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    return run(*arguments, cwd=project, env=env, timeout=PATIENCE)


def invoked(*arguments: str, code: int = 0) -> Result:
    """The result of ``compat`` in this process, which must end with an exit code."""
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == code, done.output
    return done


def run(
    *arguments: str,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float = 300,
    script: Path | None = None,
    program: str = "compat.cli",
) -> subprocess.CompletedProcess[str]:
    """Run ``compat`` or ``nox`` with these arguments; the result is that of :func:`subprocess.run`.

    The command is this tree's, or that of an environment whose script is given. Raises
    TimeoutExpired.
    """
    if not is_usual(env, script, program):
        python = [sys.executable, "-P"]
        if script:
            launcher = [str(script)]
        elif program in PROGRAMS:
            launcher = [*python, "-m", program]
        else:  # a module to import before compat.cli runs
            launcher = [*python, "-c", f"import {program}\nimport compat.cli.start as c\nc.start()"]
        command = [*launcher, *arguments]
        return subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
        )
    pipes = [os.pipe(), os.pipe()]
    output, errors = (write for _, write in pipes)
    process = fork(
        program, arguments, cwd=cwd, env=env, output=output, errors=errors, script=script
    )
    for write in (output, errors):
        os.close(write)
    texts = _read([read for read, _ in pipes], process.pid, arguments, timeout)
    return subprocess.CompletedProcess(["compat", *arguments], process.wait(), *texts)


def _read(pipes: list[int], pid: int, arguments: tuple[str, ...], timeout: float) -> list[str]:
    """The text from each pipe, until all processes that hold the pipe have closed it."""
    buffers = dict.fromkeys(pipes, b"")
    end = time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, end - time.monotonic()))
            if not ready and time.monotonic() >= end:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["compat", *arguments], timeout, *buffers.values())
            for key, _ in ready:
                if read := os.read(key.fd, 1 << 16):
                    buffers[key.fd] += read
                else:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [text.decode().replace("\r\n", "\n") for text in buffers.values()]
