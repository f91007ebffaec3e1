"""What names say beside what compiling says, and why the two differ. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from attrs import Factory, frozen

from compat.api.needing import Having, Lack, Needs
from compat.history.account import class_of, is_good, lacks
from compat.history.runs import Run, runs
from compat.model import Result, Specialization


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
    results: Mapping[str, tuple[Result, ...]] = Factory(dict)
    """Label of a place → what compiling found there."""


class Word(StrEnum):
    """How names and compiling go together in a release."""

    AGREE = "agree"
    DIFFER = "differ"
    NOT_COMPILED = "not compiled"


@frozen(kw_only=True)
class Verdict:
    """What both say of a release."""

    word: Word
    compiled: str
    """What became of it: ``ok``, ``api-removed``, ``ok in 2 cells of 3, shape-mismatch in 1``; empty where it was not compiled."""
    because: str = ""
    """Why they differ."""


def verdicts(kernel: Kernel) -> tuple[Run[Verdict], ...]:
    """The verdict of each release that was looked at, neighbours that are alike together."""
    return runs((having.place.label, _verdict(having, kernel) if having.looked_at else None) for having in kernel.needs.having)


def _verdict(having: Having, kernel: Kernel) -> Verdict:
    results = [each for each in kernel.results.get(having.place.label, ()) if each.outcome.status.is_answer]
    if not results:
        return Verdict(word=Word.NOT_COMPILED, compiled="")
    compiled = _compiled(results)
    because = _difference(having, results, kernel)
    return Verdict(word=Word.DIFFER if because else Word.AGREE, compiled=compiled, because=because)


def _compiled(results: Sequence[Result]) -> str:
    counts: dict[str, int] = {}
    for result in results:
        word = "ok" if is_good(result.outcome) else class_of(result.outcome)
        counts[word] = counts.get(word, 0) + 1
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{word} in {number} of {len(results)} cells" for word, number in counts.items())


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
