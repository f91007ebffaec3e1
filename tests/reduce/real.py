"""Reducing cells over real wheels, without the command line."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from compat.axes.reducing import Jury, Wish, wish_to_keep
from compat.engine.flight import Limits
from compat.model import BuiltEnv, Cell, Result
from compat.reduce import Candidate, Step, extracted, reduce
from compat.run import Bench, run
from compat.search.judge import parse_judge
from compat.source.bundle import bundle
from compat.store import Store

LIMITS = Limits(deadline=60, memory=4 << 30)


@frozen(kw_only=True)
class Reduced:
    """What became of a cell."""

    before: Result
    after: Result
    """Of the last candidate, as the engine finds it: alone, confirmed."""
    start: Candidate
    steps: tuple[Step, ...]

    @property
    def last(self) -> Candidate:
        return self.steps[-1].candidate if self.steps else self.start


def reduced(cell: Cell, built: BuiltEnv, folder: Path, limits: Limits = LIMITS) -> Reduced:
    """Reduce a cell that fails, and look at what is left."""
    with Store(folder / "store") as store:
        bench = Bench(envs={built.env.name: built}, store=store, limits=limits)
        (before,) = run([cell], bench)
        wish = wish_to_keep(before, parse_judge("same-failure"), limits)
        start = Candidate.of(cell.spec, extracted(bundle(cell.spec).text, cell.spec.function))
        with jury(cell, wish) as judge:
            steps = tuple(reduce(start, judge))
        path = folder / "last.py"
        path.write_text((steps[-1].candidate if steps else start).text)
        last = steps[-1].candidate.specialize(cell.spec, str(path))
        (after,) = run([Cell(env=cell.env, target=cell.target, spec=last)], Bench(envs=bench.envs, store=store, limits=limits))
    return Reduced(before=before, after=after, start=start, steps=steps)


def jury(cell: Cell, *wishes: Wish) -> Jury:
    """The judge of such a search."""
    return Jury(cell.spec, cell.target, wishes)
