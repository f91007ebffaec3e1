"""The growth of a compile's time with a number in its specialization. Pure.

The module fits the growth, extrapolates it, and describes it in a sentence. Seconds are CPU
seconds. It fits a power of the number by least squares on logarithms, over the last points. Before
that it subtracts a *base*, which grows less: a compile has a constant part, and a part in
proportion to the number. If the seconds multiply by a factor for each step of the number itself,
the growth is exponential. The range of the exponent comes from the slopes between the last points,
the random variation of measurements, and other bases that fit as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from attrs import evolve, field, frozen

from compat.model import LATER_STAGES, SOURCE_STAGE, Outcome, Status
from compat.text import in_time

FEWEST = 3
"""The least number of points for a fit."""
_LAST = 4
"""The number of last points over which a power is fitted."""
_LITTLE = 0.05
"""CPU seconds below which a point shows the time of starting up, and not the growth."""
_CHANCE = 1.15
"""The factor by which two measurements of the same compile may differ."""
_FLAT = 0.3
"""The exponent below which the law is ``FLAT``."""
_NONE = 1.5
"""The ratio of the last point to the first below which the law is ``FLAT``."""
_Base = tuple[float, int]

_BASES: Sequence[_Base] = [
    (part, power) for part in (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98) for power in (0, 1)
]
"""Candidates for the base: its share of the first point's seconds, and the power with which it
grows.
"""
_GOOD = 0.05
"""The deviation, as a difference of logarithms, up to which every curve counts as fitting."""
_LEAST = 1e-9
"""The least seconds that a logarithm is taken of."""
_WIDE = 4
"""The least ratio of the last size to the first that distinguishes a power from an exponential."""
SLOW = 10.0
"""CPU seconds from which on a compile is called slow."""
_EXPLAINED = 2
"""The multiple of the upper estimate up to which a growth explains a stopped compile."""
_SHARE = 0.2
"""The least share of a whole compile for a stage or pass that can be the dominant part."""
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
    """The time of a finished compile, or of a part of it.

    As a bound, it is the time of a stopped compile, which would take at least that long.
    """

    size: int
    seconds: float


@frozen(kw_only=True)
class SecondsRange:
    """An estimate of seconds with its limits."""

    low: float
    middle: float
    high: float

    @property
    def text(self) -> str:
        """The estimate in words: ``about 3 h (2 h to 5 h)``."""
        ends = [roughly(seconds) for seconds in (self.low, self.high)]
        return f"about {roughly(self.middle)}" + (
            f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
        )


@frozen(kw_only=True)
class Curve:
    """A curve fitted to points: a power or an exponential, plus a base."""

    rate: float = 0.0
    """The exponent of a power. For an exponential, the logarithm of its factor per step."""
    low: float = 0.0
    """The least rate that fits."""
    high: float = 0.0
    """The greatest rate that fits."""
    base: float = 0.0
    """Seconds of the base at the last point."""
    base_power: int = 0
    """The power with which the base grows; 0 for a constant base."""

    def at(self, last: GrowthPoint, size: int, step: float, rate: float) -> float:
        """Return the seconds at a size, whose distance from the last point is ``step``."""
        return self._below(last, size) + (last.seconds - self.base) * math.exp(
            min(500.0, rate * step)
        )

    def above(self, last: GrowthPoint, bound: GrowthPoint, step: float) -> Curve:
        """Return the curve with its rates raised so that it does not fall below a bound.

        ``step`` is the distance of the bound from the last point.
        """
        rest = (bound.seconds - self._below(last, bound.size)) / max(
            last.seconds - self.base, _LEAST
        )
        least = math.log(max(rest, _LEAST)) / step
        return evolve(
            self, rate=max(self.rate, least), low=max(self.low, least), high=max(self.high, least)
        )

    def _below(self, last: GrowthPoint, size: int) -> float:
        """Return the seconds of the base at a size."""
        return self.base * float(size / last.size) ** self.base_power


@frozen(kw_only=True)
class Growth:
    """The growth that points show."""

    points: tuple[GrowthPoint, ...]
    """The points in the order of their sizes."""
    law: Law
    curves: tuple[Curve, ...] = ()
    """The curves that fit, the best one first."""

    @property
    def best(self) -> Curve:
        """The curve that fits best, or a flat one if there is none."""
        return self.curves[0] if self.curves else Curve()

    @property
    def low(self) -> float:
        """The least rate that fits."""
        return max(0.0, min((curve.low for curve in self.curves), default=0.0))

    @property
    def high(self) -> float:
        """The greatest rate that fits."""
        return max((curve.high for curve in self.curves), default=0.0)

    @property
    def grows(self) -> bool:
        """Whether the seconds grow with the size."""
        return self.law in (Law.POWER, Law.EXPONENTIAL)

    def at(self, size: int) -> SecondsRange | None:
        """Return the estimated seconds at another size; ``None`` if there are too few points."""
        if self.law is Law.UNKNOWN:
            return None
        last, curves, step = self.points[-1], self.curves or (Curve(),), self.step(size)
        every = [
            curve.at(last, size, step, rate) for curve in curves for rate in (curve.low, curve.high)
        ]
        middle = curves[0].at(last, size, step, curves[0].rate)
        return SecondsRange(low=min(*every, middle), middle=middle, high=max(*every, middle))

    def step(self, size: int) -> float:
        """Return the distance of a size from the last point, in the unit of the law's rate.

        It is a difference of sizes for an exponential, and a difference of logarithms otherwise.
        """
        last = self.points[-1].size
        return size - last if self.law is Law.EXPONENTIAL else math.log(size / last)

    def law_text(self, name: str) -> str:
        """Return the law in words: ``grows as N^2.9 (2.7 to 3.1)``."""
        if self.law is Law.POWER:
            return f"grows as {name}^{self.best.rate:.1f} ({self.low:.1f} to {self.high:.1f})"
        if self.law is Law.EXPONENTIAL:
            return f"doubles with every {max(1, round(math.log(2) / self.best.rate))} of {name}"
        return (
            f"does not grow with {name}"
            if self.law is Law.FLAT
            else f"has too few points for a growth with {name}"
        )

    @property
    def points_in_words(self) -> str:
        """The last points in words: ``0.9 s at 128, 6 s at 256, 50 s at 512``."""
        return ", ".join(
            f"{roughly(point.seconds)} at {point.size}" for point in self.points[-_LAST:]
        )


def roughly(seconds: float) -> str:
    """A rounded length of time: ``0.04 s``, ``3.1 s``, ``47 s``, ``7 min``, ``3 h``, ``2 days``."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 90 * 60:
        return in_time(seconds)
    if seconds < 2 * 86400:
        return f"{seconds / 3600:.2g} h"
    return f"{seconds / 86400:.0f} days" if seconds < 2 * 365 * 86400 else "years"


