"""The files of a hunt: examples of defects, their issues, and a folder for a GPU host."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from compat import interruption
from compat.engine import plan
from compat.errors import StoreError
from compat.files import TemporaryFolder
from compat.hunt.defects import Defect, HuntAnswer
from compat.hunt.hunting import HuntRun
from compat.hunt.kernels import write_kernel
from compat.hunt.oracles import Hit, Oracle, judge
from compat.launch.archive import write_archive
from compat.launch.building import Built, build_cells
from compat.model import BuiltEnv, Cell, Result, Status, Target
from compat.repro.records import UnverifiedCell
from compat.repro.reproducing import repro
from compat.toolchains.programs import GeneratedProgram


@frozen(kw_only=True)
class HuntFiles:
    """The files to write."""

    examples: Path
    """The folder for examples."""
    shrinking: float
    """Seconds for making an example smaller. 0: it stays as it was generated."""
    with_issues: bool = False
    """Whether each example of a failing compile gets a script and an issue text."""
    command: str = "compat hunt"
    """The command line that the issues name as their origin."""
    build: Path | None = None
    """The folder for a GPU host. ``None``: none is written."""


@frozen(kw_only=True)
class DefectIssue:
    """A script and an issue text of a defect."""

    paths: tuple[Path, ...] = ()
    """The files: script, issue text, and perhaps a reproducer. Empty if no script shows the defect.
    """
    reasons: tuple[str, ...] = ()
    """Why no script shows the defect: what the script did instead."""


@frozen(kw_only=True)
class WrittenHunt:
    """The files that were written."""

    examples: Mapping[str, Path]
    """Name of a defect that is not known → its kernel file."""
    issues: Mapping[str, DefectIssue]
    """Name of a defect of a compile → its issue."""
    archive: Built | None = None
    """The content of the folder for a GPU host."""
    launcher: Path | None = None
    """The program in that folder."""


def write_hunt(run: HuntRun, answer: HuntAnswer, files: HuntFiles) -> WrittenHunt:
    """Write the files of a hunt.

    If the user ended the hunt, examples stay as they were generated, and nothing else is written.

    Args:
        run: The hunt.
        answer: Its result.
        files: The files to write.

    Raises:
        StoreError: A folder cannot be written.
        compat.engine.run.Interrupted: And the other errors of :func:`compat.engine.run.run` and
            :func:`compat.repro.reproducing.repro`.
    """
    if answer.interrupted:
        interruption.clear()
        return WrittenHunt(examples=_examples(run, answer, files.examples, 0), issues={})
    examples = _examples(run, answer, files.examples, files.shrinking)
    issues = _issues(run, answer, examples, files.command) if files.with_issues else {}
    if files.build is None:
        return WrittenHunt(examples=examples, issues=issues)
    built = _build_hunt_cells(run, answer)
    launcher = write_archive(built, files.build)
    return WrittenHunt(examples=examples, issues=issues, archive=built, launcher=launcher)


def _examples(run: HuntRun, answer: HuntAnswer, folder: Path, seconds: float) -> dict[str, Path]:
    """Write an example of each new defect, and return the defect's name → its kernel file."""
    examples: dict[str, Path] = {}
    for defect in answer.defects:
        if defect.known is not None:
            continue
        program = _shrunk(run, answer, defect, seconds) if seconds else defect.example.program
        letters = (letter if letter.isalnum() or letter == "." else "-" for letter in defect.name)
        place = folder / "".join(letters)[:80]
        with StoreError.for_os_errors("cannot write an example", where=place):
            examples[defect.name] = write_kernel(program, run.language, run.toolchain, place)
    return examples


