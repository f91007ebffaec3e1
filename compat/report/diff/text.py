"""A comparison for a terminal, or a pipe: lines."""

from __future__ import annotations

from collections.abc import Iterator

from compat.report.compact import one_line
from compat.report.diff.comparing import Comparison, Difference, Kind
from compat.report.diff.sentences import (
    PAIRS_TITLE,
    change,
    headline,
    jump_line,
    look,
    pair_line,
    remarks,
    threshold_line,
    title,
    why,
)


def diff_lines(found: Comparison) -> Iterator[str]:
    """The comparison, what is broken first, and the sentence that sums it up last."""
    yield f"{found.old.name} → {found.new.name}"
    yield from (f"note: {remark}" for remark in remarks(found))
    for kind in Kind:
        if kind is Kind.METRIC:
            yield from _jumps(found)
        elif differences := found.of(kind):
            yield from ("", title(kind, differences))
            for each in differences:
                yield from _difference(each, found)
    if found.pairs:
        yield from ("", PAIRS_TITLE)
        for pair in found.pairs:
            yield from (f"  {pair.name}", f"    {pair_line(pair)}", *([f"    says   {one_line(pair.says)}"] if pair.says else []))
    yield from ("", headline(found))


def _difference(difference: Difference, found: Comparison) -> Iterator[str]:
    yield from (f"  {where}" for where in difference.where)
    yield f"    {change(difference)}"
    says, advice = why(difference)
    if says:
        yield f"    says   {one_line(says)}"
        if difference.failure and difference.failure.location:
            yield f"    at     {difference.failure.location}"
        if advice:
            yield f"    advice {' '.join(advice.split())}"
        yield f"    look   {look(difference, found)}"


def _jumps(found: Comparison) -> Iterator[str]:
    if found.jumps:
        yield from ("", threshold_line(found))
        for group in found.jumps:
            yield f"  {jump_line(group)}"
            yield from (f"    {where}" for where in group.where)
