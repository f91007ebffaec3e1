"""Notes on what a report rests on: guessed arguments, missing hints and kernels, stand-ins; and what a failure says per target."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator

from attrs import evolve

from compat import signatures
from compat.config.libraries import Absent, LibraryVersions
from compat.model import Result, Specialization, Status, StoodIn
from compat.report.summary.compact import counted, listed, natural, one_line

# --- guessed arguments and hints --------------------------------------------------------------------------------------------------


_SOURCES = 3
"""Sources, or pairs of cases, that a sentence names."""


def guesses(specs: Iterable[Specialization]) -> str | None:
    """Which sources the kernels are in whose arguments are guessed, and what writes them down; ``None`` without any."""
    guessed = [spec for spec in specs if spec.guessed]
    libraries = dict.fromkeys(spec.package for spec in guessed if spec.package)
    if libraries:
        sentence = f"the arguments of the kernels of {', '.join(libraries)} are guessed, one set for each kernel"
        return f"{sentence}, and others may give other results; `compat capture --live` records those of real launches"
    sources = list(dict.fromkeys(spec.origin.partition("::")[0] for spec in guessed))
    if not sources:
        return None
    where = sources[0] if len(sources) == 1 else f"{len(sources)} sources"
    again = shlex.join(["compat", "init", *(sources if len(sources) <= _SOURCES else ())])
    sentence = f"the arguments of the kernels in {where} are guessed, and others may give other results"
    return f"{sentence}; `{again}` writes them down to be edited"


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
        fine = next((result.cell.spec for result in here if result.outcome.status is Status.OK), None)
        failed = [result for result in here if result.outcome.failure and result.outcome.status is not Status.OK]
        for result in failed:
            if fine is None:
                break
            pairs[result.cell.spec.kernel, result.cell.spec.case, fine.case, result.outcome.status] = None
    if not pairs:
        return None
    named = [f"{kernel}/{bad} is {status} where {good} is ok" for kernel, bad, good, status in [*pairs][:_SOURCES]]
    more = f", and {counted(len(pairs) - _SOURCES, 'more pair')}" if len(pairs) > _SOURCES else ""
    sentence = f"hints decide whether kernels compile: {'; '.join(named)}{more}"
    return f"{sentence}; which of them your launches are depends on the sizes and strides that they pass"


# --- missing hints ----------------------------------------------------------------------------------------------------------------


NO_HINTS = (
    "nothing is known of any argument, not even that a tensor is aligned, and no launch is like that: compilers choose other "
    "layouts and pipeline less"
)
_KERNELS = 3
"""Kernels that a sentence names."""


def has_no_hints(spec: Specialization) -> bool:
    """Whether it has tensors, and nothing is said of any argument."""
    pointers = any(kind.startswith("*") for kind in signatures.leaves(spec.compile.signature).values())
    return pointers and not any(spec.compile.hints.values())


def without_hints(specs: Iterable[Specialization]) -> str | None:
    """Which kernels have cases of which no hint is known, and what to do; ``None`` without any."""
    names = list(dict.fromkeys(spec.kernel for spec in specs if has_no_hints(spec)))
    if not names:
        return None
    subject = listed(names) if len(names) <= _KERNELS else f"{len(names)} kernels"
    return f"of {subject} {NO_HINTS}; say [hints], or what is passed, as a [launch]"


# --- stand-ins --------------------------------------------------------------------------------------------------------------------


def stand_ins(results: Iterable[Result]) -> tuple[str, ...]:
    """A sentence for each kernel and what was stood in for."""
    groups: dict[tuple[str, tuple[str, ...]], list[StoodIn]] = defaultdict(list)
    for result in results:
        if (stood_in := result.outcome.stood_in) is not None:
            groups[result.cell.spec.kernel, tuple(name.split()[0] for name in stood_in.packages)].append(stood_in)
    return tuple(_sentence(kernel, packages, group) for (kernel, packages), group in groups.items())


def _sentence(kernel: str, packages: tuple[str, ...], group: list[StoodIn]) -> str:
    answers = {answer for record in group for answer in record.answers}
    skipped = {statement for record in group for statement in record.skipped}
    parts = [
        f"stand-ins for {', '.join(packages)}" if packages else "",
        f"{counted(len(answers), 'answer')} given to its modules" if answers else "",
        f"{counted(len(skipped), 'statement')} left out" if skipped else "",
    ]
    return f"{kernel}: {counted(len(group), 'cell')} imported with {', '.join(record for record in parts if record)}"


# --- missing kernels --------------------------------------------------------------------------------------------------------------


_MISSING = 8
"""Kernels that a sentence names."""


def missing_kernels(absent: Iterable[Absent]) -> Iterator[str]:
    """The sentences."""
    by_library: dict[LibraryVersions, list[str]] = defaultdict(list)
    for missing in absent:
        by_library[missing.library].append(missing.kernel)
    for library, kernels in by_library.items():
        listed = ", ".join(kernels[:_MISSING]) + (f" and {len(kernels) - _MISSING:,} more" if len(kernels) > _MISSING else "")
        yield f"{library.name} {library.version} does not have these kernels as they are declared, and they are not tried: {listed}"


# --- what a failure says for each target ------------------------------------------------------------------------------------------


def excerpts(example: Result, results: Iterable[Result]) -> tuple[tuple[str, str], ...]:
    """What results with one fingerprint say, in one line each: before it the targets that say so, where not all say the same.

    For each target it is the result most like the example, so that what differs is the target's.
    """
    nearest: dict[str, Result] = {}
    for result in sorted(results, key=lambda result: (_unlike(example, result), natural(result.cell.id))):
        nearest.setdefault(result.cell.target.name, result)
    by_line: dict[str, list[str]] = {}
    for target in sorted(nearest, key=natural):
        failure = nearest[target].outcome.failure
        by_line.setdefault(one_line(failure.excerpt if failure else ""), []).append(target)
    if len(by_line) == 1:
        return (("", next(iter(by_line))),)
    return tuple((f"{' '.join(targets)}: ", line) for line, targets in by_line.items())


def _unlike(example: Result, result: Result) -> tuple[bool, ...]:
    """How a result differs from the example, the most telling first; its target does not count."""
    one, other = example.cell, result.cell
    return (
        one.env != other.env,
        (one.spec.kernel, one.spec.variant) != (other.spec.kernel, other.spec.variant),
        one.spec.case != other.spec.case,
        one != other and one.target == other.target,
    )
