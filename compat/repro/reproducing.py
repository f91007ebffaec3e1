"""Scripts and issues for cells, by id or glob: the feature that ``compat repro`` calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from compat import toolchains
from compat.bisect import bisecting
from compat.bundle.bundle import Bundle
from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig
from compat.config.selection import CellPattern, cell_pattern, several_match
from compat.engine.run import RunContext, existing_releases, known_envs, recall
from compat.errors import ConfigError, EnvError, StoreError
from compat.files import check_writable
from compat.model import BuiltEnv, Cell, Env, Specialization, Target
from compat.project import Listener, Obtain, Selection
from compat.reduce.expressions import KERNEL
from compat.repro.records import ReproRequest, UnverifiedCell, WrittenRepro
from compat.repro.writing import script_form, write_repro
from compat.source.closure import read_source
from compat.text import amount

_ELSEWHERE = "Choose another folder with --output."
_RELEASES = "releases"
"""The group of envs in the table, unless others are requested."""
_MOST = 12
"""The number of repros that one call makes at most."""


def repro(  # noqa: PLR0913 - the options of the command, by name
    selection: Selection,
    cell: str,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
    *,
    folder: Path | None = None,
    reduced: Path | None = None,
    portable: bool = False,
    command: str = "compat repro",
) -> tuple[WrittenRepro | UnverifiedCell, ...]:
    """Write a standalone script and an issue text for failing cells, and verify each by a run.

    If a script does not show the failure, the result is :class:`compat.repro.UnverifiedCell` with
    the reasons, and only the evidence is written.

    Args:
        selection: The project. Its environments and targets are the table of the issue. If it names
            none: every installed release and the default targets.
        cell: Id of a cell, a glob, or ``last-bisect`` for the bad ends of the project's last
            bisection.
        context: How to compile; needs no environments.
        obtain: Called for the cells' environments, and may build them.
        listener: Receives progress, and the outcome of each cell.
        folder: Where files are written. ``None``: ``repro/`` in the project.
        reduced: A Python file with a smaller kernel to show instead.
        portable: Write a script that runs on every release.
        command: The command line that the issue names as its origin.

    Raises:
        SelectionError: No cell or too many cells match, or one does not fail.
        ConfigError: The smaller kernel is invalid.
        EnvError: A cell's environment cannot be used.
        StoreError: The folder cannot be written.
    """
    names: Sequence[str] = (cell,)
    if cell == bisecting.WORD:
        ends = bisecting.read_bad_ends(selection.root)
        names = ends.cells
        selection = selection.with_patterns(
            kernel_files=selection.patterns.kernel_files or ends.kernel_files
        )
    everywhere = selection.with_patterns(envs=("*",), targets=("*",))
    everywhere = evolve(everywhere, envs=known_envs(everywhere.config))
    patterns = [
        cell_pattern(name, selection.config, selection.patterns.kernel_files) for name in names
    ]
    everywhere = everywhere.and_envs([env for pattern in patterns for env in pattern.envs])
    cells = [failing for pattern in patterns for failing in _cells(everywhere, selection, pattern)]
    for failing in cells:
        script_form(toolchains.of(failing.env))  # before anything is built or compiled
    folder = folder or selection.root / "repro"
    check_writable(folder)
    listener = listener or Listener()
    envs = _envs(selection, everywhere, cells, obtain or selection.read_envs, listener)
    outcomes: list[WrittenRepro | UnverifiedCell] = []
    for failing in cells:
        own = {
            name: built
            for name, built in envs.items()
            if built.env.toolchain == failing.spec.toolchain
        }
        request = ReproRequest(
            cell=failing,
            bundle=_smaller(failing.spec, reduced) if reduced else None,
            targets=repro_targets(selection, failing),
            earlier_results=recall(
                [(failing.spec, failing.target)], context, selection.config, besides=own.values()
            ),
            existing=existing_releases(selection.config),
            root=selection.root,
            folder=folder,
            portable=portable,
            command=command,
        )
        envs_text = amount(len(own), "env")
        listener.say(f"{failing.id}: compiling, and running the script, in {envs_text}")
        with (
            listener.step(failing.id) as on_step,
            StoreError.for_os_errors("cannot be written", where=request.folder, hint=_ELSEWHERE),
        ):
            outcomes.append(write_repro(request, evolve(context, envs=own), on_step))
        listener.receive_answer(outcomes[-1])
    return tuple(outcomes)


# --- the chosen cells, and the table of each ------------------------------------------------------


def _cells(everywhere: Selection, narrowed: Selection, pattern: CellPattern) -> tuple[Cell, ...]:
    """The cell with the id; else all cells that match among the selected ones, or among all."""
    cells = pattern.choose(narrowed.cells, everywhere.cells)
    if len(cells) > _MOST:
        raise several_match(pattern.text, cells, most=_MOST)
    return cells


def _envs(
    selection: Selection,
    everywhere: Selection,
    cells: Sequence[Cell],
    obtain: Obtain,
    listener: Listener,
) -> dict[str, BuiltEnv]:
    """The built envs of the cells, and those envs of the table that are built, by name.

    Raises EnvError if an env of a cell cannot be used.
    """
    spoken_of = {cell.spec.toolchain for cell in cells}
    table = selection.envs if selection.patterns.envs else tuple(_release_envs(selection.config))
    table = tuple(env for env in table if env.toolchain in spoken_of)
    own = tuple(env for env in everywhere.envs if any(cell.env == env for cell in cells))
    envs = {built.env.name: built for built in obtain(selection.config.path, own)}
    for built in envs.values():
        if built.error is not None:
            raise EnvError(
                f"{built.env.name} cannot be used: {built.error}",
                hint="`compat list envs` shows the others.",
            )
    for env in table:
        if env.name not in envs:
            (built,) = selection.read_envs(selection.config.path, [env])
            if built.error is None:
                envs[env.name] = built
            else:
                listener.say(f"left out {built.env.name}: {built.error}")
    return envs


def _release_envs(config: MatrixConfig) -> Iterator[Env]:
    """The envs of the group ``releases``, and of every other release that a search has built.

    Without such a group, all releases that ``matrix.toml`` declares belong to it.
    """
    declared = {env.name for env in config.envs}
    if not any(_RELEASES in env.groups for env in config.envs):
        declared = set()
    for env in known_envs(config):
        if _RELEASES in env.groups or (
            env.name not in declared and not env.has_framework and toolchains.is_release(env)
        ):
            yield env


def repro_targets(selection: Selection, cell: Cell) -> tuple[Target, ...]:
    """The targets in the columns of the table: the selected ones, and always the cell's own."""
    chosen = tuple(target for target in selection.targets if cell.spec.is_for(target))
    return chosen if cell.target in chosen else (*chosen, cell.target)


