"""What every form of a comparison says, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator

from compat.report.compact import Where, counted, listed
from compat.report.diff.comparing import Comparison, Difference, Kind
from compat.report.diff.metrics import Jump, JumpGroup
from compat.report.repeat import explain_command

TITLES = {
    Kind.BROKEN: "newly broken",
    Kind.CHANGED: "failing differently",
    Kind.INCONCLUSIVE: "without an answer now",
    Kind.DEPRECATED: "newly deprecated",
    Kind.METRIC: "with a metric that rose",
    Kind.FIXED: "newly fixed",
    Kind.ANSWERED: "answered now",
    Kind.DROPPED: "not tested any more",
    Kind.ADDED: "newly tested",
}
"""What is said of the cells of each kind."""


def headline(found: Comparison) -> str:
    """All of it in a sentence."""
    changed = [f"{number:,} {TITLES[kind]}" for kind, number in found.counts.items()]
    if not found.compared:
        return f"The reports have no cell in common, so that nothing was compared: {listed(changed) or 'both are empty'}."
    if found.same == found.compared:
        alone = f"; besides: {listed(changed)}" if changed else ""
        return f"Nothing changed in the {counted(found.compared, 'cell')} that both reports have{alone}."
    return f"Of {counted(found.compared, 'cell')} in both reports {found.same:,} are the same; {listed(changed) or 'metrics fell'}."


def remarks(found: Comparison) -> Iterator[str]:
    """What a reader has to know of the two reports before the changes mean something."""
    if found.versions:
        old, new = found.versions
        wrote = f"version {old} of triton-compat wrote the old report, and {new} the new one"
        yield f"{wrote}: what failures are called may have changed with it"
    for side, axes in zip(("old", "new"), found.only, strict=True):
        if axes:
            yield f"only the {side} report has {listed([f'the {axis} {listed(values)}' for axis, values in axes.items()])}"
    yield from (f"the env {env.name} changed: {env.before} → {env.after}" for env in found.envs)


def title(kind: Kind, differences: tuple[Difference, ...]) -> str:
    """``newly broken: 3 cells``, and how many of them are declared."""
    cells = sum(len(each.results) for each in differences)
    meant = sum(len(each.results) - each.gated for each in differences)
    return f"{TITLES[kind]}: {counted(cells, 'cell')}" + (f", {meant:,} of them declared" if meant else "")


def change(difference: Difference) -> str:
    """``ok → rejected (api-removed)``."""
    declared = ", as its kernel file declares" if difference.declared else ""
    return " → ".join(said for said in (difference.before, difference.after) if said) + declared


def place(where: Where) -> str:
    """``kernel/variant: 3.8.0, sm_90``."""
    return str(where)


def look(difference: Difference, found: Comparison) -> str:
    """The command that shows the first of the cells."""
    side = found.old if difference.kind is Kind.DROPPED else found.new
    return explain_command(difference.results[0].cell, side.report.options)


def tells_why(difference: Difference) -> bool:
    """Whether the failure is worth its words here: it is there now, and nobody has declared it."""
    known = difference.declared or difference.kind in (Kind.FIXED, Kind.DROPPED)
    return difference.failure is not None and not known


def jump_line(group: JumpGroup) -> str:
    """``registers: 32 → 40 (+25 %)``, and how many cells."""
    jump, cells = group.largest, len(group.jumps)
    largest = f" at most, in {counted(cells, 'cell')}" if cells > 1 else ""
    return f"{jump.metric}: {_number(jump.before)} → {_number(jump.after)}{_percent(jump)}{largest}"


def threshold_line(found: Comparison) -> str:
    """Which numbers are told."""
    return f"metrics that changed by more than {found.threshold:g} %"


def _percent(jump: Jump) -> str:
    return "" if jump.percent is None else f" ({jump.percent:+,.0f} %)"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