def fit(points: Sequence[GrowthPoint], bounds: Sequence[GrowthPoint] = ()) -> Growth:
    """Fit the growth of points, and raise its curves to the bounds that it explains.

    A bound is explained if it is at most :data:`_EXPLAINED` times the upper estimate there.
    """
    growth = _fit_growth(points)
    for bound in bounds:
        last = growth.points[-1] if growth.points else bound
        expected = growth.at(bound.size) if growth.grows and bound.size > last.size else None
        if expected is not None and bound.seconds <= _EXPLAINED * expected.high:
            step = growth.step(bound.size)
            growth = evolve(
                growth, curves=tuple(curve.above(last, bound, step) for curve in growth.curves)
            )
    return growth


def _fit_growth(points: Sequence[GrowthPoint]) -> Growth:
    every = tuple(sorted(points, key=lambda point: point.size))
    telling = [point for point in every if point.seconds >= _LITTLE]
    used = telling if len(telling) >= FEWEST else [point for point in every if point.seconds > 0]
    if len(used) < FEWEST:
        return Growth(points=every, law=Law.UNKNOWN)
    if used[-1].seconds < max(_LITTLE, _NONE * used[0].seconds):
        return Growth(points=every, law=Law.FLAT)
    bases = sorted(
        _BASES if len(used) > FEWEST else _BASES[:1], key=lambda base: _off(_power(used, base))
    )
    off = _off(_power(used, bases[0]))
    if exponential := _exponential(used, off):
        return Growth(points=every, law=Law.EXPONENTIAL, curves=(exponential,))
    fitting = [base for base in bases if _off(_power(used, base)) <= max(2 * off, _GOOD)]
    curves = tuple(_curve(used, base) for base in fitting)
    if curves[0].rate < _FLAT:
        return Growth(points=every, law=Law.FLAT)
    return Growth(points=every, law=Law.POWER, curves=curves)


