"""Inside one failure: in which part of the toolchain it is, in which pass, and which setting it needs.

In: a cell, and perhaps one to compare it with (:class:`Subject`). Out: a :class:`compat.bisect.answers.CellAnswer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import field, frozen

from compat.bisect import crossed, part, passes, settings
from compat.bisect.answers import CellAnswer, ConfigAnswer, Part, PassAnswer
from compat.bisect.assemblers import Program
from compat.bisect.criterion import Criterion
from compat.bisect.request import Axis
from compat.errors import SelectionError
from compat.execution.budget import Budget
from compat.execution.run import RunContext, run
from compat.history.verdict import is_good
from compat.launch.hosting import Gpu
from compat.model import Cell


@frozen(kw_only=True)
class Subject:
    """A cell to look into, beside the one it is compared with, if any."""

    cell: Cell
    other: Cell | None
    context: RunContext
    """Has the envs of both."""
    folder: Path
    """Where IR may be kept."""
    criterion: Criterion | None = None
    """What counts as bad, where that is not a failure of the compile."""
    assemblers: tuple[Program, ...] = ()
    """Others to try where ptxas complains."""
    gpu: Gpu | None = None
    """Where to launch combinations of releases."""
    budget: Budget = field(factory=lambda: Budget(None))
    """The seconds that a search for settings may take."""
    on_step: Callable[[str], None] = lambda words: None
    """Hears how far the search is, perhaps from another thread."""


def look_inside(axis: Axis, subject: Subject) -> CellAnswer:
    """What a search along one of the axes inside a failure finds of a cell.

    Raises SelectionError where there is nothing that it could compare, StoreError where IR cannot be kept, and
    :class:`compat.execution.run.Interrupted` when stopped early; along ``config``, once the cell itself is known, what is known by
    then is the answer.
    """
    return CellAnswer(cell=subject.cell, found=_AXES[axis](subject))


def _part(subject: Subject) -> Part:
    if subject.criterion is not None and subject.criterion.asks_launches:
        folder = subject.folder / "combinations" / subject.cell.id.replace("/", "_")
        question = crossed.Question(
            bad=subject.cell,
            good=subject.other,
            criterion=subject.criterion,
            assemblers=subject.assemblers,
            folder=folder,
            gpu=subject.gpu,
        )
        return crossed.find_part(question, subject.context, subject.on_step)
    if subject.other is not None:
        return part.find_part(subject.other, subject.cell, subject.context, subject.assemblers)
    if subject.assemblers:
        return part.find_part_alone(subject.cell, subject.context, subject.assemblers)
    raise SelectionError(
        f"{subject.cell.id}: no change between releases, so no part is to blame",
        hint="--axis pass looks within one release; --ptxas tries another assembler.",
    )


def _pass(subject: Subject) -> PassAnswer | None:
    folder = subject.folder / "passes" / subject.cell.id.replace("/", "_")
    if subject.other is not None:
        return passes.compare(subject.other, subject.cell, subject.context, folder)
    return None if _works(subject) else passes.find_pass(subject.cell, subject.context, folder)


def _config(subject: Subject) -> ConfigAnswer | None:
    return None if _works(subject) else settings.find_needs(subject.cell, subject.context, subject.on_step, subject.budget)


def _works(subject: Subject) -> bool:
    (result,) = run([subject.cell], subject.context)
    return is_good(result.outcome)


_AXES: Mapping[Axis, Callable[[Subject], Part | PassAnswer | ConfigAnswer | None]] = {
    Axis.PART: _part,
    Axis.PASS: _pass,
    Axis.CONFIG: _config,
}
