"""A whole reduction, from what a user names: the feature that ``compat reduce`` calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve
from packaging.version import Version

from compat.bisect.criterion import Criterion, parse_criterion
from compat.config.matrix import MatrixConfig
from compat.config.selection import cell_pattern, several_match
from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.interruption import Budget
from compat.launch import hosting
from compat.launch.hosting import Gpu
from compat.model import BuiltEnv, Cell, Env
from compat.project import Obtain, Selection
from compat.reduce.numbers import refuse_latency
from compat.reduce.original import BudgetedRuns, ReductionSubject, examine
from compat.reduce.reduction import Reduction, ReductionListener, default_path


def reduce(
    selection: Selection,
    what: str,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: ReductionListener | None = None,
    *,
    bad: Sequence[str] = (),
    good: Sequence[str] = (),
    hold_rest: bool = True,
    criterion: Criterion | None = None,
    budget: float | None = None,
    output: Path | None = None,
    python: str | None = None,
) -> Reduction:
    """Make a kernel smaller while it fails the same way; the reduction that is returned has been run, and its file written.

    ``what`` is the id of a cell, with or without the env, a glob, or the path of a Python file with a kernel file of the same
    name beside it. ``bad`` and ``good`` name where the failure is to stay and where the kernel is to stay ok, each an env, a
    group, a glob or a release, perhaps several with commas between them; without ``bad`` it is where the cells are. ``hold_rest``
    has it fare in every other release that is there as it does. ``criterion`` says what is to stay, the failure unless given;
    ``budget`` is the seconds that all of it may take, and ``output`` the ``.py`` file to write, ``reduced/NAME.py`` unless given.
    A criterion about numbers has every candidate launched on the GPU of this machine, by ``python``, which has PyTorch.

    ``context`` needs no envs: those that are named are asked of ``obtain``, which may build them. Raises SelectionError where no
    one kernel is meant, or it is not bad or good where it was named so; ConfigError if it cannot be parsed, and
    StoreError where the file cannot be written. One that is interrupted ends by itself, and says so in ``ended``.
    """
    config, listener = selection.config, listener or ReductionListener()
    subject = _subject(selection, what, bad, good)
    envs = [*(obtain or selection.read_envs)(config.path, [*subject.bad, *subject.good])]
    others = _others(subject, selection)
    envs += others
    subject = evolve(subject, rest=tuple(built.env for built in others), hold_rest=hold_rest)
    if missing := _missing(subject, config):
        listener.say(f"left out, not built: {', '.join(missing)}")
    criterion_asked = criterion or parse_criterion("same-failure")
    refuse_latency(criterion_asked)
    gpu = _gpu(selection, python) if criterion_asked.asks_launches else None
    runs = BudgetedRuns(subject=subject, context=context.with_envs(envs), budget=Budget(budget), say=listener.say)
    original = examine(runs, criterion_asked, gpu)
    path = (output or default_path(subject)).with_suffix(".py")
    reduction = Reduction(runs=runs, original=original, start=subject.start(), path=path, listener=listener)
    reduction.run()
    return reduction


def _gpu(selection: Selection, python: str | None) -> Gpu:
    """The GPU of this machine, whichever targets are chosen. Raises SelectionError where there is none that can be used."""
    return hosting.find_gpu(evolve(selection, targets=selection.config.choose_targets(("*",))), python)


# --- which kernel ------------------------------------------------------------------------------------------------------------


def _subject(selection: Selection, what: str, bad: Sequence[str], good: Sequence[str]) -> ReductionSubject:
    config = selection.config
    cells = _of_file(Path(what), selection) if what.endswith((".py", ".toml")) else _of_pattern(what, selection)
    cell, envs = cells[0], tuple(match.env for match in cells)

    def named(texts: Sequence[str]) -> tuple[Env, ...]:
        envs_named = config.choose_envs(texts) if texts else ()
        fitting = tuple(env for env in envs_named if env.toolchain == cell.spec.toolchain)
        if envs_named and not fitting:
            wanted = f"{cell.spec.toolchain}, which the kernel is for"
            raise SelectionError(f"{', '.join(texts)} is not of {wanted}", where="--bad and --good")
        return fitting

    return ReductionSubject(spec=cell.spec, target=cell.target, bad=named(bad) or envs, good=named(good))


def _of_pattern(what: str, selection: Selection) -> Sequence[Cell]:
    """The cells of the one kernel that is meant, of what was chosen or else of all; in the chosen envs if it names none."""
    patterns = selection.patterns
    pattern = cell_pattern(what, selection.config, patterns.kernel_files)
    everywhere = selection.with_patterns(envs=patterns.envs or ("*",), targets=patterns.targets or ("*",)).and_envs(pattern.envs)
    cells = pattern.choose(selection.cells if pattern.leaves_open else (), everywhere.cells)
    _check_alone(pattern.text, cells)
    usual = tuple(cell for cell in cells if cell.env in selection.envs)
    return (usual or cells) if pattern.leaves_open else cells


def _of_file(path: Path, selection: Selection) -> Sequence[Cell]:
    """The cells of which the kernel file beside a kernel says that they fail, if it says so of any; else those that are chosen."""
    patterns = selection.patterns
    chosen = selection.with_patterns(kernel_files=(str(path.with_suffix(".toml")),))
    everywhere = chosen.with_patterns(envs=patterns.envs or ("*",), targets=patterns.targets or ("*",))
    declared = [cell for cell in everywhere.cells if cell.env.release and _is_declared(cell, cell.env.release)]
    if not patterns.envs:
        declared = [cell for cell in declared if not cell.env.paired] or declared  # the same toolchain without its pair
    cells = declared or chosen.cells
    _check_alone(str(path), cells)
    return cells


def _check_alone(text: str, cells: Sequence[Cell]) -> None:
    """Raise SelectionError where cells are of several kernels or targets."""
    if len({(cell.spec.kernel, cell.spec.variant, cell.spec.case, cell.target.name) for cell in cells}) > 1:
        raise several_match(text, cells, any_env=True)


def _is_declared(cell: Cell, release: Version) -> bool:
    return any(e.covers(release=release, target=cell.target.name, case=cell.spec.case) for e in cell.spec.expectations)


# --- in which envs -----------------------------------------------------------------------------------------------------------


def _others(subject: ReductionSubject, selection: Selection) -> list[BuiltEnv]:
    """An env for each release that was not named, of those that are there: the one without PyTorch where there are several."""
    named = {env.release for env in (*subject.bad, *subject.good)}
    others: dict[Version, BuiltEnv] = {}
    for env in _of_toolchain(selection.config, subject):
        if env.release is not None and env.release not in (*named, *others):
            (built,) = selection.read_envs(selection.config.path, [env])
            if built.error is None:
                others[env.release] = built
    return [others[release] for release in sorted(others)]


def _of_toolchain(config: MatrixConfig, subject: ReductionSubject) -> list[Env]:
    """The envs that the kernel can be tried in, those without PyTorch first."""
    return sorted((env for env in config.envs if env.toolchain == subject.spec.toolchain), key=lambda env: env.paired)


def _missing(subject: ReductionSubject, config: MatrixConfig) -> list[str]:
    """Releases that no env was there for, each once, those without PyTorch first."""
    there = {env.release for env in (*subject.bad, *subject.good, *subject.rest)}
    missing = [env.release for env in _of_toolchain(config, subject) if env.release not in there]
    return list(dict.fromkeys(str(release) for release in missing if release is not None))
