"""Reducing cells over real wheels, without the command line."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, frozen

from compat.bisect.criterion import parse_criterion
from compat.bundle.bundle import bundle
from compat.engine.run import RunContext, run
from compat.model import BuiltEnv, Cell, Result
from compat.reduce import Candidate, extract_functions, shrink
from compat.reduce.interestingness import CandidateRequirement, InterestingnessTest, requirement_of
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.cells import context_of

LIMITS = Limits(deadline=60, memory=4 << 30)


@frozen(kw_only=True)
class Reduced:
    """A cell before and after its reduction."""

    before: Result
    after: Result
    """The result of the last candidate from the engine: alone, and confirmed."""
    start: Candidate
    steps: tuple[Candidate, ...]

    @property
    def last(self) -> Candidate:
        return self.steps[-1] if self.steps else self.start


def reduced(cell: Cell, built: BuiltEnv, folder: Path, limits: Limits = LIMITS) -> Reduced:
    """Reduce a failing cell, and run the last candidate."""
    with Store(folder / "store") as store:
        context = context_of(store, built, limits=limits)
        (before,) = run([cell], context)
        requirement = requirement_of(before, parse_criterion("same-failure"), limits)
        start = Candidate.of(
            cell.spec, extract_functions(bundle(cell.spec).text, cell.spec.function)
        )
        with interestingness(cell, requirement, context=context) as interesting:
            steps = tuple(shrink(start, interesting))
        path = folder / "last.py"
        path.write_text((steps[-1] if steps else start).text)
        last = steps[-1].specialize(cell.spec, str(path))
        (after,) = run([evolve(cell, spec=last)], context_of(store, built, limits=limits))
    return Reduced(before=before, after=after, start=start, steps=steps)


def interestingness(
    cell: Cell, *requirements: CandidateRequirement, context: RunContext | None = None
) -> InterestingnessTest:
    """The interestingness test of such a search."""
    return InterestingnessTest(cell.spec, cell.target, requirements, context=context)
