"""Two reports side by side: broken, fixed, or otherwise changed, as text, Markdown and data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from compat.history.suspects import SlowSuspect
from compat.model.codec import unstructure
from compat.report.document import suspect_record
from compat.report.render.markdown import code, escape, fence, prose
from compat.report.summary.compact import FailurePlace, explain_command, one_line
from compat.report.summary.comparing import (
    TABLE,
    CellChange,
    CellChangeKind,
    Comparison,
    Jump,
    JumpGroup,
    PairChange,
    ReportSide,
    kind_of_pair,
)
from compat.text import JsonObject, amount, group_by_key, join_words, shorten

# --- sentences ------------------------------------------------------------------------------------


TITLES = {
    CellChangeKind.BROKEN: "newly broken",
    CellChangeKind.CHANGED: "failing differently",
    CellChangeKind.INCONCLUSIVE: "without an answer now",
    CellChangeKind.DEPRECATED: "newly deprecated",
    CellChangeKind.METRIC: "with a metric that rose",
    CellChangeKind.FIXED: "newly fixed",
    CellChangeKind.ANSWERED: "answered now",
    CellChangeKind.DROPPED: "not tested any more",
    CellChangeKind.ADDED: "newly tested",
}
"""The words for the cells of each kind."""
_IN_ONE_REPORT = (CellChangeKind.DROPPED, CellChangeKind.ADDED)
"""The kinds of cells that the reports do not have in common."""
_INSTRUCTIONS = f"{TABLE}."
_WIDTH = 300
_NAMED = 10
"""Values of an axis that a sentence names."""


def headline(comparison: Comparison) -> str:
    """The comparison in a sentence, with a second one about pairs if some changed."""
    cells = (
        _of_cells(comparison)
        if comparison.old.cells or comparison.new.cells or not comparison.pairs
        else ""
    )
    return " ".join(filter(None, (cells, _of_pairs(comparison) if comparison.pairs else "")))


def _of_cells(comparison: Comparison) -> str:
    counts = {
        kind: f"{number:,} {TITLES[kind]}{_declared_note(comparison.of(kind))}"
        for kind, number in comparison.counts.items()
    }
    alone = [counts.pop(kind) for kind in _IN_ONE_REPORT if kind in counts]
    changed = [*counts.values()] or ["metrics fell"]
    if not comparison.compared:
        return (
            "The reports have no cell in common, so nothing was compared:"
            f" {join_words(alone) or 'both are empty'}."
        )
    also = f"; also: {join_words(alone)}" if alone else ""
    if comparison.same == comparison.compared:
        return (
            f"Nothing changed in the {amount(comparison.compared, 'cell')} that both reports"
            f" have{also}."
        )
    return (
        f"The reports have {amount(comparison.compared, 'cell')} in common:"
        f" {join_words([f'{comparison.same:,} unchanged', *changed])}{also}."
    )


def _of_pairs(comparison: Comparison) -> str:
    kinds = Counter(kind_of_pair(change) for change in comparison.pairs)
    changed = [f"{kinds[kind]:,} {TITLES[kind]}" for kind in CellChangeKind if kind in kinds]
    return f"Pairs with PyTorch: {join_words(changed)}."


def remarks(comparison: Comparison) -> Iterator[str]:
    """The facts about two reports that a reader needs to understand the changes."""
    if comparison.versions:
        old, new = comparison.versions
        wrote = f"version {old} of triton-compat wrote the old report, and {new} the new one"
        yield f"{wrote}; names of failures may differ for that reason"
    for side, axes in zip(("old", "new"), comparison.only, strict=True):
        if axes:
            yield (
                f"only the {side} report has"
                f" {join_words([_values(axis, values) for axis, values in axes.items()])}"
            )
    for env, before in comparison.successors.items():
        yield f"{env} is new, and compared with {before}"
    if comparison.arguments:
        yield f"the arguments or options of {join_words(comparison.arguments, _NAMED)} changed"
    yield from (
        f"the env {env.name} changed: {env.before} → {env.after}" for env in comparison.envs
    )


def title(kind: CellChangeKind, differences: Sequence[CellChange]) -> str:
    """The title of the changes of a kind: ``newly broken: 3 cells (1 declared)``."""
    cells = amount(sum(len(difference.results) for difference in differences), "cell")
    return f"{TITLES[kind]}: {cells}{_declared_note(differences)}"


def change(difference: CellChange) -> str:
    """A change in words: ``ok → rejected (api-removed)``."""
    after = (
        f"{difference.after}, with a deprecation warning"
        if difference.kind is CellChangeKind.DEPRECATED
        else difference.after
    )
    text = " → ".join(side for side in (difference.before, after) if side)
    if not difference.declared:
        return text
    exactly = difference.declaration == difference.after
    return (
        f"{text}, as its kernel file declares"
        if exactly
        else f"{text}; its kernel file declares {difference.declaration}"
    )


def look(difference: CellChange, comparison: Comparison) -> str:
    """The command that shows the first of the cells."""
    side = comparison.old if difference.kind is CellChangeKind.DROPPED else comparison.new
    return explain_command(difference.results[0].cell, side.report.options)


def why(difference: CellChange) -> tuple[str, str]:
    """The compiler's message about a change, and the advice; empty for a declared failure."""
    advice = difference.failure.advice if difference.failure and difference.says else ""
    return ("", "") if difference.declared else (difference.says, advice)


