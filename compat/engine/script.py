"""Run a repro script in an env, as somebody would who knows nothing of us."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from compat.engine.launch import passed_on


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
    folder = tempfile.TemporaryDirectory(prefix="compat-script-", ignore_cleanup_errors=True)
    with folder as home, open(os.path.join(home, "output"), "w+b") as output:
        process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=passed_on() | {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"},
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
