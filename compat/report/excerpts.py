"""What a failure says for each target: sizes and limits differ from one to the other where the defect is the same."""

from __future__ import annotations

from collections.abc import Iterable

from compat.model import Result
from compat.report.compact import natural, one_line


def excerpts(example: Result, results: Iterable[Result]) -> tuple[tuple[str, str], ...]:
    """What results with one fingerprint say, in one line each: before it the targets that say so, where not all say the same.

    For each target it is the result most like the example, so that what differs is the target's.
    """
    nearest: dict[str, Result] = {}
    for result in sorted(results, key=lambda result: (_unlike(example, result), natural(result.cell.id))):
        nearest.setdefault(result.cell.target.name, result)
    said: dict[str, list[str]] = {}
    for target in sorted(nearest, key=natural):
        failure = nearest[target].outcome.failure
        said.setdefault(one_line(failure.excerpt if failure else ""), []).append(target)
    if len(said) == 1:
        return (("", next(iter(said))),)
    return tuple((f"{' '.join(targets)}: ", line) for line, targets in said.items())


def _unlike(example: Result, result: Result) -> tuple[bool, ...]:
    """How a result differs from the example, the most telling first; its target does not count."""
    one, other = example.cell, result.cell
    return (
        one.env != other.env,
        (one.spec.kernel, one.spec.variant) != (other.spec.kernel, other.spec.variant),
        one.spec.case != other.spec.case,
        one != other and one.target == other.target,
    )