def _curve(points: Sequence[GrowthPoint], base: _Base) -> Curve:
    rate, low, high = _slope(_power(points, base)[-_LAST:])
    return Curve(
        rate=rate,
        low=low,
        high=high,
        base=_below(points, base, points[-1].size),
        base_power=base[1],
    )


def _below(points: Sequence[GrowthPoint], base: _Base, size: int) -> float:
    """The seconds of a base at a size."""
    part, power = base
    return part * points[0].seconds * float(size / points[0].size) ** power


def _power(points: Sequence[GrowthPoint], base: _Base) -> _Line:
    """Return the points without a base, as logarithms. A power is a straight line there."""
    above = ((point.size, point.seconds - _below(points, base, point.size)) for point in points)
    return [(math.log(size), math.log(max(seconds, _LEAST))) for size, seconds in above]


def _slope(line: _Line) -> tuple[float, float, float]:
    """Return the slope of a line through points, and its lower and upper limit.

    Later points have more weight, because they predict larger sizes better.
    """
    weights = range(1, len(line) + 1)
    total_weight = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, line, strict=True)) / total_weight
    mean_y = sum(w * y for w, (_, y) in zip(weights, line, strict=True)) / total_weight
    rate = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, line, strict=True))
    rate /= sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, line, strict=True))
    slopes = [(y - before) / (x - start) for (start, before), (x, y) in pairwise(line)]
    chance = math.log(_CHANCE) / (line[-1][0] - line[0][0])
    later = slopes[-2:]
    return rate, min(*later, rate - chance), max(*later, rate + chance)


def _exponential(points: Sequence[GrowthPoint], off_power: float) -> Curve | None:
    """Return an exponential curve if it fits the points better than a power; else ``None``.

    ``off_power`` is the deviation of the best power.
    """
    line = [(float(point.size), math.log(point.seconds)) for point in points]
    rate, low, high = _slope(line)
    if len(points) <= FEWEST or rate <= 0:
        return None
    # Within a narrow range both curves fit, so the better one is taken. Within a wide range, the
    # exponential must be clearly better.
    is_wide = points[-1].size >= _WIDE * points[0].size
    better = (
        off_power > math.log(_CHANCE) and _off(line) < off_power / 2
        if is_wide
        else _off(line) < off_power
    )
    return Curve(rate=rate, low=low, high=high) if better else None


def _off(line: _Line) -> float:
    """Return the root mean square deviation of points from the line through them."""
    rate = _slope(line)[0]
    shift = sum(y - rate * x for x, y in line) / len(line)
    return math.sqrt(sum((y - rate * x - shift) ** 2 for x, y in line) / len(line))


# --- growth of outcomes ---------------------------------------------------------------------------


