"""What names say beside what compiling says, and why the two differ. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import Factory, frozen

from compat.api.needing import Having, Lack, Needs
from compat.history.account import class_of, is_good, lacks
from compat.history.runs import Run, runs
from compat.model import Cell, Result, Specialization, Status


@frozen(kw_only=True)
class Kernel:
    """A function, what it needs, and what became of it."""

    source: str
    """The path of its file, as a user knows it."""
    function: str | None
    """``None`` for a file as a whole."""
    needs: Needs
    specs: tuple[Specialization, ...] = ()
    """What is known of its arguments; empty where nothing is, so that it cannot be compiled."""
    cells: Mapping[str, tuple[Cell, ...]] = Factory(dict)
    """Label of a place → what can be compiled there: each case on each target."""
    results: Mapping[str, tuple[Result, ...]] = Factory(dict)
    """Label of a place → what compiling found there, which may be only some of it."""


@frozen(kw_only=True)
class Outcomes:
    """Results of a release that came out alike."""

    status: Status
    failure_class: str | None
    results: int


@frozen(kw_only=True)
class Verdict:
    """What names and compiling say of a release."""

    cells: int
    """How many there are, each a case on a target; 0 where nothing is known of the arguments."""
    by_case: bool
    """Whether all of them are for one target, so that a cell is a case."""
    outcomes: tuple[Outcomes, ...]
    """What became of those of which a result is known."""
    because: str = ""
    """Why compiling says something else than the names; empty where it does not."""

    @property
    def compiled(self) -> int:
        """Of how many cells a result is known."""
        return sum(each.results for each in self.outcomes)

    @property
    def agrees(self) -> bool:
        """Whether all cells were compiled, and say what the names say."""
        return 0 < self.compiled == self.cells and not self.because


def verdicts(kernel: Kernel) -> tuple[Run[Verdict], ...]:
    """The verdict of each release that was looked at, neighbours that are alike together."""
    return runs((having.place.label, _verdict(having, kernel) if having.looked_at else None) for having in kernel.needs.having)


def _verdict(having: Having, kernel: Kernel) -> Verdict:
    cells = kernel.cells.get(having.place.label, ())
    results = kernel.results.get(having.place.label, ())
    answers = [result for result in results if result.outcome.status.is_answer]
    return Verdict(
        cells=len(cells),
        by_case=len({cell.target for cell in cells}) <= 1,
        outcomes=_outcomes(results),
        because=_difference(having, answers, kernel) if answers else "",
    )


def _outcomes(results: Sequence[Result]) -> tuple[Outcomes, ...]:
    counts = Counter(
        (each.outcome.status, each.outcome.failure.failure_class if each.outcome.failure else None) for each in results
    )
    order = list(Status)
    alike = sorted(counts, key=lambda each: (order.index(each[0]), each[1] or ""))
    return tuple(Outcomes(status=status, failure_class=name, results=counts[status, name]) for status, name in alike)


def _difference(having: Having, results: Sequence[Result], kernel: Kernel) -> str:
    """Why compiling says something else than the names do; empty where it does not."""
    failed = [result for result in results if not is_good(result.outcome)]
    of_names = [result for result in failed if lacks(result.outcome) and result.outcome.failure]
    others = [class_of(result.outcome) for result in failed if result not in of_names]
    if not having.lacks:
        return _though_all_is_there(of_names, others, having, kernel)
    if len(failed) == len(results):
        return "" if of_names else f"it fails for another reason first: {', '.join(dict.fromkeys(others))}"
    return "; ".join(_though_not_there(lack, kernel) for lack in having.lacks if lack.conditions or not failed)


def _though_all_is_there(of_names: Sequence[Result], others: Sequence[str], having: Having, kernel: Kernel) -> str:
    if of_names:
        failure = of_names[0].outcome.failure
        said = " ".join((failure.excerpt.splitlines() or [""])[-1].split()) if failure else ""
        methods = ", ".join(dict.fromkeys(f".{each.name}" for each in kernel.needs.uses.unresolved))
        rest = f"; attributes of values are not resolved: {methods}" if methods else ""
        return f"all names that the text shows are there, and the compiler says: {said}{rest}"
    if others:
        what = "what is known of its names is not all" if having.unknown else "all names are there"
        return f"{what}, and it fails: {', '.join(dict.fromkeys(others))} is no matter of names"
    return ""


def _though_not_there(lack: Lack, kernel: Kernel) -> str:
    """Why it compiles although a release lacks something that the source uses."""
    said = f"{lack.shown} {lack.why}"
    if lack.conditions:
        lines = ", ".join(map(str, lack.conditions))
        return f"{said}, and stands behind a condition (line {lines}), which the compiled cases need not take"
    if not lack.functions:
        return f"{said}, and is used outside of kernels alone, where nothing is compiled"
    return f"{said}, and it compiles all the same: what is compiled does not reach it, or does not need it"
