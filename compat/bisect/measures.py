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
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self

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
    value: object = outcome.metrics
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


# --- comparisons ----------------------------------------------------------------------------------

LIMIT = (
    r"(?:(?P<number>\d+(?:\.\d+)?)\s*(?:\*\s*(?P<of>baseline|previous))?"
    r"|(?P<alone>baseline|previous))"
)
"""The pattern of a limit: a number, or a multiple of the number of another release."""


@frozen(kw_only=True)
class ExceedsLimit:
    """Does the comparison of a number of a result with a limit hold?"""

    what: str
    """The name of the number."""
    sign: str
    number: float
    """The limit, or a multiple of the number to compare with."""
    of: str = ""
    """The number to compare with: ``baseline``, ``previous`` or none."""
    before: Mapping[Cell, Result | None] = field(factory=dict, eq=False, repr=False)
    """Cell → the result to compare with; ``None`` if no release comes before."""

    @classmethod
    def parse(cls, pattern: re.Pattern[str], text: str) -> Self | None:
        """The question that a text is; ``None`` if it does not have the pattern."""
        match = pattern.fullmatch(text)
        return match and cls(
            what=match["what"],
            sign="==" if match["sign"] == "=" else match["sign"],
            number=float(match["number"] or 1),
            of=match["of"] or match["alone"] or "",
        )

    @property
    def text(self) -> str:
        return f"{self.what}{self.sign}{self.number:g}{'*' if self.of else ''}{self.of}"

    def value(self, result: Result) -> float | None:
        """The number of a result that is compared, or ``None`` if it is not known."""
        raise NotImplementedError

    def is_bad(self, result: Result) -> bool | None:
        value, limit = self.value(result), self.limit(result)
        return None if value is None or limit is None else self.exceeds(value, limit)

    def limit(self, result: Result) -> float | None:
        """The number to compare with, or ``None`` if it is not known.

        The limit is infinity or 0 if no release comes before.
        """
        if not self.of:
            return self.number
        if result.cell not in self.before:
            return None
        other = self.before[result.cell]
        if other is None:
            return float("inf") if self.sign in (">", ">=") else 0.0
        value = self.value(other)
        return None if value is None else self.number * value

    def exceeds(self, value: float, limit: float) -> bool:
        """Whether a value exceeds a limit."""
        return OPERATORS[self.sign](value, limit)

    def is_alike(self, other: Result, result: Result) -> bool:
        """Whether the numbers of two results can be compared."""
        return True

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
            result = next(
                (
                    candidate
                    for candidate in results
                    if candidate.outcome.status is not Status.TIMED_OUT
                    and self.value(candidate) is not None
                ),
                None,
            )
            if result is None:
                continue
            if last is None or (
                self.of != "baseline"
                and self.is_alike(last, result)
                and not self.exceeds(
                    self.value(result) or 0.0, self.number * (self.value(last) or 0.0)
                )
            ):
                last = result
        return evolve(self, before=before)


# --- seconds --------------------------------------------------------------------------------------

_DURATION = lazy_pattern(
    r"(?P<what>compile_seconds|stage\.\w+\.cpu|pass\.[\w-]+\.cpu)"
    rf"\s*(?P<sign>>=|<=|==|!=|>|<|=)\s*{LIMIT}"
)


@frozen(kw_only=True)
class TakesLonger(ExceedsLimit):
    """Does the comparison of the seconds of a compile, a stage or a pass with a limit hold?

    ``what`` is ``compile_seconds``, ``stage.llir.cpu`` or ``pass.cse.cpu``. Numbers are CPU
    seconds.
    """

    @property
    def of_pass(self) -> str | None:
        """The pass that the question is about; ``None`` if it is not about a pass."""
        return self.what.split(".")[1] if self.what.startswith("pass.") else None

    def value(self, result: Result) -> float | None:
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
        bad = super().is_bad(result)
        # A stopped compile takes at least its limit, so only "more than" is certain.
        if result.outcome.status is Status.TIMED_OUT:
            return True if bad and self.sign in (">", ">=") else None
        return bad

    def exceeds(self, value: float, limit: float) -> bool:
        """Whether a value exceeds a limit.

        Against another release, the seconds must also be long enough, or the factor between the two
        large enough, to show a difference.
        """
        exceeds = super().exceeds(value, limit)
        if not exceeds or not self.of:
            return exceeds
        less, more = sorted((value, limit / self.number if self.number else 0.0))
        return more >= _LITTLE or more >= NOISE * less

    def is_near(self, result: Result) -> bool:
        """Whether another measurement may be on the other side of the limit."""
        value, limit = self.value(result), self.limit(result)
        return bool(value and limit) and limit / NOISE < value < limit * NOISE  # type: ignore[operator]


def parse_duration(text: str) -> TakesLonger | None:
    """The question about the seconds of compiles that a text names; ``None`` for other texts."""
    return TakesLonger.parse(_DURATION, text)
