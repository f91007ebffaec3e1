"""The constexpr, option or hint that a failure needs: change one, and compare the outcomes.

Several hints are also changed together. Changes that are quick to compile and likely to help are
tried first. Every changed specialization is an ordinary cell, so its result is kept.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from attrs import evolve

from compat.bisect.answers import ConfigAnswer, Effect, SearchEnd, SettingNeed
from compat.bisect.attempts import effect_on
from compat.bisect.perturbations import (
    HintTrials,
    SettingChange,
    changes,
    describe_change,
    fewest_left_out,
    first_sets,
    hint_need,
    hint_need_so_far,
    hints_of,
    in_order,
    most_further_sets,
    needs,
    search_hints,
    smallest,
    with_only,
)
from compat.engine import run
from compat.interruption import Budget
from compat.model import Cell, Outcome, Result, Specialization
from compat.text import in_time

_ROUND = 4
"""Changes for each slot that are compiled in one round. Failures are confirmed, and so known, at
the end of a round.
"""
_TELLING = 3
"""Compiled changes before progress shows the remaining time."""

_log = logging.getLogger(__name__)


def find_needs(
    cell: Cell,
    context: run.RunContext,
    on_step: Callable[[str], None] = lambda message: None,
    budget: Budget | None = None,
) -> ConfigAnswer:
    """The parts of a failing cell's specialization that the failure needs.

    An early stop returns the answer so far. ``on_step`` receives the progress of the search,
    perhaps from another thread. Raises :class:`compat.engine.run.Interrupted` when stopped before
    the outcome of the cell itself is known.
    """
    (result,) = run.run([cell], evolve(context, stop=threading.Event()))
    obstacle = _obstacle(result)
    if obstacle is not None:
        return ConfigAnswer(sentence=obstacle)
    return NeedSearch(cell, result.outcome, context, on_step, budget or Budget(None)).answer()


def _obstacle(result: Result) -> str | None:
    """The reason why there is nothing to search for; ``None`` if there is something."""
    outcome = result.outcome
    if outcome.flaky:
        return (
            "It is flaky: attempts at the same specialization ended differently, so no change can"
            " be tested."
        )
    if not outcome.status.is_answer:
        return (
            f"There is no answer for it ({outcome.status}), so no change can be compared with it."
        )
    if outcome.failure is None:
        return "It is ok unchanged: there is no failure to search in."
    return None


class NeedSearch:
    """A search that compiles changed specializations of a failing cell.

    The most promising ones come first, and the largest ones last.
    """

    def __init__(
        self,
        cell: Cell,
        failing: Outcome,
        context: run.RunContext,
        on_step: Callable[[str], None],
        budget: Budget,
    ) -> None:
        self._cell, self._failing, self._context = cell, failing, context
        self._on_step, self._budget = on_step, budget
        self._hints = hints_of(cell.spec)
        self._changes = changes(cell.spec)
        small, large = in_order(self._changes)
        fewer_hints = [with_only(cell.spec, hint_set) for hint_set in first_sets(self._hints)]
        self._work = {
            **{change.spec: 2**change.growth for change in small},
            **dict.fromkeys(fewer_hints, 1.0),
            **{change.spec: 2**change.growth for change in large},
        }
        """The changes that are tried in any case, in order, each with the approximate work of its
        compile.
        """
        self._effects: dict[Specialization, Effect] = {}
        self._began = time.monotonic()
        self._compiled, self._done = 0, 0.0
        """The number and the work of finished compiles that were not in the store."""
        self._noting = threading.Lock()

    def answer(self) -> ConfigAnswer:
        """Try all changes that are worth it, and return the answer."""
        ended, complete = SearchEnd.DONE, None
        self._on_step(self._progress())
        try:
            self._ask(list(self._work))
            complete = search_hints(
                self._hints,
                lambda sets: self._ask([with_only(self._cell.spec, hint_set) for hint_set in sets]),
            )
        except run.Interrupted:
            ended = SearchEnd.of(self._budget)
        trials = self._changes_tried()
        for change, came_out in trials:
            _log.debug("%s %s: %s", self._cell.id, describe_change(change), came_out)
        hinted = complete or self._hints_so_far()
        about_hints = (
            (hint_need(hinted) if complete else hint_need_so_far(hinted)) if hinted.hints else None
        )
        all_needs = (*needs(trials), *((about_hints,) if about_hints else ()))
        done = len(self._effects)
        untried = 0 if ended is SearchEnd.DONE else self._most() - done
        launched = bool(self._cell.spec.compile.launch)
        if ended is SearchEnd.DONE:
            sentence = _sentence(all_needs, trials, hinted, launched)
        else:
            sentence = (
                f"{ended.early}, after {done:,} of at most {done + untried:,} changes."
                f" {_so_far(all_needs, trials, hinted)}"
            )
        return ConfigAnswer(
            sentence=sentence, needs=all_needs, compiled=done, left_out=untried, end=ended
        )

    def _ask(self, specs: Sequence[Specialization]) -> list[Effect]:
        """The effect of each specialization.

        Raises Interrupted if the budget is used up, or if the user stops the search.
        """
        new = [spec for spec in dict.fromkeys(specs) if spec not in self._effects]
        size = _ROUND * self._context.slots
        for start in range(0, len(new), size):
            cells = [evolve(self._cell, spec=spec) for spec in new[start : start + size]]
            with self._budget.stopping() as stop:
                run.run(cells, evolve(self._context, stop=stop), self._note)
        return [self._effects[spec] for spec in specs]

    def _note(self, result: Result) -> None:
        with self._noting:
            spec = result.cell.spec
            self._effects[spec] = effect_on(self._failing, result.outcome)
            if not result.cached:
                self._compiled += 1
                self._done += self._work.get(spec, 1.0)
            self._on_step(self._progress())

    def _most(self) -> int:
        """The most changes that the search may try."""
        specs = {*self._work, *self._effects}
        further = most_further_sets(self._hints, self._hints_so_far().effects)
        return len(self._work) + max(further, len(specs) - len(self._work))

    def _hints_so_far(self) -> HintTrials:
        """The effects of the sets of hints that are tried in any case."""
        effects = {
            hint_set: self._effects[spec]
            for hint_set in first_sets(self._hints)
            if (spec := with_only(self._cell.spec, hint_set)) in self._effects
        }
        return HintTrials(hints=self._hints, effects=effects, smallest=frozenset(self._hints))

    def _progress(self) -> str:
        """The progress of the search, in words."""
        most, done = self._most(), len(self._effects)
        parts = [f"{done:,} of at most {most:,} changes"]
        certain = [work for spec, work in self._work.items() if spec not in self._effects]
        if self._compiled >= _TELLING and most > done:
            work = sum(certain) or most - done
            duration = in_time((time.monotonic() - self._began) * work / self._done)
            if not certain:
                parts.append(f"at most {duration} left")
            elif len(certain) < most - done:
                parts.append(f"about {duration} for the next {len(certain):,}")
            else:
                parts.append(f"about {duration} left")
        if way := _way(self._changes_tried(), self._hints_so_far()):
            parts.append(f"so far ok {way}")
        return ", ".join(parts)

    def _changes_tried(self) -> list[tuple[SettingChange, Effect]]:
        return [
            (change, self._effects[change.spec])
            for change in self._changes
            if change.spec in self._effects
        ]


def _way(trials: Sequence[tuple[SettingChange, Effect]], hinted: HintTrials) -> str | None:
    """The smallest change that makes the cell ok, in words; ``None`` if none does."""
    change = smallest(trials)
    ways = [(change.distance, describe_change(change))] if change else []
    if hinted.hints and (fewer := fewest_left_out(hinted)):
        ways.append(fewer)
    return min(ways)[1] if ways else None


def _so_far(
    needs: Sequence[SettingNeed], trials: Sequence[tuple[SettingChange, Effect]], hinted: HintTrials
) -> str:
    """The sentences of an answer from a search that has not tried every change."""
    if way := _way(trials, hinted):
        return " ".join((f"It is ok {way}.", *([_in_short(needs)] if needs else [])))
    effects = [*(effect for _, effect in trials), *hinted.effects.values()]
    if not effects:
        return "None is known yet."
    unknown = effects.count(Effect.UNKNOWN)
    rest = f", inconclusive for {unknown}" if unknown else ""
    return f"None of these makes it ok: {effects.count(Effect.SAME)} fail the same way{rest}."


def _sentence(
    needs: Sequence[SettingNeed],
    trials: Sequence[tuple[SettingChange, Effect]],
    hinted: HintTrials,
    launched: bool,
) -> str:
    if way := _way(trials, hinted):
        return f"It is ok {way}. {_in_short(needs)}"
    effects = [
        *(effect for _, effect in trials),
        *(
            effect
            for hint_set, effect in hinted.effects.items()
            if hint_set != frozenset(hinted.hints)
        ),
    ]
    unknown = effects.count(Effect.UNKNOWN)
    count = f"{effects.count(Effect.SAME)} of {len(effects)} changes fail the same way"
    rest = f", inconclusive for {unknown}" if unknown else ""
    what = "an argument" if launched else "a hint, nor leaving out all hints,"
    return f"No single change of a constexpr, an option or {what} makes it ok: {count}{rest}."


def _in_short(needs: Sequence[SettingNeed]) -> str:
    return f"In short: {'; '.join(need.sentence for need in needs)}."
