"""The growth of a compile's time with its settings: sizes around the case, smallest first.

Each size is an ordinary cell. They are compiled one at a time, because others would make a compile
slower. A size that would take too long by the growth so far is extrapolated, not compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import evolve, field, frozen

from compat import toolchains
from compat.bisect.answers import GrowthAnswer, SearchEnd
from compat.bisect.request import GrowingSetting
from compat.bisect.timing import quicker
from compat.engine.run import Interrupted, RunContext, run
from compat.errors import SelectionError
from compat.history.growth import SecondsRange, SettingGrowth, roughly
from compat.history.sizes import ladder, sizes, value_of, with_value
from compat.interruption import Budget
from compat.model import Cell, Outcome, Status
from compat.workers.attempt import timing_mode

_FIRST = 20.0
"""Seconds that the smallest specialization may take for a setting that the user did not name."""

_SHORT = 1.0
"""CPU seconds below which other work of the machine can be most of a measurement."""
_MORE = 2
"""The number of further measurements of such a compile. The smallest seconds count."""


@frozen(kw_only=True)
class GrowthSearch:
    """A search for the settings that make a compile slow."""

    cell: Cell
    context: RunContext
    settings: tuple[GrowingSetting, ...] = ()
    """The settings that were asked for; empty for every constexpr that is a size."""
    known_outcome: Outcome | None = None
    """The result of the cell itself, if it was compiled."""
    budget: Budget = field(factory=lambda: Budget(None))
    on_step: Callable[[str], None] = lambda message: None

    def answer(self) -> GrowthAnswer:
        """The answer about every setting.

        Raises SelectionError if a setting was named that the cell does not have.
        """
        growths: list[SettingGrowth] = []
        ended = SearchEnd.DONE
        settings = self.settings or tuple(
            GrowingSetting(name=name) for name in sizes(self.cell.spec)
        )
        for setting in settings:
            outcomes: dict[int, Outcome] = {}
            try:
                self._measure(setting, outcomes)
            except Interrupted:
                ended = SearchEnd.of(self.budget)
            if outcomes:
                growths.append(self._growth(setting, outcomes))
            if ended is not SearchEnd.DONE:
                break
        early = f"{ended.early}. " if ended.early else ""
        sentence = f"{early}{self._sentence(growths, ended)}"
        return GrowthAnswer(sentence=sentence, growths=tuple(growths), end=ended)

    def _measure(self, setting: GrowingSetting, outcomes: dict[int, Outcome]) -> None:
        """Add the outcomes of a setting's sizes. Raises Interrupted; the outcomes so far stay."""
        own = value_of(self.cell.spec, setting.name)
        if own is None:
            hint = f"Available: {', '.join(sizes(self.cell.spec)) or 'none'}."
            raise SelectionError(
                f"{self.cell.id} has no number {setting.name!r}", where="--grow", hint=hint
            )
        for value in setting.values or ladder(own):
            growth = SettingGrowth.of(setting.name, outcomes)
            expected = growth.total.at(value) or _by_last_two(outcomes, value)
            if expected is not None and expected.middle > self._most():
                self.on_step(
                    f"{setting.name}={value} is not compiled: by its growth it takes"
                    f" {expected.text}"
                )
                break
            self.on_step(f"compiling with {setting.name}={value}")
            outcome = (
                self.known_outcome
                if value == own and self.known_outcome is not None
                else self._outcome(setting, value, first=not outcomes)
            )
            outcomes[value] = outcome
            self.on_step(f"{setting.name}={value}: {_outcome_text(outcome)}")
            if outcome.status is Status.TIMED_OUT:
                break
        self._measure_again(setting, outcomes)

    def _growth(self, setting: GrowingSetting, outcomes: Mapping[int, Outcome]) -> SettingGrowth:
        size, outcome = value_of(self.cell.spec, setting.name), self.known_outcome
        if size is not None and outcome is not None and outcome.status is Status.TIMED_OUT:
            outcomes = {**outcomes, size: outcome}
        return SettingGrowth.of(setting.name, outcomes)

    def _most(self) -> float:
        """Seconds that a compile may take."""
        return min(self.context.limits.deadline, self.budget.remaining_seconds)

    def _outcome(self, setting: GrowingSetting, value: int, *, first: bool) -> Outcome:
        limits = self.context.limits
        if first and not self.settings:
            limits = evolve(limits, deadline=min(limits.deadline, _FIRST))
        return self._compile(setting, value, evolve(self.context, limits=limits))

    def _compile(self, setting: GrowingSetting, value: int, context: RunContext) -> Outcome:
        mode = timing_mode(toolchains.of(self.cell.env)) or self.context.mode
        cell = evolve(self.cell, spec=with_value(self.cell.spec, setting.name, value))
        with self.budget.stopping() as stop:
            (result,) = run([cell], evolve(context, slots=1, mode=mode, stop=stop))
        return result.outcome

    def _measure_again(self, setting: GrowingSetting, outcomes: dict[int, Outcome]) -> None:
        """Replace the outcomes of short compiles with their quickest measurements.

        All sizes take turns, so that a burst of other work does not distort a single one.
        """
        short = [
            value
            for value, outcome in outcomes.items()
            if outcome is not self.known_outcome
            and outcome.has_code
            and (outcome.compile_seconds or 0.0) < _SHORT
        ]
        context = evolve(self.context, again=True)
        for value in short * _MORE:
            outcomes[value] = quicker(outcomes[value], self._compile(setting, value, context))

    def _sentence(self, growths: Sequence[SettingGrowth], ended: SearchEnd) -> str:
        """The sentence. The setting that takes the most seconds comes first."""
        goals = {growth.setting: self._goal(growth) for growth in growths}
        if not growths and ended is not SearchEnd.DONE:
            return "No size was measured."
        if not growths:
            return "The kernel has no constexpr that is a size, so no growth can be measured."
        growing = [growth for growth in growths if growth.grows]
        if not growing:
            return (
                "Slow or stuck, not decided:"
                f" {'; '.join(growth.sentence(goals[growth.setting]) for growth in growths)}."
            )
        ranked = sorted(
            growing, key=lambda growth: -_middle(growth.total.at(goals[growth.setting]))
        )
        first, *rest = [
            growth.sentence(goals[growth.setting])
            for growth in (*ranked, *(g for g in growths if not g.grows))
        ]
        others = f" Besides: {'; '.join(rest)}." if rest else ""
        return f"{first[:1].upper()}{first[1:]}.{others}"

    def _goal(self, growth: SettingGrowth) -> int:
        """The size in the sentence: the cell's own, or the largest that was asked for."""
        asked_for = next(
            (setting.values for setting in self.settings if setting.name == growth.setting), ()
        )
        return max((*asked_for, value_of(self.cell.spec, growth.setting) or 1))


def _middle(span: SecondsRange | None) -> float:
    return span.middle if span is not None else 0.0


def _by_last_two(outcomes: Mapping[int, Outcome], value: int) -> SecondsRange | None:
    """The seconds at a value, extrapolated from the last two sizes that compiled.

    The estimate errs only on the low side. It is ``None`` if these compiles were too short, or if
    there are no two.
    """
    ended = [
        (size, outcome.compile_seconds or 0.0)
        for size, outcome in sorted(outcomes.items())
        if outcome.has_code
    ]
    if len(ended) < 2 or ended[-1][1] < 1:
        return None
    (_, before), (size, last) = ended[-2:]
    steps = value / size
    low = last * max(1.0, steps / 2) * max(1.0, last / max(before, 1e-3) / 2)
    return SecondsRange(low=low, middle=low, high=low)


def _outcome_text(outcome: Outcome) -> str:
    seconds = outcome.compile_seconds
    return f"{outcome.status}, {roughly(seconds)}" if seconds is not None else str(outcome.status)