@frozen(kw_only=True)
class SettingGrowth:
    """The growth of a compile and its parts with one setting."""

    setting: str
    """Name of the constexpr or option."""
    outcomes: Mapping[int, Outcome] = field(repr=False)
    """Value of the setting → outcome of the compile, stopped compiles included."""
    parts: Mapping[str, Growth]
    """Stage (``ttgir``) or pass (``pass coalesce``) → its growth."""
    total: Growth
    """The growth of the whole compile."""

    @classmethod
    def of(cls, setting: str, outcomes: Mapping[int, Outcome]) -> SettingGrowth:
        """Fit the growth with a setting; ``outcomes`` maps its values to outcomes."""
        ended = {size: outcome for size, outcome in sorted(outcomes.items()) if outcome.has_code}
        stopped = {
            size: outcome for size, outcome in sorted(outcomes.items()) if _is_stopped(outcome)
        }
        stages = list(
            dict.fromkeys(stage for outcome in ended.values() for stage in outcome.stages)
        )
        compiling = [stage for stage in stages if stage not in (SOURCE_STAGE, *LATER_STAGES)]
        parts = {stage: _growth_of_stage(stage, ended, stopped) for stage in compiling}
        tables = {
            size: outcome.metrics[_PASSES]
            for size, outcome in ended.items()
            if _PASSES in outcome.metrics
        }
        names = dict.fromkeys(name for table in tables.values() for name in table)
        parts |= {f"pass {name}": fit(_points(tables, name)) for name in names}
        points, bounds = (
            [
                GrowthPoint(size=size, seconds=outcome.compile_seconds or 0.0)
                for size, outcome in some.items()
            ]
            for some in (ended, stopped)
        )
        return cls(setting=setting, outcomes=dict(outcomes), parts=parts, total=fit(points, bounds))

    @property
    def grows(self) -> bool:
        """Whether the compile time grows with the setting."""
        return self.total.grows

    def dominant(self, size: int) -> tuple[str, Growth] | None:
        """Return name and growth of the stage that takes most of the time at a size.

        A pass that takes more than half of that stage's time replaces it. Returns ``None`` if no
        stage is large enough.
        """
        seconds_by_size = {point.size: point.seconds for point in self.total.points}
        large = {
            name: growth
            for name, growth in self.parts.items()
            if growth.points
            and (last := growth.points[-1]).seconds >= _SHARE * seconds_by_size.get(last.size, 0.0)
        }
        spans = {
            name: span.middle
            for name, growth in large.items()
            if (span := growth.at(size)) is not None
        }
        stages = [name for name in spans if not name.startswith("pass ")]
        passes = [name for name in spans if name.startswith("pass ")]
        if not stages:
            return None
        stage = max(stages, key=lambda name: spans[name])
        inner = max(passes, key=lambda name: spans[name], default=None)
        name = inner if inner is not None and spans[inner] > spans[stage] / 2 else stage
        return (
            f"stage {stage}"
            if name == stage
            else f"{name.removeprefix('pass ')}, in stage {stage},"
        ), self.parts[name]

    def sentence(self, goal: int) -> str:
        """Return the growth in a sentence, with an estimate for the value ``goal``.

        An example is ``slow, not stuck: canonicalize grows as N^2.9: 6 s at 256, 90 s at 512, about
        3 h at 2048``.
        """
        stopped = {
            size: outcome.compile_seconds or 0.0
            for size, outcome in self.outcomes.items()
            if _is_stopped(outcome)
        }
        if not self.grows:
            beyond = f"; stopped at {', '.join(map(str, sorted(stopped)))}" if stopped else ""
            measured = f": {self.total.points_in_words}" if self.total.points else ""
            return f"compiling {self.total.law_text(self.setting)}{measured}{beyond}"
        name, growth = self.dominant(goal) or ("compiling", self.total)
        growth = growth if growth.grows else self.total
        text = f"{name} {growth.law_text(self.setting)}: {growth.points_in_words}"
        span, own = growth.at(goal), self.outcomes.get(goal)
        if own is not None and own.has_code and goal > growth.points[-1].size:
            return f"{text}; {roughly(own.compile_seconds or 0.0)} in all at {goal}"
        if span is None or goal <= growth.points[-1].size:
            return text
        text += f", {span.text} at {goal}"
        for size, seconds in sorted(stopped.items()):
            expected = self.total.at(size)
            if expected is not None and seconds > _EXPLAINED * expected.high:
                return (
                    f"{text}. {size} took {roughly(seconds)} until it was stopped, more than this"
                    " growth explains: it may be stuck"
                )
        return f"slow, not stuck: {text}" if stopped or span.middle > SLOW else text


def _growth_of_stage(
    stage: str, ended: Mapping[int, Outcome], stopped: Mapping[int, Outcome]
) -> Growth:
    """Fit the growth of a stage. Compiles that were stopped in the stage are bounds."""
    points = _points({size: outcome.stages for size, outcome in ended.items()}, stage)
    inside = {size: outcome.stages for size, outcome in stopped.items() if outcome.stage == stage}
    return fit(points, _points(inside, stage))


def _points(tables: Mapping[int, Mapping[str, float]], name: str) -> list[GrowthPoint]:
    return [
        GrowthPoint(size=size, seconds=table[name])
        for size, table in tables.items()
        if name in table
    ]


def _is_stopped(outcome: Outcome) -> bool:
    return outcome.status is Status.TIMED_OUT
