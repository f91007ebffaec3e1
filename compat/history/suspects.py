"""Slow-suspects: cells that compile, and likely have slower code than on the previous release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from attrs import frozen

from compat import toolchains
from compat.history.account import is_good
from compat.history.foresight import Suspicion, suspicion
from compat.history.verdict import release_of
from compat.model import Result


@frozen
class SlowSuspect:
    """A cell with a suspicion. It is a warning, and no failure."""

    before: Result
    """The result of the same specialization and target on the previous release that compiles it."""
    result: Result
    """The result of the suspect itself."""
    suspicion: Suspicion

    @property
    def releases(self) -> str:
        """The two releases in words: ``3.8.0 → 3.9.0``."""
        return " → ".join(release_of(result.built).label for result in (self.before, self.result))

    @property
    def sentence(self) -> str:
        """A sentence that says how much slower the code likely is, and why."""
        return self.suspicion.sentence(release_of(self.before.built).label)


def slow_suspects(pairs: Iterable[tuple[Result, Result]]) -> tuple[SlowSuspect, ...]:
    """Return the suspects among pairs of an earlier and a later result, the slowest first.

    Two results of one release are not compared, because their sources may differ.
    """
    suspects = [
        SlowSuspect(before, result, slowdown)
        for before, result in pairs
        if is_good(before.outcome)
        and is_good(result.outcome)
        and release_of(before.built).order != release_of(result.built).order
        and (slowdown := suspicion(before.outcome.metrics, result.outcome.metrics))
    ]
    return tuple(
        sorted(suspects, key=lambda suspect: (-suspect.suspicion.ratio, suspect.result.cell.id))
    )


def neighbours(results: Iterable[Result]) -> Iterator[tuple[Result, Result]]:
    """Yield pairs of results with code, on neighbouring releases of the same kind of env.

    Envs with and without a framework are different kinds. Forks do not count.
    """
    rows: dict[tuple[object, ...], list[Result]] = defaultdict(list)
    for result in results:
        cell = result.cell
        if result.outcome.has_code and toolchains.is_release(cell.env):
            rows[cell.spec, cell.target.name, cell.env.toolchain, cell.env.has_framework].append(
                result
            )
    for row in rows.values():
        yield from pairwise(sorted(row, key=lambda result: release_of(result.built).order))
