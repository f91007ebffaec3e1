"""About how long cells will take, by how long those like them took before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from compat.execution.store import Store
from compat.model import Cell

_ENOUGH = 0.5
"""The share of the cells that something has to be known of."""


def about(cells: Sequence[Cell], store: Store, slots: int) -> float | None:
    """Seconds until so many ``slots`` have compiled these cells; ``None`` where too little is known to say.

    A cell takes as long as it took before, whatever has been edited since; else as its variant does in that env, or in others.
    """
    return estimate([cell.id for cell in cells], store.seconds({cell.spec.kernel for cell in cells}), slots)


def estimate(ids: Sequence[str], before: Mapping[str, Sequence[float]], slots: int) -> float | None:
    """The same of ids of cells, and of the seconds that each id took before."""
    if not ids:
        return None
    known = _means(before)
    found = [next((known[words] for words in _likenesses(each) if words in known), None) for each in ids]
    told = [seconds for seconds in found if seconds is not None]
    if len(told) < _ENOUGH * len(ids):
        return None
    return max(sum(told) / len(told) * len(ids) / slots, max(told))


def _means(before: Mapping[str, Iterable[float]]) -> dict[str, float]:
    sums: dict[str, tuple[float, int]] = {}
    for each, took in before.items():
        together, times = 0.0, 0
        for seconds in took:
            together, times = together + seconds, times + 1
        for words in _likenesses(each):
            known = sums.get(words, (0.0, 0))
            sums[words] = (known[0] + together, known[1] + times)
    return {words: together / times for words, (together, times) in sums.items() if times}


def _likenesses(cell_id: str) -> tuple[str, ...]:
    """What a cell has in common with others, the most telling first: its id, its variant in that env, its variant."""
    kernel, _, rest = cell_id.partition("/")
    variant, env = rest.partition("/")[0], cell_id.rpartition("/")[2]
    return cell_id, f"{kernel}/{variant}/*/{env}", f"{kernel}/{variant}/*"
