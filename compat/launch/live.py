"""Launching on the GPU of this machine while a search goes on: what it asks for is built, launched and kept.

In: cells, or what was built of them. Out: results in the store, as if they had been brought back (:mod:`.merging`).
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Sequence
from math import inf
from pathlib import Path

from attrs import evolve, frozen

from compat.errors import SelectionError
from compat.execution.program import ask
from compat.execution.run import RunContext
from compat.execution.store import Store
from compat.launch.archive import write_archive
from compat.launch.building import Built, Launchable, LeftOut, build_cells, can_launch, was_built
from compat.launch.hosting import RESULTS, Gpu
from compat.launch.merging import Merged, merge
from compat.model import Result
from compat.scratch import Folder

_NOTHING = Merged(kept=0, lost=0, unreadable=0)


@frozen(kw_only=True)
class Launched:
    """What came of launching cells."""

    merged: Merged
    left_out: tuple[LeftOut, ...] = ()
    """What cannot be launched."""


def can_be_launched(result: Result, gpu: Gpu) -> bool:
    """Whether a cell compiles for this GPU, and has a problem to be launched on."""
    fits = result.cell.target == gpu.target and result.cell.spec.problem is not None and can_launch(result.cell)
    return fits and result.built.error is None and was_built(result)


def launch_cells(results: Sequence[Result], context: RunContext, gpu: Gpu) -> Launched:
    """Build, launch and keep cells that can be launched (:func:`can_be_launched`), all in one go; ``context`` has their envs.

    Raises SelectionError where nothing can be launched on the GPU, and what :func:`compat.execution.run.run` does.
    """
    if not results:
        return Launched(merged=_NOTHING)
    built = build_cells([result.cell for result in results], evolve(context, stop=threading.Event()))
    return Launched(merged=launch_built(built.launchable, context.store, gpu), left_out=built.left_out)


def launch_built(launchable: Sequence[Launchable], store: Store, gpu: Gpu) -> Merged:
    """Launch what was built, and keep what came of it; what is finished is kept also where the user ends it.

    Raises SelectionError where the launcher cannot launch anything.
    """
    if not launchable:
        return _NOTHING
    with Folder("compat-launch-") as folder:
        return _launched(launchable, folder / "built", store, gpu)


def _launched(launchable: Sequence[Launchable], folder: Path, store: Store, gpu: Gpu) -> Merged:
    program = write_archive(Built(target=gpu.target, launchable=tuple(launchable), left_out=()), folder)
    results, said = folder / RESULTS, None
    try:
        said = ask(shlex.join([gpu.python, str(program), *gpu.options]), "", {}, inf)
    finally:
        merged = merge(results, store) if results.is_file() and results.stat().st_size else _NOTHING
    if said.exit_code not in (0, 1):
        words = (said.output.strip().splitlines() or ["it said nothing"])[-1]
        raise SelectionError(f"the kernels could not be launched: {words}", where=gpu.python)
    return merged
