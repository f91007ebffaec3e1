"""What counts as bad of what running a kernel showed: its numbers, and how long it takes. Pure.

On the command line, beside those of :mod:`compat.bisect.criterion`::

    wrong                        bad where any check found wrong numbers, other ones at each launch, or a fault
    unstable                     bad where launches with the same arguments computed different numbers
    latency<op>NUMBER            microseconds of a launch: latency>80
    latency<op>NUMBER*baseline   as a multiple of what the problem names to compare with: latency>1.2*baseline
    latency<op>NUMBER*previous   as a multiple of the newest release before that is good: latency>1.2*previous

What was not run is inconclusive. Some of them look at all the releases of a kernel: :meth:`along` gives the question for one row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from attrs import evolve, field, frozen

from compat.model import Cell, Check, Latency, Result, Status
from compat.patterns import lazy_pattern

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_LATENCY = lazy_pattern(
    r"latency\s*(?P<sign>>=|<=|>|<)\s*(?:(?P<number>\d+(?:\.\d+)?)\s*(?:\*\s*(?P<of>baseline|previous))?|(?P<alone>baseline|previous))"
)
_WRONG = (Status.WRONG, Status.UNSTABLE, Status.FAULTED)
_STEADY = (Status.OK, Status.WRONG)

Row = Sequence[Sequence[Result]]
"""What is known of one kernel for one target: by release, oldest first, the results of its envs."""


@frozen(kw_only=True)
class IsWrong:
    """Does it compute wrong numbers?"""

    on_gpu: bool = False
    """Only numbers of a GPU count as right: so it is where some release of the row was launched."""
    text: str = "wrong"

    def is_bad(self, result: Result) -> bool | None:
        numbers = result.numbers
        if any(check.status in _WRONG for check in numbers.checks):
            return True
        said = numbers.gpu or (None if self.on_gpu else numbers.interpreter)
        return False if said is not None and said.right else None

    def along(self, row: Row) -> Self:
        """The same question in the light of all releases: what the interpreter finds right may be built wrong."""
        return evolve(self, on_gpu=any(result.numbers.gpu is not None for results in row for result in results))


@frozen(kw_only=True)
class IsUnstable:
    """Do launches with the same arguments compute different numbers?"""

    text: str = "unstable"

    def is_bad(self, result: Result) -> bool | None:
        check = result.numbers.gpu
        if check is None:
            return None
        if check.status is Status.UNSTABLE or check.differing:
            return True
        is_unknown = check.status is Status.UNSUPPORTED and check.launches  # without a reference, and the same each time
        return False if check.status in _STEADY or is_unknown else None

    def along(self, row: Row) -> Self:
        return self


@frozen(kw_only=True)
class IsSlower:
    """Does a launch take as long as that?"""

    sign: str
    number: float
    """Microseconds, or a multiple of what it is compared with."""
    of: str = ""
    """What it is compared with: ``baseline``, ``previous`` or nothing."""
    before: Mapping[Cell, Latency] = field(factory=dict, eq=False, repr=False)
    """Of ``previous``: the latency that each cell's is compared with; none for the first that was launched."""
    launched: bool = field(default=False, eq=False, repr=False)
    """Whether ``before`` is known."""

    @property
    def text(self) -> str:
        return f"latency{self.sign}{self.number:g}{'*' if self.of else ''}{self.of}"

    def is_bad(self, result: Result) -> bool | None:
        latency = result.latency
        if latency is None:
            return None
        limit = self._limit(result.cell, latency)
        return None if limit is None else OPERATORS[self.sign](latency.us, limit)

    def _limit(self, cell: Cell, latency: Latency) -> float | None:
        """The microseconds to compare with; ``None`` where they are not known, infinity or 0 where nothing comes before."""
        if self.of == "baseline":
            return None if latency.baseline_us is None else self.number * latency.baseline_us
        if self.of != "previous":
            return self.number
        before = self.before.get(cell)
        if before is not None:
            return self.number * before.us if before.device == latency.device else None
        nothing = float("inf") if self.sign in (">", ">=") else 0.0
        return nothing if self.launched else None

    def along(self, row: Row) -> Self:
        """The same question for the releases of a row: what is slower is compared with the last that was not, not with itself."""
        if self.of != "previous":
            return self
        before: dict[Cell, Latency] = {}
        last: Latency | None = None
        for results in row:
            before |= {result.cell: last for result in results if last is not None}
            latency = next((result.latency for result in results if result.latency), None)
            if latency is None or (last is not None and last.device != latency.device):
                continue
            if last is None or not OPERATORS[self.sign](latency.us, self.number * last.us):
                last = latency
        return evolve(self, before=before, launched=True)


Measured = IsWrong | IsUnstable | IsSlower


def parse_measured(text: str) -> Measured | None:
    """The question about numbers or latency that a text names; ``None`` where it names none."""
    if text == "wrong":
        return IsWrong()
    if text == "unstable":
        return IsUnstable()
    found = _LATENCY.fullmatch(text)
    if found is None:
        return None
    return IsSlower(sign=found["sign"], number=float(found["number"] or 1), of=found["of"] or found["alone"] or "")


def check_words(check: Check) -> str:
    """``wrong, error 0.41``, ``unstable, 3 of 30 launches differ``."""
    said = str(check.status).replace("_", " ")
    if check.status is Status.UNSTABLE and check.differing and check.launches:
        return f"{said}, {check.differing} of {check.launches} launches differ"
    if check.status in (Status.WRONG, Status.UNSTABLE) and check.max_abs is not None:
        return f"{said}, error {check.max_abs:.3g}"
    return said


def result_words(result: Result) -> str:
    """The same of a result, with its latency."""
    check, latency = result.numbers.decisive, result.latency
    words = [*([check_words(check)] if check else []), *([f"{latency.us:.4g} µs"] if latency else [])]
    return ", ".join(words) or "not run"
