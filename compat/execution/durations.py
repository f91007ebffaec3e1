"""About how long cells will take, by how long those like them took before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from compat.execution.store import Store
from compat.model import Cell

_ENOUGH = 0.5
"""The share of the cells that something has to be known of."""
_MANY = 20_000
"""Cells of which more are not looked at one by one: what each of them took before would take as much memory as its result."""


def about(cells: Sequence[Cell], store: Store, slots: int) -> float | None:
    """Seconds until so many ``slots`` have compiled these cells; ``None`` where too little is known to say.

    A cell takes as long as it took before, whatever has been edited since; else as its variant does in that env, or in others.
    Of many cells it is the variants alone that are looked at.
    """
    return estimate((cell.id for cell in cells), store.seconds({cell.spec.kernel for cell in cells}), slots, len(cells))


def estimate(ids: Iterable[str], before: Iterable[tuple[str, float]], slots: int, count: int) -> float | None:
    """The same of the ids of so many cells, and of what results of them took before: id and seconds."""
    likenesses = _likenesses if count <= _MANY else _likenesses_of_variant
    known = _means(before, likenesses)
    found = (next((known[words] for words in likenesses(each) if words in known), None) for each in ids)
    told = [seconds for seconds in found if seconds is not None]
    if not told or len(told) < _ENOUGH * count:
        return None
    return max(sum(told) / len(told) * count / slots, max(told))


def _means(before: Iterable[tuple[str, float]], likenesses: Callable[[str], tuple[str, ...]]) -> dict[str, float]:
    sums: dict[str, tuple[float, int]] = {}
    for each, seconds in before:
        for words in likenesses(each):
            together, times = sums.get(words, (0.0, 0))
            sums[words] = (together + seconds, times + 1)
    return {words: together / times for words, (together, times) in sums.items()}


def _likenesses(cell_id: str) -> tuple[str, ...]:
    """What a cell has in common with others, the most telling first: its id, its variant in that env, its variant."""
    kernel, _, rest = cell_id.partition("/")
    variant, env = rest.partition("/")[0], cell_id.rpartition("/")[2]
    return cell_id, f"{kernel}/{variant}/*/{env}", f"{kernel}/{variant}/*"


def _likenesses_of_variant(cell_id: str) -> tuple[str, ...]:
    return _likenesses(cell_id)[1:]
