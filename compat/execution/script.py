"""Run a repro script in an env, as somebody would who knows nothing of us."""

from __future__ import annotations

import subprocess
from pathlib import Path

from attrs import frozen

from compat.execution.output import read_ends
from compat.execution.program import wait_for
from compat.execution.variables import passed_on
from compat.scratch import Folder

_LIMIT = 32 * 1024 * 1024
"""Bytes of what a script printed that are read."""


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
    with Folder("compat-script-") as folder, open(folder / "output", "w+b") as output:
        home = str(folder)
        process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=passed_on() | {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=home,
            start_new_session=True,
        )
        exit_code = wait_for(process, deadline)
        return ScriptRun(exit_code=exit_code, output=read_ends(output.fileno(), 0, None, _LIMIT))