def _issues(
    run: HuntRun, answer: HuntAnswer, examples: Mapping[str, Path], command: str
) -> dict[str, DefectIssue]:
    """Write a script and an issue text into the folder of each example of a failing compile."""
    issues: dict[str, DefectIssue] = {}
    for defect in answer.defects:
        if defect.oracle.compares_numbers or defect.known is not None:
            continue
        failing, kernel_file = defect.example.result.cell, examples[defect.name]
        chosen = run.selection.with_patterns(kernel_files=(str(kernel_file),))
        (cell,) = plan.cross([failing.env], [failing.target], chosen.specs)
        with run.listener.step(f"verifying a script of {defect.fingerprint}"):
            (outcome,) = repro(
                chosen, cell.id, run.context, run.obtain, folder=kernel_file.parent, command=command
            )
        issues[defect.name] = (
            DefectIssue(reasons=outcome.reasons)
            if isinstance(outcome, UnverifiedCell)
            else DefectIssue(paths=outcome.paths)
        )
    return issues


def _build_hunt_cells(run: HuntRun, answer: HuntAnswer) -> Built:
    """Compile everything that a GPU host can launch: the cells of the hunt that compile."""
    kernels = run.write_all([form for verdict in answer.verdicts for form in verdict.forms])
    compiled = {
        result.cell.id
        for verdict in answer.verdicts
        for result in verdict.results
        if result.outcome.failure is None
    }
    return build_cells([cell for cell in run.cells_of(kernels) if cell.id in compiled], run.context)


# --- smaller programs -----------------------------------------------------------------------------


def _shrunk(run: HuntRun, answer: HuntAnswer, defect: Defect, seconds: float) -> GeneratedProgram:
    """Return the smallest program that shows a defect and is found within ``seconds``.

    If only a GPU shows the defect and the hunt has no GPU, the program stays as it is.
    """
    hit, end = defect.example, time.monotonic() + seconds
    if defect.oracle is Oracle.NUMBERS and run.gpu is None:
        return hit.program
    envs = [hit.result.built, *_compiling(answer, hit)][:2]

    def show(programs: Sequence[GeneratedProgram]) -> list[bool]:
        if time.monotonic() > end:
            return [False for _ in programs]
        run.listener.say(f"{defect.fingerprint}: {programs[0].statements_count} statements")
        return _shows(run, defect, programs, envs, hit.result.cell.target)

    with run.listener.step(f"making {defect.fingerprint} smaller"):
        smaller: GeneratedProgram = run.language.shrink(hit.program, show)
        return smaller


def _compiling(answer: HuntAnswer, hit: Hit) -> list[BuiltEnv]:
    """Return the envs that compile a program which the hit's env rejects.

    There are none for hits of other oracles than ``DISAGREEMENT``.
    """
    if hit.oracle is not Oracle.DISAGREEMENT:
        return []
    verdict = next(
        verdict for verdict in answer.verdicts if verdict.program.seed == hit.program.seed
    )
    target = hit.result.cell.target
    return [
        result.built
        for result in verdict.results
        if result.outcome.status is Status.OK
        and result.cell.target == target
        and result.built != hit.result.built
    ]


def _shows(
    run: HuntRun,
    defect: Defect,
    programs: Sequence[GeneratedProgram],
    envs: Sequence[BuiltEnv],
    target: Target,
) -> list[bool]:
    """Return for each program whether it shows a defect in the first of ``envs``."""
    with TemporaryFolder("compat-hunt-") as folder:
        kernels = []
        for number, program in enumerate(programs):
            place = folder / str(number)
            place.mkdir()
            kernels.append(run.write_one(program, place))
        cells = [
            Cell(env=built.env, target=target, spec=kernel.spec)
            for kernel in kernels
            for built in envs
        ]
        results = run.results_of(cells)
    by_source = {kernel.spec.source: list[Result]() for kernel in kernels}
    for result in results:
        by_source[result.cell.spec.source].append(result)
    return [
        any(
            (hit.oracle, hit.fingerprint, hit.result.cell.env)
            == (defect.oracle, defect.example.fingerprint, envs[0].env)
            for hit in judge(kernel.program, [(kernel.program, by_source[kernel.spec.source])]).hits
        )
        for kernel in kernels
    ]
