"""Give PTX to an assembler without any Triton around it."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from compat.engine.launch import passed_on
from compat.model import Evidence, Raised

_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)


def assemble(ptxas: Path, ptx: Path, deadline: float) -> Evidence:
    """Have ``ptxas`` assemble the file ``ptx`` for the target that it names, within so many seconds."""
    target = _TARGET.search(ptx.read_text(encoding="utf-8", errors="replace"))
    name = target[1] if target else "sm_80"
    with tempfile.TemporaryDirectory(prefix="compat-ptxas-") as folder:
        command = [str(ptxas), "-v", f"--gpu-name={name}", str(ptx), "-o", f"{folder}/cubin"]
        try:
            done = subprocess.run(command, env=passed_on(), capture_output=True, text=True, errors="replace", timeout=deadline)
        except subprocess.TimeoutExpired:
            return Evidence(answered=False, stage="cubin", deadline=deadline)
        except OSError as error:
            return Evidence(answered=True, stage="cubin", raised=(Raised(type=type(error).__name__, message=str(error)),))
        if done.returncode < 0:
            return Evidence(answered=False, stage="cubin", exit_code=done.returncode, stderr=done.stderr)
        if done.returncode == 0 and Path(folder, "cubin").is_file():
            return Evidence(answered=True, built=True, stage="cubin")
        raised = Raised(type="RuntimeError", message=f"`ptxas` stderr:\n{done.stdout}{done.stderr}")
        return Evidence(answered=True, stage="cubin", raised=(raised,))
