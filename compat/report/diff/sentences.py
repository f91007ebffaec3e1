"""What every form of a comparison says, in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from compat.history.losses import TABLE
from compat.report.compact import counted, listed
from compat.report.diff.comparing import Comparison, Difference, Kind, kind_of_pair
from compat.report.diff.metrics import Jump, JumpGroup
from compat.report.diff.pairs import PairChange
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
_INSTRUCTIONS = f"{TABLE}."
_NAMED = 10
"""Values of an axis that a sentence names."""


def headline(found: Comparison) -> str:
    """All of it in a sentence, and one more of pairs where some changed."""
    cells = _of_cells(found) if found.old.cells or found.new.cells or not found.pairs else ""
    return " ".join(filter(None, (cells, _of_pairs(found) if found.pairs else "")))


def _of_cells(found: Comparison) -> str:
    changed = [f"{number:,} {TITLES[kind]}{_declared(found.of(kind))}" for kind, number in found.counts.items()]
    if not found.compared:
        return f"The reports have no cell in common, so that nothing was compared: {listed(changed) or 'both are empty'}."
    if found.same == found.compared:
        alone = f"; besides: {listed(changed)}" if changed else ""
        return f"Nothing changed in the {counted(found.compared, 'cell')} that both reports have{alone}."
    return f"Of {counted(found.compared, 'cell')} in both reports {found.same:,} are the same; {listed(changed) or 'metrics fell'}."


def _of_pairs(found: Comparison) -> str:
    kinds = Counter(kind_of_pair(change) for change in found.pairs)
    changed = [f"{kinds[kind]:,} {TITLES[kind]}" for kind in Kind if kind in kinds]
    return f"Of the pairs with PyTorch {listed(changed)}."


def remarks(found: Comparison) -> Iterator[str]:
    """What a reader has to know of the two reports before the changes mean something."""
    if found.versions:
        old, new = found.versions
        wrote = f"version {old} of triton-compat wrote the old report, and {new} the new one"
        yield f"{wrote}: what failures are called may have changed with it"
    for side, axes in zip(("old", "new"), found.only, strict=True):
        if axes:
            yield f"only the {side} report has {listed([_values(axis, values) for axis, values in axes.items()])}"
    if found.arguments:
        yield f"the arguments or options of {listed(_some(found.arguments))} changed"
    yield from (f"the env {env.name} changed: {env.before} → {env.after}" for env in found.envs)


def title(kind: Kind, differences: Sequence[Difference]) -> str:
    """``newly broken: 3 cells (1 declared)``."""
    return f"{TITLES[kind]}: {counted(sum(len(each.results) for each in differences), 'cell')}{_declared(differences)}"


def change(difference: Difference) -> str:
    """``ok → rejected (api-removed)``."""
    after = f"{difference.after}, with a deprecation warning" if difference.kind is Kind.DEPRECATED else difference.after
    text = " → ".join(said for said in (difference.before, after) if said)
    if not difference.declared:
        return text
    exactly = difference.declaration == difference.after
    return f"{text}, as its kernel file declares" if exactly else f"{text}; its kernel file declares {difference.declaration}"


def look(difference: Difference, found: Comparison) -> str:
    """The command that shows the first of the cells."""
    side = found.old if difference.kind is Kind.DROPPED else found.new
    return explain_command(difference.results[0].cell, side.report.options)


def why(difference: Difference) -> tuple[str, str]:
    """What the compiler says of it, and the advice; nothing of a failure that is declared."""
    advice = difference.failure.advice if difference.failure and difference.says else ""
    return ("", "") if difference.declared else (difference.says, advice)


PAIRS_TITLE = "pairs of a PyTorch and a release"


def pair_line(pair: PairChange) -> str:
    """``newly broken: ok → user_kernel (kernel-dropped)``."""
    return f"{TITLES[kind_of_pair(pair)]}: {pair.before} → {pair.after}"


def jump_line(group: JumpGroup) -> str:
    """``registers: 32 → 40 (+25 %)``, and how many cells."""
    jump, cells = group.largest, len(group.jumps)
    largest = f" at most, in {counted(cells, 'cell')}" if cells > 1 else ""
    lost = "lost " if jump.metric.startswith(_INSTRUCTIONS) and not jump.after else ""
    return f"{lost}{jump.metric}: {_number(jump.before)} → {_number(jump.after)}{_percent(jump)}{largest}"


def threshold_line(found: Comparison) -> str:
    """Which numbers are told."""
    return f"metrics that changed by more than {found.threshold:g} %"


def _declared(differences: Sequence[Difference]) -> str:
    meant = sum(len(each.results) - each.gated for each in differences)
    return f" ({meant:,} declared)" if meant else ""


def _values(axis: str, values: Sequence[str]) -> str:
    """``the targets sm_80 and sm_90``, some of them where they are many."""
    return f"the {axis if len(values) > 1 else axis.removesuffix('s')} {listed(_some(values))}"


def _some(values: Sequence[str]) -> list[str]:
    more = [f"{len(values) - _NAMED:,} more"] if len(values) > _NAMED else []
    return [*values[:_NAMED], *more]


def _percent(jump: Jump) -> str:
    return "" if jump.percent is None else f" ({jump.percent:+,.0f} %)"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
