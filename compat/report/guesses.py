"""Which results hold for what was guessed, in sentences: arguments that nobody has written down, and hints that decide."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable

from attrs import evolve

from compat.model import Result, Specialization, Status
from compat.report.compact import counted

_NAMED = 3
"""Sources, or pairs of cases, that a sentence names."""


def guesses(specs: Iterable[Specialization]) -> str | None:
    """Which sources the kernels are in whose arguments are guessed, and what writes them down; ``None`` without any."""
    guessed = [spec for spec in specs if spec.guessed]
    libraries = dict.fromkeys(spec.package for spec in guessed if spec.package)
    if libraries:
        said = f"the arguments of the kernels of {', '.join(libraries)} are guessed, one set for each kernel"
        return f"{said}, and others may give other results; `compat capture --live` records those of real launches"
    sources = list(dict.fromkeys(spec.origin.partition("::")[0] for spec in guessed))
    if not sources:
        return None
    words = sources[0] if len(sources) == 1 else f"{len(sources)} sources"
    again = shlex.join(["compat", "init", *(sources if len(sources) <= _NAMED else ())])
    said = f"the arguments of the kernels in {words} are guessed, and others may give other results"
    return f"{said}; `{again}` writes them down to be edited"


def decided_by_hints(results: Iterable[Result]) -> str | None:
    """Which cases fail where others compile that differ from them in hints alone; ``None`` without any."""
    cells = list(results)
    alike: dict[object, list[Specialization]] = defaultdict(list)
    for spec in dict.fromkeys(result.cell.spec for result in cells):
        unhinted = evolve(spec.compile, divisible_by_16=(), equal_to_1=(), pointer_range_32=())
        alike[spec.kernel, spec.variant, spec.function, spec.closure, unhinted].append(spec)
    group = {spec: number for number, specs in enumerate(alike.values()) if len(specs) > 1 for spec in specs}
    places: dict[tuple[object, ...], list[Result]] = defaultdict(list)
    for result in cells:
        if (number := group.get(result.cell.spec)) is not None:
            places[number, result.cell.env.name, result.cell.target.name].append(result)
    pairs: dict[tuple[str, str, str, Status], None] = {}
    for here in places.values():
        fine = next((each.cell.spec for each in here if each.outcome.status is Status.OK), None)
        failed = [each for each in here if each.outcome.failure and each.outcome.status is not Status.OK]
        for each in failed:
            if fine is None:
                break
            pairs[each.cell.spec.kernel, each.cell.spec.case, fine.case, each.outcome.status] = None
    if not pairs:
        return None
    named = [f"{kernel}/{bad} is {status} where {good} is ok" for kernel, bad, good, status in [*pairs][:_NAMED]]
    more = f", and {counted(len(pairs) - _NAMED, 'more pair')}" if len(pairs) > _NAMED else ""
    said = f"hints decide whether kernels compile: {'; '.join(named)}{more}"
    return f"{said}; which of them your launches are depends on the sizes and strides that they pass"
