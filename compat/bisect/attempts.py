"""Attempts with other IR, another assembler or dumps, in one server per env.

Such attempts do not show what a user would see, so they are not kept as results. A foreign
assembler is a program on disk, or the assembler of a release, published as a wheel. It replaces a
release's own assembler, or runs without the rest of its toolchain.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from attrs import evolve, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from compat.bisect.answers import Effect
from compat.bisect.request import ASSEMBLER_OPTION
from compat.config.matrix import declare
from compat.engine.run import RunContext, outcome_of, run
from compat.envs.listing import INDEX, index_urls, list_files
from compat.errors import EnvError, SelectionError
from compat.executors.executor import Batch
from compat.files import Closing, TemporaryFolder
from compat.model import Cell, Evidence, Outcome, RaisedException, Result, Status
from compat.processes import supervisor
from compat.project import Obtain
from compat.toolchains.base import Assembler, Wheels
from compat.workers.attempt import KEEPING_IR, Mode
from compat.workers.evidence import lack_of_machine, printed_text, refusal
from compat.workers.spawn import visible_variables


class Attempts(Closing):
    """Makes single attempts, in servers that it releases at the end of a search."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._executor = context.open_executor(stop=threading.Event())

    def results(self, *cells: Cell) -> tuple[Result, ...]:
        """The results of ordinary cells, read from the store or compiled, confirmed and kept."""
        # A run that ended leaves its ``stop`` set, so this one needs another.
        return run(cells, evolve(self._context, stop=threading.Event()))

    def make(self, cell: Cell, mode: Mode) -> Evidence:
        """Attempt a cell once. If its env is broken, the evidence says so."""
        built = self._context.envs[cell.env.name]
        if built.error is not None or built.python is None:
            return Evidence(
                answered=False,
                toolchain_broken=True,
                stderr=built.error or "there is no interpreter",
            )
        (answer,) = self._executor.submit(Batch([cell], built, self._context.limits, mode=mode))
        self._context.store.add(answer.artifacts)
        return answer.attempts[0]

    def outcome(self, cell: Cell, mode: Mode) -> Outcome:
        """The outcome of one attempt at a cell."""
        return outcome_of(cell, [self.make(cell, mode)])

    def assembler_outcome(self, cell: Cell, assembler: Assembler, program: Path) -> Outcome | None:
        """The outcome of an assembler on the input that it would get for a cell.

        It is ``None`` if the compile makes no such input.
        """
        source = self.make(cell, KEEPING_IR).artifacts.get(assembler.input_stage)
        if source is None:
            return None
        return outcome_of(
            cell, [assemble(assembler, program, self.path(source), self._context.limits.deadline)]
        )

    def path(self, name: str) -> Path:
        """The path of an artifact that an attempt kept."""
        return self._context.store.artifacts / name

    def kept_output(self, evidence: Evidence) -> str:
        """The kept output of an attempt; empty if the store no longer has it."""
        return printed_text(evidence, self._context.store.artifact) or ""

    def text(self, name: str) -> str:
        """An artifact that an attempt kept, as text; empty if the store no longer has it."""
        return self.data(name).decode(errors="replace")

    def data(self, name: str) -> bytes:
        """An artifact that an attempt kept; empty if the store no longer has it."""
        return self._context.store.artifact(name) or b""

    def close(self) -> None:
        """Release all workers."""
        self._executor.close()


def effect_on(failing: Outcome, changed: Outcome) -> Effect:
    """The effect of a change on the failure; another failure is inconclusive."""
    if changed.flaky or not changed.status.is_answer or failing.failure is None:
        return Effect.UNKNOWN
    if changed.failure is None:
        return Effect.OK if changed.status is Status.OK else Effect.UNKNOWN
    same = changed.failure.fingerprint == failing.failure.fingerprint
    return Effect.SAME if same else Effect.UNKNOWN


# --- assemblers from elsewhere --------------------------------------------------------------------


_LARGEST_OUTPUT = 32 * 1024 * 1024
"""Bytes of an assembler's output that are read."""


@frozen(kw_only=True)
class AssemblerProgram:
    """An assembler that replaces the one of a release."""

    name: str
    """The name for readers: ``CUDA 12.9.86``, or its path."""
    path: Path


def find_assembler(
    path_or_release: str,
    toolchain: str,
    assembler: Assembler,
    state: Path,
    root: Path,
    obtain: Obtain,
) -> AssemblerProgram:
    """The assembler at a path, or the one of a release (``12.9`` is the newest 12.9 of CUDA).

    Raises SelectionError if there is none, EnvError if its wheel cannot be installed, and
    IndexUnavailable without an index.
    """
    wheels = assembler.wheels
    if wheels is None or os.sep in path_or_release or Path(path_or_release).is_file():
        return _at(Path(path_or_release))
    distribution, version = _release(path_or_release, wheels, root)
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
        raise EnvError(
            f"{distribution} {version} contains no {assembler.name}", hint="Give the path of one."
        )
    return AssemblerProgram(name=f"{wheels.title} {version}", path=path)


def _at(path: Path) -> AssemblerProgram:
    if not path.is_file():
        raise SelectionError(f"there is no file {path}", where=ASSEMBLER_OPTION)
    if not os.access(path, os.X_OK):
        raise SelectionError(f"{path} cannot be executed", where=ASSEMBLER_OPTION)
    return AssemblerProgram(name=str(path), path=path.absolute())


def _release(release: str, wheels: Wheels, root: Path) -> tuple[str, Version]:
    """The distribution that has a release, and its newest version that matches."""
    try:
        major, among = Version(release).major, SpecifierSet(f"=={release}.*")
    except (InvalidVersion, ValueError):
        hint = f"For example {wheels.example}."
        message = f"{release!r} is neither a file nor a release of {wheels.title}"
        raise SelectionError(message, where=ASSEMBLER_OPTION, hint=hint) from None
    distribution = wheels.distribution(major)
    versions = list_files(distribution, index_urls(), cache=root / INDEX).versions()
    fitting = list(among.filter(versions))
    if not fitting:
        there = ", ".join(map(str, versions)) or "none"
        raise SelectionError(
            f"there is no {distribution} {release}",
            where=ASSEMBLER_OPTION,
            hint=f"Available: {there}.",
        )
    return distribution, max(fitting)


def assemble(assembler: Assembler, program: Path, source: Path, deadline: float) -> Evidence:
    """Assemble a file with a program of this kind, for the target that the file names.

    ``deadline`` is in seconds. Raises MachineError if the machine lacks a resource such as disk
    space, and Stopped if the command is asked to end meanwhile.
    """
    with TemporaryFolder("compat-assembler-") as folder:
        evidence = _evidence(assembler, program, source, folder, deadline)
        if lack := None if evidence.has_binary else lack_of_machine(evidence, folder):
            raise lack
        refused = None if evidence.has_binary else refusal(evidence, folder)
        return evolve(evidence, answered=False, refused=refused) if refused else evidence


def _evidence(
    assembler: Assembler, program: Path, source: Path, folder: Path, deadline: float
) -> Evidence:
    output = folder / "binary"
    try:
        command = assembler.command(program, source, output)
        ended = supervisor.run(
            command, timeout=deadline, env=visible_variables(), cwd=folder, limit=_LARGEST_OUTPUT
        )
    except OSError as error:
        raised = RaisedException(type=type(error).__name__, message=str(error), errno=error.errno)
        return Evidence(answered=True, stage=assembler.stage, raised=(raised,))
    if ended.exit_code is None:
        return Evidence(answered=False, stage=assembler.stage, deadline=deadline)
    return assembler.evidence(ended.exit_code, ended.output, output.is_file())
