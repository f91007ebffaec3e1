"""Launching on the GPU of this machine: what was chosen, in one go, and what a search asks for while it goes on.

In: a selection, cells, or what was built of them. Out: results in the store, as if they had been brought back (:mod:`.merging`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import inf
from pathlib import Path

from attrs import evolve, frozen

from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.executors import gpus
from compat.files import TemporaryFolder
from compat.launch.archive import program_of, write_archive
from compat.launch.building import Built, Launchable, LeftOut, build, build_cells, can_launch, was_built
from compat.launch.merging import NOTHING, MergedResults, merge
from compat.model import Result, Target
from compat.processes.supervisor import ForegroundResult, run, run_in_foreground
from compat.project import Listener, Obtain, Selection
from compat.store.store import Store
from compat.toolchains.pytorch.host.results import NAME

_FOLDER = "launch"
"""In the folder for what is kept between runs."""
ELSEWHERE = (
    "Build here and launch elsewhere: `compat build --target TARGET --out DIR`, `python DIR/launch.py` on a GPU host, and "
    "`compat matrix --launched DIR/results.jsonl` here again."
)


@frozen(kw_only=True)
class Gpu:
    """The GPU of this machine, and what launches on it."""

    target: Target
    python: str
    """The path of an interpreter that has PyTorch."""
    options: tuple[str, ...] = ()
    """Of the launcher (``toolchains/pytorch/host/program.py``)."""


def find_gpu(selection: Selection, python: str | None = None) -> Gpu:
    """The GPU of this machine, which is that of a chosen target; ``python`` is an interpreter with PyTorch.

    Raises SelectionError where there is none that can be used, or no PyTorch.
    """
    python = python or find_python(selection)
    try:
        host = gpus.find_gpus(python)
    except OSError as error:
        raise SelectionError(f"{python} cannot be started: {error.strerror}", hint=ELSEWHERE) from error
    if not host.devices:
        raise SelectionError(f"there is no GPU that can be used on this machine: {host.why_none}", hint=ELSEWHERE)
    arch = host.devices[0].arch
    for target in selection.targets:
        if target.arch == arch:
            return Gpu(target=target, python=python)
    names = ", ".join(target.name for target in selection.targets)
    message = f"the GPU here has compute capability {arch / 10}, and the targets are {names}"
    raise SelectionError(message, hint="Choose its target with --target.")


def find_python(selection: Selection | None = None) -> str:
    """The path of an interpreter that has PyTorch: this one, else that of an env. Raises SelectionError where there is none."""
    python = gpus.find_python([selection.config.env_cache()] if selection is not None else [])
    if python is None:
        hint = "Name one that has it, --python PATH; or build an env with PyTorch: `compat matrix --envs pairs`."
        raise SelectionError("no interpreter here has PyTorch, which launching needs", hint=hint)
    return python


def launch(folder: Path, python: str, options: Sequence[str] = ()) -> ForegroundResult:
    """Run the program of a folder that was built, to its end. Raises SelectionError where it is none."""
    return run_in_foreground([python, str(program_of(folder)), *options], {})


def build_and_launch(
    selection: Selection, context: RunContext, obtain: Obtain, listener: Listener, *, python: str | None = None
) -> MergedResults:
    """Compile what was chosen for the GPU of this machine, launch it, and keep what came of it.

    What was launched before, and is the same, is not launched again. Raises SelectionError where there is no GPU, no PyTorch, or
    nothing to launch.
    """
    gpu = find_gpu(selection, python)
    folder = selection.state / _FOLDER
    write_archive(build(evolve(selection, targets=(gpu.target,)), context, obtain, listener), folder)
    ended = launch(folder, gpu.python, gpu.options)
    if ended.exit_code not in (0, 1) and not ended.interrupted:
        raise SelectionError("the kernels could not be launched", where=str(folder), hint="What it printed stands above.")
    return merge(folder / NAME, context.store)


# --- while a search goes on ----------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class LaunchedCells:
    """What came of launching cells."""

    merged: MergedResults
    left_out: tuple[LeftOut, ...] = ()
    """What cannot be launched."""


def can_be_launched(result: Result, gpu: Gpu) -> bool:
    """Whether a cell compiles for this GPU, and has a problem to be launched on."""
    fits = result.cell.target == gpu.target and result.cell.spec.problem is not None and can_launch(result.cell)
    return fits and result.built.error is None and was_built(result)


def launch_cells(results: Sequence[Result], context: RunContext, gpu: Gpu) -> LaunchedCells:
    """Build, launch and keep cells that can be launched (:func:`can_be_launched`), all in one go; ``context`` has their envs.

    Raises SelectionError where nothing can be launched on the GPU, and what :func:`compat.engine.run.run` does.
    """
    if not results:
        return LaunchedCells(merged=NOTHING)
    built = build_cells([result.cell for result in results], evolve(context, stop=threading.Event()))
    return LaunchedCells(merged=launch_built(built.launchable, context.store, gpu), left_out=built.left_out)


def launch_built(launchable: Sequence[Launchable], store: Store, gpu: Gpu) -> MergedResults:
    """Launch what was built, and keep what came of it; what is finished is kept also where the user ends it.

    Raises SelectionError where the launcher cannot launch anything.
    """
    if not launchable:
        return NOTHING
    with TemporaryFolder("compat-launch-") as temporary:
        folder = temporary / "built"
        program = write_archive(Built(target=gpu.target, launchable=tuple(launchable), left_out=()), folder)
        try:
            ended = run([gpu.python, str(program), *gpu.options], timeout=inf)
        except OSError as error:
            raise SelectionError(f"the kernels could not be launched: {error.strerror}", where=gpu.python) from error
        finally:
            written = folder / NAME
            merged = merge(written, store) if written.is_file() and written.stat().st_size else NOTHING
    if ended.exit_code not in (0, 1):
        why = (ended.output.strip().splitlines() or ["it said nothing"])[-1]
        raise SelectionError(f"the kernels could not be launched: {why}", where=gpu.python)
    return merged
