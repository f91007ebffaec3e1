"""Build every chosen cell that can be launched: its binary, and the facts for a launch.

Cells are compiled as for the matrix: :func:`compat.engine.run.run` compiles them, and the store
keeps the files for a launch. The binaries lose their line numbers, so that they contain no path of
this machine and equal kernels have equal binaries.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from compat import toolchains
from compat.engine.run import OnPlan, RunContext, run
from compat.errors import SelectionError
from compat.files import folder_digest
from compat.model import BuiltEnv, Cell, Evidence, Problem, Result, Target
from compat.project import Listener, Obtain, Selection
from compat.store.keys import CellKeys
from compat.text import JsonMapping
from compat.toolchains.base import CannotLaunch, Launching
from compat.workers.attempt import LAUNCHABLE, PLAIN, Compile, Mode


@frozen(kw_only=True)
class Launchable:
    """A cell that was compiled for launching."""

    cell: Cell
    identity: str
    """See :func:`identity_of`."""
    problem: Problem
    """Inputs, grid and references."""
    digest: str
    """See :func:`problem_digest`."""
    binary: bytes
    """The cubin or code object."""
    text: str
    """The assembly text that the binary was made from."""
    launch: JsonMapping
    """Launch facts, such as entry point and shared memory (``compat/toolchains/pytorch/host``)."""
    label: str = ""
    """The assembler, if it is not the environment's own: ``ptxas of 3.8.0``."""
    contest: str = ""
    """The workload whose configs are compared, if the cell is tuned."""

    @property
    def name(self) -> str:
        """The cell's name for readers."""
        return f"{self.cell.id} with {self.label}" if self.label else self.cell.id


@frozen(kw_only=True)
class OmittedCell:
    """A cell that cannot be launched."""

    cell: Cell
    why: str
    """The reason."""


@frozen(kw_only=True)
class Built:
    """Compiled cells for one target."""

    target: Target
    launchable: tuple[Launchable, ...]
    """Cells that can be launched."""
    omitted_cells: tuple[OmittedCell, ...]
    """Cells that cannot."""


def build(
    selection: Selection, context: RunContext, obtain: Obtain, listener: Listener | None = None
) -> Built:
    """Compile every chosen cell that has a problem, for one target.

    Args:
        selection: The cells.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them.
        listener: Receives progress.

    Raises:
        SelectionError: No cell can be launched.
        compat.engine.run.Interrupted: And the other errors of :func:`compat.engine.run.run`.
    """
    cells = [cell for cell in selection.cells if cell.spec.problem is not None]
    target = check_target(selection, cells)
    listener = listener or Listener()
    envs = obtain(selection.config.path, tuple(dict.fromkeys(cell.env for cell in cells)))
    context = context.with_envs(tuple(envs))
    with listener.compiling(len(cells), cells) as note:
        outcome = build_cells(cells, context, note, listener.expecting)
    without = (
        OmittedCell(cell=cell, why="its kernel file has no problem")
        for cell in selection.cells
        if cell.spec.problem is None
    )
    return Built(
        target=target,
        launchable=outcome.launchable,
        omitted_cells=(*outcome.omitted_cells, *without),
    )


def build_cells(
    cells: Sequence[Cell],
    context: RunContext,
    on_result: Callable[[Result], None] = lambda _: None,
    on_plan: OnPlan | None = None,
) -> Built:
    """Compile cells for launches.

    Each cell has a problem. All cells have the same target, which supports launches. ``context``
    has their envs. Raises the errors of :func:`compat.engine.run.run`.
    """
    context = evolve(context, mode=launch_mode(cells[0]))
    results = run(cells, context, on_result, on_plan)
    # An earlier compile of an equal cell without a problem kept no files for a launch.
    bare = [
        cell
        for cell, evidence in _attempts(results, context).items()
        if LAUNCHABLE not in evidence.artifacts
    ]
    if bare:
        run(bare, evolve(context, again=True))
    parts = list(_launchables(results, context))
    return Built(
        target=cells[0].target,
        launchable=tuple(part for part in parts if isinstance(part, Launchable)),
        omitted_cells=tuple(part for part in parts if isinstance(part, OmittedCell)),
    )


def no_problem() -> SelectionError:
    """The error for kernels of which none can be launched, because they have no inputs."""
    hint = (
        "Add a [problem] with the inputs of a launch to the kernel file; docs/problems.md describes"
        " it."
    )
    return SelectionError("none of the chosen kernels has a problem", hint=hint)


def check_target(selection: Selection, cells: Sequence[Cell]) -> Target:
    """Return the single target of all cells.

    Raises SelectionError if there is no cell, several targets, or a target without launches.
    """
    unlaunched = {
        cell.spec.toolchain for cell in selection.cells if toolchains.of(cell.env).launching is None
    }
    if unlaunched and unlaunched == {cell.spec.toolchain for cell in selection.cells}:
        titles = " and ".join(sorted(toolchains.look_up(name).title for name in unlaunched))
        raise SelectionError(
            f"kernels of {titles} cannot be launched", hint="Choose other kernels with --kernel."
        )
    if not cells:
        raise no_problem()
    target, *others = dict.fromkeys(cell.target for cell in cells)
    if others:
        names = ", ".join(several.name for several in (target, *others))
        raise SelectionError(
            f"expected one target, found {names}",
            hint="Choose one, for example with --target sm_90.",
        )
    if not all(toolchains.can_launch(cell) for cell in cells):
        launching = toolchains.look_up(target.toolchain).launching
        backends = " and ".join(launching.backends) if launching else "no"
        raise SelectionError(
            f"kernels for {target.name} cannot be launched", hint=f"Choose a target of {backends}."
        )
    return target


