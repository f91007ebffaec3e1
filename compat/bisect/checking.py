"""Whether cells are good, for ``git bisect run``."""

from __future__ import annotations

from attrs import frozen

from compat.bisect.criterion import Criterion
from compat.bisect.numbered import criteria, numbered
from compat.config.cell_pattern import cell_pattern
from compat.execution.run import RunContext, run
from compat.history.account import Judgement
from compat.model import Result
from compat.project import Listener, Obtain, Selection, with_envs


@frozen(kw_only=True)
class Checked:
    """Cells, and what a criterion says of each."""

    answers: tuple[tuple[Result, Judgement], ...]

    @property
    def judgement(self) -> Judgement:
        """Of all together: bad if one is bad, else unknown if one is inconclusive."""
        judgements = {judgement for _, judgement in self.answers}
        return next((each for each in (Judgement.BAD, Judgement.UNKNOWN) if each in judgements), Judgement.GOOD)


def check(
    selection: Selection,
    criterion: Criterion,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
    *,
    cells: str = "*",
) -> Checked:
    """Compile what a selection chooses, as far as the glob ``cells`` matches ids of it, and judge each.

    ``context`` needs no envs: they are asked of ``obtain``, which may build them; without it, those are used that are there.
    ``listener`` hears of each result. Raises
    SelectionError where nothing matches, and what :func:`compat.execution.run.run` raises.
    """
    pattern = cell_pattern(cells, selection.config, selection.patterns.kernel_files)
    chosen = selection if selection.patterns.envs else selection.and_envs(pattern.envs)
    wanted = pattern.choose(chosen.cells)
    envs = list({cell.env.name: cell.env for cell in wanted}.values())
    built = (obtain or selection.read_envs)(selection.config.path, envs)
    with (listener or Listener()).compiling(len(wanted)) as note:
        context = with_envs(context, built)
        results = numbered(run(wanted, context, note), criterion, context)
    of_cell = criteria(results, criterion)
    return Checked(answers=tuple((result, of_cell[result.cell](result)) for result in results))
