"""How the time that a compile takes grows with a number in its specialization: fitted, extrapolated, and said in a sentence. Pure.

Seconds are CPU seconds. A power of the number is fitted by least squares on logarithms, over the last points, since what a compile
takes in any case hides the growth in the first ones. Where the seconds multiply with each step of the number itself, it is an
exponential. The band of an exponent has the slopes between neighbouring points, and what chance makes of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from attrs import field, frozen

from compat.model import LATER_STAGES, SOURCE_STAGE, Outcome, Status
from compat.text import in_time

FEWEST = 3
"""Points without which nothing is fitted."""
_LAST = 4
"""Points that a power is fitted over, the last ones."""
_LITTLE = 0.05
"""CPU seconds below which a point tells of starting up, and not of growth."""
_CHANCE = 1.15
"""The factor by which two measurements of one compile differ."""
_FLAT = 0.3
"""An exponent below which it does not grow."""
_NONE = 1.5
"""The factor between the last point and the first up to which it does not grow either."""
_BASES = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
"""The parts of the first point that are tried for what a compile takes in any case."""
_WIDE = 4
"""The factor between the last size and the first from which on a power and an exponential can be told apart."""
_SLOW = 60.0
"""Seconds from which on a compile is called slow."""
_PASSES = "passes"

_Line = Sequence[tuple[float, float]]


class Law(StrEnum):
    """How seconds grow with a number n."""

    POWER = "power"
    EXPONENTIAL = "exponential"
    FLAT = "flat"
    UNKNOWN = "unknown"
    """Too few points."""


@frozen(kw_only=True)
class GrowthPoint:
    """A compile that ended."""

    size: int
    seconds: float


@frozen(kw_only=True)
class Span:
    """Seconds as far as they are known."""

    low: float
    middle: float
    high: float

    @property
    def text(self) -> str:
        """``about 3 h (2 h to 5 h)``."""
        ends = [roughly(each) for each in (self.low, self.high)]
        return f"about {roughly(self.middle)}" + (f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else "")


@frozen(kw_only=True)
class Growth:
    """What points tell together."""

    points: tuple[GrowthPoint, ...]
    """In the order of their sizes."""
    law: Law
    rate: float = 0.0
    """The exponent of a power; of an exponential the logarithm of the factor by which one more multiplies it."""
    low: float = 0.0
    high: float = 0.0
    base: float = 0.0
    """Seconds that it takes in any case."""

    @property
    def grows(self) -> bool:
        """Whether seconds grow with it."""
        return self.law in (Law.POWER, Law.EXPONENTIAL)

    def at(self, size: int) -> Span | None:
        """The seconds at another size; ``None`` where nothing is fitted."""
        if self.law is Law.UNKNOWN:
            return None
        last = self.points[-1]
        distance = size - last.size if self.law is Law.EXPONENTIAL else math.log(size / last.size)
        above = last.seconds - self.base
        found = sorted(self.base + above * math.exp(min(700.0, rate * distance)) for rate in (self.low, self.rate, self.high))
        return Span(low=found[0], middle=found[1], high=found[2])

    def law_text(self, name: str) -> str:
        """``grows as N^2.9 (2.7 to 3.1)``."""
        if self.law is Law.POWER:
            low, high = (max(0.0, rate) for rate in (self.low, self.high))
            return f"grows as {name}^{self.rate:.1f} ({low:.1f} to {high:.1f})"
        if self.law is Law.EXPONENTIAL:
            return f"doubles with every {max(1, round(math.log(2) / self.rate))} of {name}"
        return f"does not grow with {name}" if self.law is Law.FLAT else f"has too few points for a growth with {name}"

    @property
    def shown(self) -> str:
        """``0.9 s at 128, 6 s at 256, 50 s at 512``."""
        return ", ".join(f"{roughly(point.seconds)} at {point.size}" for point in self.points[-_LAST:])


def roughly(seconds: float) -> str:
    """A length of time with what counts of it: ``0.04 s``, ``3.1 s``, ``47 s``, ``7 min``, ``3 h``, ``2 days``."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 90 * 60:
        return in_time(seconds)
    if seconds < 2 * 86400:
        return f"{seconds / 3600:.2g} h"
    return f"{seconds / 86400:.0f} days" if seconds < 2 * 365 * 86400 else "years"


def fit(points: Sequence[GrowthPoint]) -> Growth:
    """What points tell of a growth."""
    every = tuple(sorted(points, key=lambda point: point.size))
    telling = [point for point in every if point.seconds >= _LITTLE]
    used = telling if len(telling) >= FEWEST else [point for point in every if point.seconds > 0]
    if len(used) < FEWEST:
        return Growth(points=every, law=Law.UNKNOWN)
    if used[-1].seconds < max(_LITTLE, _NONE * used[0].seconds):
        return Growth(points=every, law=Law.FLAT)
    base = min(_BASES if len(used) > FEWEST else _BASES[:1], key=lambda part: _off(*_power(used, part * used[0].seconds)))
    base *= min(point.seconds for point in used)
    if exponential := _exponential(used, _off(*_power(used, base))):
        return Growth(points=every, law=Law.EXPONENTIAL, rate=exponential[0], low=exponential[1], high=exponential[2])
    rate, low, high = _slope(_power(used[-_LAST:], base)[0])
    if rate < _FLAT:
        return Growth(points=every, law=Law.FLAT)
    return Growth(points=every, law=Law.POWER, rate=rate, low=low, high=high, base=base)


def _power(points: Sequence[GrowthPoint], base: float) -> tuple[_Line, float]:
    """The line that a power is in logarithms, and its slope; ``base`` are the seconds that do not grow."""
    line = [(math.log(point.size), math.log(max(point.seconds - base, 1e-9))) for point in points]
    return line, _slope(line)[0]


