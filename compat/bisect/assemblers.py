"""Assemblers from elsewhere: one on disk (``ptxas``), or that of a release by itself, published as a wheel (CUDA).

Either takes the place of a release's own, or is run by itself, without the rest of its toolchain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from compat.bisect.request import ASSEMBLER_OPTION
from compat.config.matrix import declare
from compat.envs.listing import INDEX, index_urls, list_files
from compat.errors import EnvError, SelectionError
from compat.files import TemporaryFolder
from compat.model import BuiltEnv, Env, Evidence, Raised
from compat.processes.supervisor import run
from compat.toolchains import Assembler, Wheels
from compat.workers.evidence import lack_of_machine, refusal
from compat.workers.spawn import passed_on

_LARGEST_OUTPUT = 32 * 1024 * 1024
"""Bytes of what an assembler printed that are read."""


@frozen(kw_only=True)
class AssemblerProgram:
    """An assembler to put under a release."""

    name: str
    """What a reader knows it by: ``CUDA 12.9.86``, or its path."""
    path: Path


Obtain = Callable[[Path, Sequence[Env]], Sequence[BuiltEnv]]
"""Gives envs that a file declares as they are on disk, having built what is missing."""


def find_assembler(asked: str, toolchain: str, assembler: Assembler, state: Path, root: Path, obtain: Obtain) -> AssemblerProgram:
    """The assembler at a path, or of a release of it by itself (``12.9`` is the newest 12.9 of CUDA).

    Raises SelectionError if there is none, EnvError if its wheel cannot be installed, IndexUnavailable without an index.
    """
    wheels = assembler.wheels
    if wheels is None or os.sep in asked or Path(asked).is_file():
        return _at(Path(asked))
    distribution, version = _release(asked, wheels, root)
    name = f"{distribution}-{version}"
    config = declare(
        [{"name": name, toolchain: str(version), "distribution": distribution}],
        state / "elsewhere" / wheels.title.lower(),
    )
    (built,) = obtain(config.path, [config.env(name)])
    if built.error is not None or built.python is None:
        raise EnvError(f"{distribution} {version} could not be installed: {built.error}")
    path = next(Path(built.python).parent.parent.glob(wheels.inside), None)
    if path is None:
        raise EnvError(f"{distribution} {version} contains no {assembler.name}", hint="Give the path of one.")
    return AssemblerProgram(name=f"{wheels.title} {version}", path=path)


def _at(path: Path) -> AssemblerProgram:
    if not path.is_file():
        raise SelectionError(f"there is no file {path}", where=ASSEMBLER_OPTION)
    if not os.access(path, os.X_OK):
        raise SelectionError(f"{path} cannot be executed", where=ASSEMBLER_OPTION)
    return AssemblerProgram(name=str(path), path=path.absolute())


def _release(asked: str, wheels: Wheels, root: Path) -> tuple[str, Version]:
    """The distribution that has such a release, and the newest version that is asked for."""
    try:
        major, among = Version(asked).major, SpecifierSet(f"=={asked}.*")
    except (InvalidVersion, ValueError):
        hint = f"For example {wheels.example}."
        message = f"{asked!r} is neither a file nor a release of {wheels.title}"
        raise SelectionError(message, where=ASSEMBLER_OPTION, hint=hint) from None
    distribution = wheels.distribution(major)
    versions = list_files(distribution, index_urls(), cache=root / INDEX).versions()
    fitting = list(among.filter(versions))
    if not fitting:
        there = ", ".join(map(str, versions)) or "none"
        raise SelectionError(f"there is no {distribution} {asked}", where=ASSEMBLER_OPTION, hint=f"Available: {there}.")
    return distribution, max(fitting)


def assemble(assembler: Assembler, program: Path, source: Path, deadline: float) -> Evidence:
    """Have a program, which is such an assembler, assemble a file for the target that it names, within so many seconds.

    Raises MachineError where the machine has no room for that, and Stopped where the command is to end meanwhile.
    """
    with TemporaryFolder("compat-assembler-") as folder:
        evidence = _evidence(assembler, program, source, folder, deadline)
        if lack := None if evidence.built else lack_of_machine(evidence, folder):
            raise lack
        refused = None if evidence.built else refusal(evidence, folder)
        return evolve(evidence, answered=False, refused=refused) if refused else evidence


def _evidence(assembler: Assembler, program: Path, source: Path, folder: Path, deadline: float) -> Evidence:
    output = folder / "binary"
    try:
        command = assembler.command(program, source, output)
        ended = run(command, timeout=deadline, env=passed_on(), cwd=folder, limit=_LARGEST_OUTPUT)
    except OSError as error:
        raised = Raised(type=type(error).__name__, message=str(error), errno=error.errno)
        return Evidence(answered=True, stage=assembler.stage, raised=(raised,))
    if ended.exit_code is None:
        return Evidence(answered=False, stage=assembler.stage, deadline=deadline)
    return assembler.evidence(ended.exit_code, ended.output, output.is_file())
