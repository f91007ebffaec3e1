"""Repro scripts in processes that are forked from one that has imported Triton."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from click.testing import CliRunner

from compat.cli.commands import main
from compat.processes.supervisor import ProcessResult
from compat.repro import verify
from compat.repro.verify import run_script
from tests.forking import write_python


def run_forked(python: str, script: Path, deadline: float, heading: str = "") -> ProcessResult:
    """As :func:`compat.repro.verify.run_script`. The script may start itself again."""
    with TemporaryDirectory() as folder:
        variables = {"PYTHONDONTWRITEBYTECODE": "1"}  # as run_script sets them
        forking = write_python(Path(folder, "python"), python, "triton", variables=variables)
        return run_script(forking, script, deadline, heading)


def repro(*arguments: str, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run ``compat repro`` in this process, and its scripts in forked ones."""
    with (
        chdir(cwd),
        patch.dict(os.environ, env, clear=True),
        patch.object(verify, "run_script", run_forked),
    ):
        done = CliRunner().invoke(main, ["repro", *arguments], catch_exceptions=False)
    return subprocess.CompletedProcess(["compat"], done.exit_code, done.stdout, done.stderr)
