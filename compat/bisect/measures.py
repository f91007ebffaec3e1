"""Numbers of results that judges compare: metrics, and the seconds of compiles. Pure.

Seconds are CPU seconds, because other work of a machine makes wall time longer. A judge compares
them with a number, or with another release::

    compile_seconds>10              all of the compile
    stage.llir.cpu>1.5*previous     a stage; with the newest earlier release that is not slower
    pass.cse.cpu>2*baseline         a compiler pass; with the oldest judged release

CPU seconds of one compile differ from run to run. Below one second, a factor below 1.5 shows
nothing, and counts as no difference.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from attrs import evolve, field, frozen
from packaging.version import Version

from compat import toolchains
from compat.model import Cell, Outcome, Result, Status
from compat.text import lazy_pattern

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
COMPILE = "compile_seconds"
PASSES = "passes"
"""The metric that has the seconds of each compiler pass."""

NOISE = 1.5
"""Two compiles of one kernel may differ by up to this factor by chance."""
_LITTLE = 1.0
"""Seconds below which a factor below :data:`NOISE` shows nothing."""

Row = Sequence[Sequence[Result]]
"""The results of one kernel for one target: for each release, oldest first, those of its envs."""


def measure(outcome: Outcome, metric: str) -> float | None:
    """The number of a metric in an outcome; ``None`` if it has none."""
    value: Any = outcome.metrics
    for key in metric.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def metric_names(outcome: Outcome) -> tuple[str, ...]:
    """Every metric that an outcome has a number for."""
    if not outcome.metrics:
        return ()
    names = [name for name, value in outcome.metrics.items() if isinstance(value, int | float)]
    tables = {
        name: value
        for name, value in outcome.metrics.items()
        if isinstance(value, Mapping) and name != PASSES
    }
    nested = [
        f"{name}.{key}"
        for name, table in tables.items()
        for key, value in table.items()
        if isinstance(value, int | float)
    ]
    return (COMPILE, *names, *nested, *duration_names(outcome))


def duration_names(outcome: Outcome) -> tuple[str, ...]:
    """Every stage and pass of a compile whose seconds an outcome has."""
    return (
        *(f"stage.{stage}.cpu" for stage in outcome.stages),
        *(f"pass.{name}.cpu" for name in outcome.metrics.get(PASSES, ())),
    )


def rows_of(results: Iterable[Result]) -> Iterator[Row]:
    """The rows of results, one for each specialization and target."""
    rows: dict[object, dict[Version, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        cell = result.cell
        rows[cell.spec, cell.target][cell.env.release or Version("0")].append(result)
    for row in rows.values():
        yield [row[release] for release in sorted(row)]


# --- seconds --------------------------------------------------------------------------------------

_DURATION = lazy_pattern(
    r"(?P<what>compile_seconds|stage\.\w+\.cpu|pass\.[\w-]+\.cpu)"
    r"\s*(?P<sign>>=|<=|==|!=|>|<|=)\s*"
    r"(?:(?P<number>\d+(?:\.\d+)?)\s*(?:\*\s*(?P<of>baseline|previous))?|(?P<alone>baseline|previous))"
)


@frozen(kw_only=True)
class TakesLonger:
    """Does the comparison of the seconds of a compile, a stage or a pass with a limit hold?"""

    what: str
    """``compile_seconds``, ``stage.llir.cpu`` or ``pass.cse.cpu``."""
    sign: str
    number: float
    """CPU seconds, or a multiple of the time to compare with."""
    of: str = ""
    """The time to compare with: ``baseline``, ``previous`` or none."""
    before: Mapping[Cell, Result | None] = field(factory=dict, eq=False, repr=False)
    """Cell → the result to compare with; ``None`` if no release comes before."""

    @property
    def text(self) -> str:
        return f"{self.what}{self.sign}{self.number:g}{'*' if self.of else ''}{self.of}"

    @property
    def of_pass(self) -> str | None:
        """The pass that the question is about; ``None`` if it is not about a pass."""
        return self.what.split(".")[1] if self.what.startswith("pass.") else None

    def seconds(self, result: Result) -> float | None:
        """The seconds of a result that are compared, or ``None`` if they are not known.

        A compile that was stopped took at least the seconds until then.
        """
        outcome = result.outcome
        if self.what == COMPILE:
            return (
                outcome.compile_seconds
                if outcome.metrics or outcome.status is Status.TIMED_OUT
                else None
            )
        if self.of_pass is None:
            return outcome.stages.get(self.what.split(".")[1])
        key = toolchains.of(result.cell.env).reader.pass_key
        table = outcome.metrics.get(PASSES) or {}
        pass_seconds = [
            seconds for name, seconds in table.items() if key(name) == key(self.of_pass)
        ]
        return sum(pass_seconds) if pass_seconds else None

    def is_bad(self, result: Result) -> bool | None:
        value, limit = self.seconds(result), self.limit(result)
        if value is None or limit is None:
            return None
        bad = self._exceeds(value, limit)
        # A stopped compile takes at least its limit, so only "more than" is certain.
        if result.outcome.status is Status.TIMED_OUT:
            return True if bad and self.sign in (">", ">=") else None
        return bad

    def limit(self, result: Result) -> float | None:
        """The seconds to compare with, or ``None`` if they are not known.

        The limit is infinity or 0 if no release comes before.
        """
        if not self.of:
            return self.number
        if result.cell not in self.before:
            return None
        other = self.before[result.cell]
        if other is None:
            return float("inf") if self.sign in (">", ">=") else 0.0
        seconds = self.seconds(other)
        return None if seconds is None else self.number * seconds

    def _exceeds(self, value: float, limit: float) -> bool:
        """Whether a value exceeds a limit.

        Against another release, the seconds must also be long enough, or the factor between the two
        large enough, to show a difference.
        """
        if not OPERATORS[self.sign](value, limit):
            return False
        if not self.of:
            return True
        less, more = sorted((value, limit / self.number if self.number else 0.0))
        return more >= _LITTLE or more >= NOISE * less

    def is_near(self, result: Result) -> bool:
        """Whether another measurement may be on the other side of the limit."""
        value, limit = self.seconds(result), self.limit(result)
        return bool(value and limit) and limit / NOISE < value < limit * NOISE  # type: ignore[operator]

    def along(self, row: Row) -> Self:
        """The same question for the releases of a row.

        A slower release is compared with the last one that was not slower, not with itself.
        """
        if not self.of:
            return self
        before: dict[Cell, Result | None] = {}
        last: Result | None = None
        for results in row:
            before |= {result.cell: last for result in results}
            ended = (
                candidate
                for candidate in results
                if candidate.outcome.status is not Status.TIMED_OUT
            )
            result = next(
                (candidate for candidate in ended if self.seconds(candidate) is not None), None
            )
            if result is None or (last is not None and self.of == "baseline"):
                continue
            if last is None or not self._exceeds(
                self.seconds(result) or 0.0, self.number * (self.seconds(last) or 0.0)
            ):
                last = result
        return evolve(self, before=before)


def parse_duration(text: str) -> TakesLonger | None:
    """The question about the seconds of compiles that a text names; ``None`` for other texts."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    return TakesLonger(
        what=match["what"],
        sign="==" if match["sign"] == "=" else match["sign"],
        number=float(match["number"] or 1),
        of=match["of"] or match["alone"] or "",
    )
