"""Which constexpr, option or hint a failure needs: change one at a time, of hints also several, and compare the outcomes.

Every changed specialization is an ordinary cell, so its result is kept.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from attrs import evolve

from compat.bisect import hints, perturbations
from compat.bisect.answers import ConfigAnswer, Need
from compat.bisect.attempts import fate
from compat.bisect.fates import Fate
from compat.bisect.perturbations import Change
from compat.execution import run
from compat.model import Cell, Outcome, Result, Specialization

_log = logging.getLogger(__name__)


def find_needs(cell: Cell, context: run.RunContext, on_tried: Callable[[int], None] = lambda _: None) -> ConfigAnswer:
    """What in a failing cell's specialization the failure needs.

    ``on_tried`` hears how many changes have been tried so far, perhaps from another thread. Raises
    :class:`compat.execution.run.Interrupted` when stopped early.
    """
    (result,) = run.run([cell], _fresh(context))
    obstacle = _obstacle(result)
    if obstacle is not None:
        return ConfigAnswer(sentence=obstacle)
    tries = _Tries(cell, result.outcome, context, on_tried)
    changes = perturbations.changes(cell.spec)
    tried = list(zip(changes, tries.fates([change.spec for change in changes]), strict=True))
    for change, came_out in tried:
        _log.debug("%s %s: %s", cell.id, perturbations.told(change), came_out)
    hinted = hints.search(hints.given(cell.spec), lambda sets: tries.fates([hints.with_only(cell.spec, each) for each in sets]))
    about_hints = hints.need(hinted) if hinted.hints else None
    needs = (*perturbations.needs(tried), *((about_hints,) if about_hints else ()))
    return ConfigAnswer(sentence=_sentence(needs, tried, hinted, bool(cell.spec.compile.launch)), needs=needs, tried=tries.done)


def _obstacle(result: Result) -> str | None:
    """Why there is nothing to search for, if there is not."""
    outcome = result.outcome
    if outcome.flaky:
        return "It is flaky: attempts at the same specialization ended differently, so no change can be tested."
    if not outcome.status.is_answer:
        return f"There is no answer for it ({outcome.status}), so no change can be compared with it."
    if outcome.failure is None:
        return "It is ok unchanged: there is no failure to search in."
    return None


class _Tries:
    """Changed specializations of a failing cell, compiled, and counted."""

    def __init__(self, cell: Cell, failing: Outcome, context: run.RunContext, on_tried: Callable[[int], None]) -> None:
        self._cell, self._failing, self._context, self._on_tried = cell, failing, context, on_tried
        self._lock = threading.Lock()
        self.done = 0

    def fates(self, specs: Sequence[Specialization]) -> list[Fate]:
        """What became of each."""
        cells = [evolve(self._cell, spec=spec) for spec in specs]
        return [fate(self._failing, result.outcome) for result in run.run(cells, _fresh(self._context), self._count)]

    def _count(self, _: Result) -> None:
        with self._lock:
            self.done += 1
            self._on_tried(self.done)


def _sentence(needs: Sequence[Need], tried: Sequence[tuple[Change, Fate]], hinted: hints.Found, launched: bool) -> str:
    change = perturbations.smallest(tried)
    ways = [(change.distance, perturbations.told(change))] if change else []
    if hinted.hints and (fewer := hints.smallest_change(hinted)):
        ways.append(fewer)
    if ways:
        return f"It is ok {min(ways)[1]}. In short: {'; '.join(need.sentence for need in needs)}."
    fates = [*(each for _, each in tried), *(each for kept, each in hinted.fates.items() if kept != frozenset(hinted.hints))]
    unknown = fates.count(Fate.UNKNOWN)
    told = f"{fates.count(Fate.SAME)} of {len(fates)} changes fail the same way"
    rest = f", inconclusive for {unknown}" if unknown else ""
    what = "what is passed" if launched else "a hint, nor leaving out all hints,"
    return f"No single change of a constexpr, an option or {what} makes it ok: {told}{rest}."


def _fresh(context: run.RunContext) -> run.RunContext:
    """The same context for one more run: a run that ended leaves its ``stop`` set."""
    return evolve(context, stop=threading.Event())