def suspects_title(releases: str, suspects: Sequence[SlowSuspect]) -> str:
    """A title: ``3.8.0 → 3.9.0: 2 kernels likely slower (slow-suspect), in 4 cells``."""
    kernels = {suspect.result.cell.spec.kernel for suspect in suspects}
    return (
        f"{releases}: {amount(len(kernels), 'kernel')} likely slower (slow-suspect), in"
        f" {amount(len(suspects), 'cell')}"
    )


PAIRS_TITLE = "pairs of a PyTorch and a release"


def pair_line(pair: PairChange) -> str:
    """The change of a pair: ``newly broken: ok → user_kernel (kernel-dropped)``."""
    return f"{TITLES[kind_of_pair(pair)]}: {pair.before} → {pair.after}"


def jump_line(group: JumpGroup) -> str:
    """The largest jump of a group, ``registers: 32 → 40 (+25 %)``, and the number of cells."""
    jump, cells = group.largest, len(group.jumps)
    largest = f" at most, in {amount(cells, 'cell')}" if cells > 1 else ""
    lost = "lost " if jump.metric.startswith(_INSTRUCTIONS) and not jump.after else ""
    return (
        f"{lost}{jump.metric}: {_number(jump.before)} →"
        f" {_number(jump.after)}{_percent(jump)}{largest}"
    )


def threshold_line(comparison: Comparison) -> str:
    """The line that says which numbers are listed."""
    return f"metrics that changed by more than {comparison.threshold:g} %"


_Item = CellChange | JumpGroup | SlowSuspect | PairChange


def _sections(comparison: Comparison) -> Iterator[tuple[str, Sequence[_Item]]]:
    """The title of each section of a comparison that is not empty, and its items."""
    for kind in CellChangeKind:
        if kind is CellChangeKind.METRIC and comparison.jumps:
            yield threshold_line(comparison), comparison.jumps
        if differences := comparison.of(kind):
            yield title(kind, differences), differences
    by_releases = group_by_key((suspect.releases, suspect) for suspect in comparison.suspects)
    for releases, suspects in by_releases.items():
        yield suspects_title(releases, suspects), suspects
    if comparison.pairs:
        yield PAIRS_TITLE, comparison.pairs


def _declared_note(differences: Sequence[CellChange]) -> str:
    meant = sum(len(difference.results) - difference.gated_count for difference in differences)
    return f" ({meant:,} declared)" if meant else ""


def _values(axis: str, values: Sequence[str]) -> str:
    """Values of an axis in words: ``the targets sm_80 and sm_90``. Of many, some are named."""
    return f"the {axis if len(values) > 1 else axis.removesuffix('s')} {join_words(values, _NAMED)}"


def _percent(jump: Jump) -> str:
    return "" if jump.percent is None else f" ({jump.percent:+,.0f} %)"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


# --- for a terminal -------------------------------------------------------------------------------


def diff_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison line by line: broken cells first, and the summary last."""
    yield f"{comparison.old.name} → {comparison.new.name}"
    yield from (f"note: {remark}" for remark in remarks(comparison))
    for heading, items in _sections(comparison):
        yield from ("", heading)
        for item in items:
            yield from _item_lines(item, comparison)
    yield from ("", headline(comparison))


def _item_lines(item: _Item, comparison: Comparison) -> Iterator[str]:
    match item:
        case CellChange():
            yield from _difference(item, comparison)
        case JumpGroup():
            yield f"  {jump_line(item)}"
            yield from (f"    {where}" for where in item.where)
        case SlowSuspect():
            yield from (f"  {item.result.cell.id}", f"    {item.sentence}")
        case PairChange():
            yield from (f"  {item.name}", f"    {pair_line(item)}")
            yield from [f"    says   {one_line(item.says)}"] if item.says else []


def _difference(difference: CellChange, comparison: Comparison) -> Iterator[str]:
    yield from (f"  {where}" for where in difference.where)
    yield f"    {change(difference)}"
    says, advice = why(difference)
    if says:
        yield f"    says   {one_line(says)}"
        if difference.failure and difference.failure.location:
            yield f"    at     {difference.failure.location}"
        if advice:
            yield f"    advice {' '.join(advice.split())}"
        yield f"    look   {look(difference, comparison)}"


# --- as a comment on a pull request ---------------------------------------------------------------


LIMIT = 65_536
"""Characters that a comment on GitHub may have."""
MARKER = "<!-- triton-compat diff -->"
"""The first line of the comment, by which a program finds it again."""
_ROOM = 1_000
"""Characters for the text after the details."""


def diff_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown of less than :data:`LIMIT` characters.

    A note says what is left out.
    """
    parts = [
        f"{MARKER}\n## Triton compatibility\n\n{escape(headline(comparison))}",
        _table(comparison),
    ]
    parts += (
        ["\n".join(f"- {escape(remark)}" for remark in noted)]
        if (noted := list(remarks(comparison)))
        else []
    )
    text, left_out = "", 0
    details = (
        part
        for heading, items in _sections(comparison)
        for part in _details(heading, [_item_markdown(item, comparison) for item in items])
    )
    for part in (*parts, *details):
        longer = f"{text}\n\n{part}" if text else part
        if len(longer) > LIMIT - _ROOM:
            left_out += 1
        else:
            text = longer
    note = (
        f"\n\n{amount(left_out, 'part')} of this comparison did not fit here. `compat diff` shows"
        " all of it."
        if left_out
        else ""
    )
    old, new = (code(shorten(side.name, _WIDTH)) for side in (comparison.old, comparison.new))
    return f"{text}{note}\n\nCompared {old} with {new} by triton-compat.\n"


