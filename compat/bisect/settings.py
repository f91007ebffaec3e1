"""Which constexpr, option or hint a failure needs: change one at a time, of hints also several, and compare the outcomes.

What is quick to compile and likely to help is tried first. Every changed specialization is an ordinary cell, so its result is kept.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from attrs import evolve

from compat import interruption
from compat.bisect import hints, perturbations
from compat.bisect.answers import ConfigAnswer, Ended, Need
from compat.bisect.attempts import fate
from compat.bisect.fates import Fate
from compat.bisect.perturbations import Change
from compat.execution import run
from compat.execution.budget import Budget
from compat.model import Cell, Outcome, Result, Specialization
from compat.sizes import in_time

_ROUND = 4
"""Changes for each slot that are compiled in one go: what fails is confirmed, and so known, when all of a go are through."""
_TELLING = 3
"""Compiled changes before it is told how long the rest takes."""

_log = logging.getLogger(__name__)


def find_needs(
    cell: Cell, context: run.RunContext, on_step: Callable[[str], None] = lambda words: None, budget: Budget | None = None
) -> ConfigAnswer:
    """What in a failing cell's specialization the failure needs; of a search that is stopped early, what is known by then.

    ``on_step`` hears how far the search is, perhaps from another thread. Raises :class:`compat.execution.run.Interrupted` when
    stopped before the cell itself is known.
    """
    (result,) = run.run([cell], evolve(context, stop=threading.Event()))
    obstacle = _obstacle(result)
    if obstacle is not None:
        return ConfigAnswer(sentence=obstacle)
    return _Search(cell, result.outcome, context, on_step, budget or Budget(None)).answer()


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


class _Search:
    """Changed specializations of a failing cell, compiled from the most promising to the largest."""

    def __init__(
        self, cell: Cell, failing: Outcome, context: run.RunContext, on_step: Callable[[str], None], budget: Budget
    ) -> None:
        self._cell, self._failing, self._context, self._on_step, self._budget = cell, failing, context, on_step, budget
        self._hints = hints.given(cell.spec)
        self._changes = perturbations.changes(cell.spec)
        small, large = perturbations.in_order(self._changes)
        fewer_hints = [hints.with_only(cell.spec, each) for each in hints.first_sets(self._hints)]
        self._work = {
            **{change.spec: 2**change.growth for change in small},
            **dict.fromkeys(fewer_hints, 1.0),
            **{change.spec: 2**change.growth for change in large},
        }
        """What is tried in any case, in this order, and about how much work compiling each is."""
        self._fates: dict[Specialization, Fate] = {}
        self._began = time.monotonic()
        self._compiled, self._done = 0, 0.0
        """Of what was not known before: how many, and how much work."""
        self._noting = threading.Lock()

    def answer(self) -> ConfigAnswer:
        """Try what there is to try, and say what it comes to."""
        ended, complete = Ended.DONE, None
        try:
            self._ask(list(self._work))
            complete = hints.search(self._hints, lambda sets: self._ask([hints.with_only(self._cell.spec, each) for each in sets]))
        except run.Interrupted:
            ended = Ended.INTERRUPTED if interruption.asked() or self._budget.left else Ended.BUDGET
        tried = self._changes_tried()
        for change, came_out in tried:
            _log.debug("%s %s: %s", self._cell.id, perturbations.told(change), came_out)
        hinted = complete or self._hints_so_far()
        about_hints = (hints.need(hinted) if complete else hints.need_so_far(hinted)) if hinted.hints else None
        needs = (*perturbations.needs(tried), *((about_hints,) if about_hints else ()))
        done, untried = len(self._fates), 0 if ended is Ended.DONE else self._most() - len(self._fates)
        launched = bool(self._cell.spec.compile.launch)
        if ended is Ended.DONE:
            sentence = _sentence(needs, tried, hinted, launched)
        else:
            sentence = f"{_EARLY[ended]}, after {done} of at most {done + untried} changes. {_so_far(needs, tried, hinted)}"
        return ConfigAnswer(sentence=sentence, needs=needs, tried=done, untried=untried, ended=ended)

    def _ask(self, specs: Sequence[Specialization]) -> list[Fate]:
        """What becomes of each. Raises Interrupted where the time is over, or the user wants it to end."""
        new = [spec for spec in dict.fromkeys(specs) if spec not in self._fates]
        size = _ROUND * self._context.slots
        for start in range(0, len(new), size):
            cells = [evolve(self._cell, spec=spec) for spec in new[start : start + size]]
            with self._budget.stopping() as stop:
                run.run(cells, evolve(self._context, stop=stop), self._note)
        return [self._fates[spec] for spec in specs]

    def _note(self, result: Result) -> None:
        with self._noting:
            spec = result.cell.spec
            self._fates[spec] = fate(self._failing, result.outcome)
            if not result.cached:
                self._compiled += 1
                self._done += self._work.get(spec, 1.0)
            self._on_step(self._progress())

    def _most(self) -> int:
        """How many changes there are to try at most."""
        known = {*self._work, *self._fates}
        further = hints.most_further_sets(self._hints, self._hints_so_far().fates)
        return len(self._work) + max(further, len(known) - len(self._work))

    def _hints_so_far(self) -> hints.Found:
        """What is known of the sets of hints that are tried in any case."""
        full = frozenset(self._hints)
        sets = {each: hints.with_only(self._cell.spec, each) for each in hints.first_sets(self._hints)}
        fates: Mapping[frozenset[hints.Hint], Fate] = {
            each: self._fates[spec] for each, spec in sets.items() if spec in self._fates
        }
        return hints.Found(hints=self._hints, fates=fates, smallest=full)

    def _progress(self) -> str:
        """How far it is, in words."""
        most, done = self._most(), len(self._fates)
        parts = [f"{done} of at most {most} changes"]
        left = sum(work for spec, work in self._work.items() if spec not in self._fates)
        if self._compiled >= _TELLING and most > done:
            seconds = (time.monotonic() - self._began) * (left or most - done) / self._done
            parts.append(f"{'about' if left else 'at most'} {in_time(seconds)} left")
        if way := _way(self._changes_tried(), self._hints_so_far()):
            parts.append(f"so far ok {way}")
        return ", ".join(parts)

    def _changes_tried(self) -> list[tuple[Change, Fate]]:
        return [(change, self._fates[change.spec]) for change in self._changes if change.spec in self._fates]


_EARLY = {Ended.BUDGET: "Stopped at the end of the time budget", Ended.INTERRUPTED: "Interrupted"}


def _way(tried: Sequence[tuple[Change, Fate]], hinted: hints.Found) -> str | None:
    """The smallest change that makes it ok, in words."""
    change = perturbations.smallest(tried)
    ways = [(change.distance, perturbations.told(change))] if change else []
    if hinted.hints and (fewer := hints.smallest_change(hinted)):
        ways.append(fewer)
    return min(ways)[1] if ways else None


def _so_far(needs: Sequence[Need], tried: Sequence[tuple[Change, Fate]], hinted: hints.Found) -> str:
    """The same of a search that has not tried everything."""
    if way := _way(tried, hinted):
        return " ".join((f"It is ok {way}.", *([_in_short(needs)] if needs else [])))
    fates = [*(each for _, each in tried), *hinted.fates.values()]
    if not fates:
        return "None is known yet."
    unknown = fates.count(Fate.UNKNOWN)
    rest = f", inconclusive for {unknown}" if unknown else ""
    return f"None of these makes it ok: {fates.count(Fate.SAME)} fail the same way{rest}."


def _sentence(needs: Sequence[Need], tried: Sequence[tuple[Change, Fate]], hinted: hints.Found, launched: bool) -> str:
    if way := _way(tried, hinted):
        return f"It is ok {way}. {_in_short(needs)}"
    fates = [*(each for _, each in tried), *(each for kept, each in hinted.fates.items() if kept != frozenset(hinted.hints))]
    unknown = fates.count(Fate.UNKNOWN)
    told = f"{fates.count(Fate.SAME)} of {len(fates)} changes fail the same way"
    rest = f", inconclusive for {unknown}" if unknown else ""
    what = "what is passed" if launched else "a hint, nor leaving out all hints,"
    return f"No single change of a constexpr, an option or {what} makes it ok: {told}{rest}."


def _in_short(needs: Sequence[Need]) -> str:
    return f"In short: {'; '.join(need.sentence for need in needs)}."