def is_for_gpus(cell: Cell) -> bool:
    """Whether a cell can be launched on GPUs of this machine or of a cluster.

    Only the program of an archive launches other cells.
    """
    return toolchains.can_launch(cell) and launching_of(cell).needs is not None


def check_gpus(cells: Sequence[Cell]) -> None:
    """Raise SelectionError if only the program of an archive can launch the cells."""
    titles = sorted(
        {toolchains.of(cell.env).title for cell in cells if toolchains.can_launch(cell)}
    )
    if titles and not any(map(is_for_gpus, cells)):
        message = (
            "only the program that `compat build` writes launches kernels of"
            f" {' and '.join(titles)}"
        )
        raise SelectionError(
            message, hint="Run `compat build --out FOLDER`, then `python FOLDER/launch.py`."
        )


def launching_of(cell: Cell) -> Launching:
    """How a cell's toolchain launches kernels. The toolchain must support launches."""
    launching = toolchains.of(cell.env).launching
    assert launching is not None
    return launching


def launch_mode(cell: Cell) -> Mode:
    """The mode of compiles that keep the files for a launch.

    It is the plain mode, unless the adapter needs the problem.
    """
    if not launching_of(cell).tells_problem:
        return PLAIN
    return Mode(actions=(Compile(keep_ir=True),), stages=(LAUNCHABLE,), tells_problem=True)


def _attempts(results: Sequence[Result], context: RunContext) -> dict[Cell, Evidence]:
    """Map each cell to the evidence of its compile.

    Cells without code, and cells whose files have changed since, are left out.
    """
    keys = CellKeys(folder_digest(context.worker), context.mode)
    key_by_cell = {
        result.cell: keys.of(result.cell, result.built)
        for result in results
        if result.outcome.has_code
    }
    evidence = context.store.read(
        key_by_cell.values(), deadline=context.limits.deadline, memory=context.limits.memory
    )
    return {cell: evidence[key][0] for cell, key in key_by_cell.items() if key in evidence}


def _launchables(
    results: Sequence[Result], context: RunContext
) -> Iterator[Launchable | OmittedCell]:
    attempts = _attempts(results, context)
    for result in results:
        cell, status = result.cell, result.outcome.status
        if not result.outcome.has_code:
            why = result.outcome.failure
            yield OmittedCell(
                cell=cell,
                why=f"{status}{f' ({why.failure_class})' if why else ''}: no code to launch",
            )
        elif cell not in attempts:
            yield OmittedCell(cell=cell, why="its files have changed since they were compiled")
        else:
            yield launchable_of(cell, result.built, attempts[cell], context.store.artifact)


def launchable_of(
    cell: Cell,
    built: BuiltEnv,
    evidence: Evidence,
    artifact: Callable[[str], bytes | None],
    *,
    like: Evidence | None = None,
) -> Launchable | OmittedCell:
    """Convert an attempt in :func:`launch_mode` at a cell with a problem.

    ``evidence`` is the attempt. ``like`` is an attempt from source if this one is from IR.
    """
    launching, problem = launching_of(cell), cell.spec.problem
    assert problem is not None
    try:
        binary, text, metadata = _compiled_files(launching, evidence, artifact)
        if like is not None and LAUNCHABLE in like.artifacts:
            _, _, source = _compiled_files(launching, like, artifact)
            metadata = launching.like(metadata.decode(), source.decode()).encode()
        launch = launching.facts(
            metadata.decode(), text.decode(errors="replace"), cell.spec.compile
        )
    except CannotLaunch as error:
        return OmittedCell(cell=cell, why=str(error))
    return Launchable(
        cell=cell,
        identity=identity_of(cell, built),
        problem=problem,
        digest=problem_digest(problem),
        binary=binary,
        text=text.decode(errors="replace"),
        launch=launch,
    )


def _compiled_files(
    launching: Launching, evidence: Evidence, artifact: Callable[[str], bytes | None]
) -> tuple[bytes, bytes, bytes]:
    """The binary, its text and the metadata of an attempt. Raises CannotLaunch."""
    data = artifact(evidence.artifacts[LAUNCHABLE]) if LAUNCHABLE in evidence.artifacts else None
    if data is None:
        raise CannotLaunch("its compiled files are missing: compile it again with --again")
    try:
        return launching.unpack(data)
    except (zipfile.BadZipFile, KeyError) as error:
        raise CannotLaunch(
            "its compiled files are damaged: compile it again with --again"
        ) from error


# --- identities -----------------------------------------------------------------------------------


def identity_of(cell: Cell, built: BuiltEnv) -> str:
    """Return a hash of what a cell compiles: kernel, arguments, options, target and environment.

    It covers no paths and nothing of the worker, so that launch results stay valid when only those
    change.
    """
    spec, target = cell.spec, cell.target
    return _digest(
        {
            "closure": spec.closure,
            "function": spec.function,
            "compile": spec.compile.document(),
            "target": [target.backend, target.arch, target.warp_size, target.shared_memory],
            "env": built.digest,
        }
    )


def problem_digest(problem: Problem) -> str:
    """Return a hash of a problem's inputs and references."""
    return _digest(
        {
            "closure": problem.closure,
            "function": problem.function,
            "dtype": problem.dtype,
            "parameters": dict(sorted(problem.parameters.items())),
        }
    )


def _digest(facts: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