def _table(comparison: Comparison) -> str:
    rows = (f"| {TITLES[kind]} | {number:,} |" for kind, number in comparison.counts.items())
    return "\n".join(
        ("| | cells |", "| --- | ---: |", *rows, f"| the same | {comparison.same:,} |")
    )


def _item_markdown(item: _Item, comparison: Comparison) -> str:
    match item:
        case CellChange():
            return _difference_markdown(item, comparison)
        case JumpGroup():
            return f"{escape(jump_line(item))}: {'; '.join(map(_place, item.where))}"
        case SlowSuspect():
            return f"{code(item.result.cell.id)}: {escape(item.sentence)}"
    return _pair_markdown(item)


def _details(summary: str, items: list[str]) -> Iterator[str]:
    """Collapsed details with a few differences each, so that few are left out if not all fit."""
    for at in range(0, len(items), _MOST_DETAILS):
        numbers = (
            f" ({at + 1} to {min(at + _MOST_DETAILS, len(items))})"
            if len(items) > _MOST_DETAILS
            else ""
        )
        body = "\n\n".join(items[at : at + _MOST_DETAILS])
        yield f"<details><summary>{summary}{numbers}</summary>\n\n{body}\n\n</details>"


_MOST_DETAILS = 20
"""Differences in one of the details."""


def _difference_markdown(difference: CellChange, comparison: Comparison) -> str:
    head = f"**{escape(change(difference))}**: {'; '.join(map(_place, difference.where))}"
    says, advice = why(difference)
    if not says:
        return head
    return "\n\n".join(
        (
            head,
            fence(_shorten_lines(says)),
            *([prose(advice)] if advice else []),
            fence(look(difference, comparison), "sh"),
        )
    )


def _pair_markdown(change: PairChange) -> str:
    head = f"**{code(change.name)}** {escape(pair_line(change))}"
    return f"{head}\n\n{fence(_shorten_lines(change.says))}" if change.says else head


def _place(where: FailurePlace) -> str:
    return (
        f"{code(where.subject)} on {escape(where.releases)} for {escape(', '.join(where.targets))}"
    )


def _shorten_lines(excerpt: str) -> str:
    return "\n".join(shorten(line, _WIDTH) for line in excerpt.splitlines())


# --- as JSON --------------------------------------------------------------------------------------


SCHEMA = 1
"""The version of the format. Within a version, keys may be added, but no key is removed or changes
its meaning.
"""


def diff_document(comparison: Comparison) -> JsonObject:
    """The comparison as JSON values."""
    old, new = comparison.only
    return {
        "schema": SCHEMA,
        "old": _side(comparison.old),
        "new": _side(comparison.new),
        "threshold": comparison.threshold,
        "compared": comparison.compared,
        "same": comparison.same,
        "counts": {str(kind): number for kind, number in comparison.counts.items()},
        "differences": [_difference_document(difference) for difference in comparison.differences],
        "metrics": [_jump_document(jump) for group in comparison.jumps for jump in group.jumps],
        "slow_suspects": [unstructure(suspect_record(suspect)) for suspect in comparison.suspects],
        "pairs": [
            {"name": pair.name, "kind": str(kind_of_pair(pair)), **unstructure(pair)}
            for pair in comparison.pairs
        ],
        "only_old": unstructure(old),
        "only_new": unstructure(new),
        "arguments": list(comparison.arguments),
        "envs": unstructure(comparison.envs),
        "successors": dict(comparison.successors),
    }


def _side(side: ReportSide) -> JsonObject:
    report = side.report
    return {
        "name": side.name,
        "version": report.version,
        "command": report.command,
        "cells": len(report.results),
    }


def _difference_document(difference: CellChange) -> JsonObject:
    spec, failure = difference.results[0].cell.spec, difference.failure
    return {
        "kind": str(difference.kind),
        "kernel": spec.kernel,
        "variant": spec.variant,
        "before": difference.before,
        "after": difference.after,
        "declared": difference.declared,
        "class": failure.failure_class if failure else None,
        "fingerprint": failure.fingerprint if failure else None,
        "says": difference.says,
        "cells": [result.cell.id for result in difference.results],
    }


def _jump_document(jump: Jump) -> JsonObject:
    return {
        "cell": jump.result.cell.id,
        "metric": jump.metric,
        "before": jump.before,
        "after": jump.after,
    }