def _slope(line: _Line) -> tuple[float, float, float]:
    """The slope of a line through points, and the band that it lies in. Later points weigh more: they tell more of what follows."""
    weights = range(1, len(line) + 1)
    whole = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, line, strict=True)) / whole
    mean_y = sum(w * y for w, (_, y) in zip(weights, line, strict=True)) / whole
    rate = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, line, strict=True))
    rate /= sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, line, strict=True))
    slopes = [(y - before) / (x - start) for (start, before), (x, y) in pairwise(line)]
    chance = math.log(_CHANCE) / (line[-1][0] - line[0][0])
    later = slopes[-2:]
    return rate, min(*later, rate - chance), max(*later, rate + chance)


def _exponential(points: Sequence[GrowthPoint], off_power: float) -> tuple[float, float, float] | None:
    """The rate of an exponential, and its band, where points lie on one and on no power."""
    line = [(float(point.size), math.log(point.seconds)) for point in points]
    found = _slope(line)
    if len(points) <= FEWEST or found[0] <= 0:
        return None
    off = _off(line, found[0])
    is_wide = points[-1].size >= _WIDE * points[0].size  # within a narrow range either fits, and the better one is as good a guess
    better = off_power > math.log(_CHANCE) and off < off_power / 2 if is_wide else off < off_power
    return found if better else None


def _off(line: _Line, rate: float) -> float:
    """How far a line of that slope is off its points, as the root of the mean square."""
    shift = sum(y - rate * x for x, y in line) / len(line)
    return math.sqrt(sum((y - rate * x - shift) ** 2 for x, y in line) / len(line))


# --- of outcomes ------------------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class SettingGrowth:
    """How the parts of a compile grow with one setting."""

    setting: str
    outcomes: Mapping[int, Outcome] = field(repr=False)
    """By the setting's value, what became of each compile, stopped ones too."""
    parts: Mapping[str, Growth]
    """``ttgir``, ``ttgir, pass coalesce``, … → its growth."""
    whole: Growth

    @classmethod
    def of(cls, setting: str, outcomes: Mapping[int, Outcome]) -> SettingGrowth:
        """What the outcomes of several values tell."""
        ended = {size: outcome for size, outcome in sorted(outcomes.items()) if outcome.has_code}
        stages = list(dict.fromkeys(stage for outcome in ended.values() for stage in outcome.stages))
        compiling = [stage for stage in stages if stage not in (SOURCE_STAGE, *LATER_STAGES)]
        parts = {stage: fit(_points({size: outcome.stages for size, outcome in ended.items()}, stage)) for stage in compiling}
        tables = {size: outcome.metrics[_PASSES] for size, outcome in ended.items() if _PASSES in outcome.metrics}
        names = dict.fromkeys(name for table in tables.values() for name in table)
        parts |= {f"pass {name}": fit(_points(tables, name)) for name in names}
        whole = [GrowthPoint(size=size, seconds=outcome.compile_seconds or 0.0) for size, outcome in ended.items()]
        return cls(setting=setting, outcomes=dict(outcomes), parts=parts, whole=fit(whole))

    @property
    def grows(self) -> bool:
        """Whether the time of compiling grows with it."""
        return self.whole.grows

    def dominant(self, size: int) -> tuple[str, Growth] | None:
        """The part that takes most of the time at a size: a pass, where one takes most of a stage."""
        spans = {name: span.middle for name, growth in self.parts.items() if (span := growth.at(size)) is not None}
        stages = [name for name in spans if not name.startswith("pass ")]
        passes = [name for name in spans if name.startswith("pass ")]
        if not stages:
            return None
        stage = max(stages, key=lambda name: spans[name])
        inner = max(passes, key=lambda name: spans[name], default=None)
        name = inner if inner is not None and spans[inner] > spans[stage] / 2 else stage
        return (f"stage {stage}" if name == stage else f"{name.removeprefix('pass ')}, in stage {stage},"), self.parts[name]

    def sentence(self, goal: int) -> str:
        """``slow, not stuck: canonicalize grows as N^2.9: 6 s at 256, 90 s at 512, about 3 h at 2048``, or what can be said."""
        stopped = {size: outcome.compile_seconds or 0.0 for size, outcome in self.outcomes.items() if _is_stopped(outcome)}
        if not self.grows:
            beyond = f"; stopped at {', '.join(map(str, sorted(stopped)))}" if stopped else ""
            return f"compiling {self.whole.law_text(self.setting)}{f': {self.whole.shown}' if self.whole.points else ''}{beyond}"
        name, growth = self.dominant(goal) or ("compiling", self.whole)
        growth = growth if growth.grows else self.whole
        told = f"{name} {growth.law_text(self.setting)}: {growth.shown}"
        span = growth.at(goal)
        if span is None or goal <= growth.points[-1].size:
            return told
        told += f", {span.text} at {goal}"
        for size, taken in sorted(stopped.items()):
            expected = self.whole.at(size)
            if expected is not None and taken > 2 * expected.high:
                return f"{told}. {size} had taken {roughly(taken)} when it was stopped, more than that explains: it may be stuck"
        return f"slow, not stuck: {told}" if stopped or span.middle > _SLOW else told


def _points(tables: Mapping[int, Mapping[str, float]], name: str) -> list[GrowthPoint]:
    return [GrowthPoint(size=size, seconds=table[name]) for size, table in tables.items() if name in table]


def _is_stopped(outcome: Outcome) -> bool:
    return outcome.status is Status.TIMED_OUT
