"""Run an assembler by itself, without the rest of its toolchain."""

from __future__ import annotations

import subprocess
from pathlib import Path

from attrs import evolve

from compat.execution import machine
from compat.execution.program import wait_for
from compat.execution.variables import passed_on
from compat.model import Evidence, Raised
from compat.scratch import Folder
from compat.toolchains import Assembler

_PRINTED = "printed"


def assemble(assembler: Assembler, program: Path, source: Path, deadline: float) -> Evidence:
    """Have a program, which is such an assembler, assemble a file for the target that it names, within so many seconds.

    Raises MachineError where the machine has no room for that, and Stopped where the command is to end meanwhile.
    """
    with Folder("compat-assembler-") as folder:
        evidence = _evidence(assembler, program, source, folder, deadline)
        if lack := None if evidence.built else machine.lack(evidence, folder):
            raise lack
        refused = None if evidence.built else machine.refusal(evidence, folder)
        return evolve(evidence, answered=False, refused=refused) if refused else evidence


def _evidence(assembler: Assembler, program: Path, source: Path, folder: Path, deadline: float) -> Evidence:
    output = folder / "binary"
    try:
        code = _run(assembler.command(program, source, output), folder, deadline)
    except OSError as error:
        raised = Raised(type=type(error).__name__, message=str(error), errno=error.errno)
        return Evidence(answered=True, stage=assembler.stage, raised=(raised,))
    if code is None:
        return Evidence(answered=False, stage=assembler.stage, deadline=deadline)
    return assembler.told(code, (folder / _PRINTED).read_text(encoding="utf-8", errors="replace"), output.is_file())


def _run(command: list[str], folder: Path, deadline: float) -> int | None:
    """The exit code of a program that prints into a folder; ``None`` where it did not end in time."""
    with (folder / _PRINTED).open("wb") as printed:
        process = subprocess.Popen(
            command, env=passed_on(), cwd=folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, start_new_session=True
        )
        return wait_for(process, deadline)