# --- the kernel that is shown ---------------------------------------------------------------------


def _smaller(spec: Specialization, reduced: Path) -> Bundle:
    """The smaller kernel in ``reduced``, with the arguments of the kernel file beside it.

    Without such a file, it has the cell's arguments for the parameters that are left.
    """
    declared = _spec_beside(spec, reduced)
    if declared is not None:
        shown = evolve(
            spec,
            function=declared.function,
            source=declared.source,
            roots=declared.roots,
            compile=declared.compile,
        )
    else:
        name, parameters = _entry(spec, reduced)
        shown = evolve(
            spec,
            source=str(reduced.resolve()),
            roots=(),
            function=name,
            compile=spec.compile.of_parameters(parameters),
        )
    return toolchains.bundle_of(shown)


def _spec_beside(spec: Specialization, reduced: Path) -> Specialization | None:
    """The smaller kernel as the kernel file beside it describes it.

    It is the case of the same name, or the only one.
    """
    beside = reduced.with_suffix(".toml")
    if not beside.is_file():
        return None
    specs = load_kernels([str(beside)], Path.cwd(), where="--reduced")
    specs = tuple(
        smaller for smaller in specs if Path(smaller.source).resolve() == reduced.resolve()
    )
    matching = [smaller for smaller in specs if smaller.case == spec.case] or specs
    if len(matching) > 1:
        listed = ", ".join(f"{smaller.variant}/{smaller.case}" for smaller in matching)
        raise ConfigError(
            f"{beside} describes {len(matching)} kernels ({listed})", where=f"--reduced {reduced}"
        )
    return matching[0] if matching else None


def _entry(spec: Specialization, reduced: Path) -> tuple[str, Sequence[str]]:
    """The name of the kernel's function in a file, and its parameters.

    If the file has no function with the name in ``spec``, it is the function with the name that
    `compat reduce` gives.
    """
    try:
        functions = read_source(reduced).functions
    except (OSError, SyntaxError) as error:
        raise ConfigError(f"cannot be read: {error}", where=f"--reduced {reduced}") from error
    name = next(
        (candidate for candidate in (spec.function, KERNEL) if candidate in functions), None
    )
    if name is None:
        raise ConfigError(
            f"has no function {spec.function!r}",
            where=f"--reduced {reduced}",
            hint=f"It has: {', '.join(functions)}.",
        )
    return name, functions[name].names
