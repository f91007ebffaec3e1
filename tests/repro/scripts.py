"""Repro scripts in processes that are forked from one that has imported Triton."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from compat.processes.supervisor import ProcessResult
from compat.repro.verify import run_script
from tests.forking import write_python


def run_forked(python: str, script: Path, deadline: float, heading: str = "") -> ProcessResult:
    """As :func:`compat.repro.verify.run_script`. The script may start itself again."""
    with TemporaryDirectory() as folder:
        variables = {"PYTHONDONTWRITEBYTECODE": "1"}  # as run_script sets them
        forking = write_python(Path(folder, "python"), python, "triton", variables=variables)
        return run_script(forking, script, deadline, heading)
