"""The cells, their division into shards and batches, and the time that they will take.

The module acts on nothing.
"""

from __future__ import annotations

import hashlib
import re
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import ceil
from typing import Self

from attrs import define, frozen
from packaging.version import Version

from compat import toolchains
from compat.errors import SelectionError
from compat.executors.executor import Executor
from compat.model import Cell, Env, Specialization, Target
from compat.workers.attempt import isolation

BATCH_LIMIT = 32
"""Cells a child compiles at most before a fresh one takes over."""
MOST_SHARDS = 10_000
_ENOUGH = 0.5
"""The part of the cells with known durations that is enough to estimate the whole run."""
_MANY = 20_000
"""The number of cells above which an estimate uses the durations of variants, because those of
single cells would take as much memory as the results.
"""


def cross(
    envs: Iterable[Env], targets: Sequence[Target], specs: Sequence[Specialization]
) -> tuple[Cell, ...]:
    """Return every combination of env, target and specialization that go together.

    Neighbouring cells share an environment and then a kernel, so that a worker loads each once.

    Args:
        envs: A specialization goes with the environments of its toolchain.
        targets: A toolchain goes with its own targets.
        specs: Kernels with variants and cases.
    """
    return tuple(
        cell for env in envs for spec in specs for cell in toolchains.cells(env, spec, targets)
    )


def order_of(
    envs: Sequence[Env], targets: Sequence[Target], specs: Sequence[Specialization]
) -> Callable[[Cell], int]:
    """A key that sorts cells as :func:`cross` orders them."""
    env_place = {env: place for place, env in enumerate(envs)}
    spec_place = {spec: place for place, spec in enumerate(specs)}
    target_place = {(target.toolchain, target.name): place for place, target in enumerate(targets)}

    def place(cell: Cell) -> int:
        target = target_place[cell.target.toolchain, cell.target.name]
        return (env_place[cell.env] * len(specs) + spec_place[cell.spec]) * len(targets) + target

    return place


def newest_first(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Cells in the order in which their answers tell most.

    The newest release comes first, then the oldest, then from the newest on down. Cells of one
    release keep their order, and those without a release come last.
    """
    ordered = tuple(cells)
    places: dict[str, dict[Version, int]] = {}
    for toolchain in {cell.env.toolchain for cell in ordered}:
        line = sorted(
            {
                cell.env.release
                for cell in ordered
                if cell.env.toolchain == toolchain and cell.env.release
            },
            reverse=True,
        )
        order = dict.fromkeys([*line[:1], *line[-1:], *line])
        places[toolchain] = {release: place for place, release in enumerate(order)}

    def place(cell: Cell) -> int:
        release, line = cell.env.release, places[cell.env.toolchain]
        return len(line) if release is None else line[release]

    return tuple(sorted(ordered, key=place))


@define
class EnvBatches:
    """The batches to compile in one env."""

    cells: int
    """How many."""
    batches: Iterator[tuple[int, ...]]
    """Positions of cells that may be compiled in one process (:func:`isolation`), made on demand.
    """


def batches(cells: Sequence[Cell], positions: Iterable[int], slots: int) -> dict[str, EnvBatches]:
    """Env → the cells at these positions that are compiled there, in batches.

    Envs are in the order of the cells. An env's cells are split over all ``slots`` even when they
    are few, because one env is often all there is to do.
    """
    envs: dict[str, array[int]] = {}
    for position in positions:
        envs.setdefault(cells[position].env.name, array("L")).append(position)
    return {
        name: EnvBatches(len(some), _batched(cells, some, ceil(len(some) / slots)))
        for name, some in envs.items()
    }


def _batched(
    cells: Sequence[Cell], positions: Sequence[int], most: int
) -> Iterator[tuple[int, ...]]:
    groups: dict[tuple[object, ...], list[int]] = {}
    for position in positions:
        groups.setdefault(isolation(cells[position]), []).append(position)
    size = min(BATCH_LIMIT, most)
    for group in groups.values():
        yield from (tuple(group[start : start + size]) for start in range(0, len(group), size))


class BatchQueue:
    """Batches by env, in their order; the executor hears when an env has none any more."""

    def __init__(self, batches: Mapping[str, EnvBatches], executor: Executor) -> None:
        """``batches`` are by the name of an env."""
        self._executor = executor
        self._waiting = chain.from_iterable(env.batches for env in batches.values())
        self._unfinished = {name: env.cells for name, env in batches.items()}
        self._lock = threading.Lock()

    def take(self) -> Sequence[int] | None:
        """The next batch, as positions of cells; ``None`` if all are taken."""
        with self._lock:
            return next(self._waiting, None)

    def done(self, env: str, cells: int) -> None:
        """So many cells of an env are finished, of those that were taken."""
        with self._lock:
            self._unfinished[env] -= cells
            last = self._unfinished[env] == 0
        if last:
            self._executor.release(env)


# --- shards ---------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Shard:
    """One of several runs that share a matrix; the first has the number 1.

    A kernel in one variant and case stays together, on all envs and for all targets: conclusions
    from several releases are drawn in one shard, and a kernel is interpreted in one. Its shard
    depends on its name alone, neither on other cells, their order nor any path, so that adding
    cells moves no other.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard that ``3/8`` means. Raises SelectionError."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip(), re.ASCII)
        number, of = map(int, match.groups()) if match else (0, 0)
        if not 1 <= number <= of <= MOST_SHARDS:
            hint = f"Write the third of eight shards as 3/8. There can be at most {MOST_SHARDS:,}."
            raise SelectionError(f"invalid shard {text!r}", where="--shard", hint=hint)
        return cls(number=number, of=of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, spec: Specialization) -> bool:
        """Whether the cells of a kernel in one variant and case belong to it."""
        return self._has(f"{spec.kernel}/{spec.variant}/{spec.case}")

    def has_pair(self, env: Env) -> bool:
        """Whether it is the one that tries an env as a pair of a PyTorch and a release."""
        return self._has(f"pair/{env.name}")

    def _has(self, name: str) -> bool:
        digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


# --- how long it will take ------------------------------------------------------------------------


def expected_seconds(
    ids: Iterable[str], earlier: Iterable[tuple[str, float]], slots: int, count: int
) -> float | None:
    """Seconds until so many ``slots`` have compiled ``count`` cells of these ids.

    ``earlier`` has the id and the seconds of earlier results. A cell takes as long as it took
    before, whatever has been edited since. Otherwise it takes as long as its variant does in that
    env, or in others. For many cells only the variants count. The answer is ``None`` if too little
    is known.
    """
    keys_of = _similar_cells if count <= _MANY else _similar_variants
    means = _means(earlier, keys_of)
    estimates = (
        next((means[key] for key in keys_of(cell_id) if key in means), None) for cell_id in ids
    )
    estimated = [seconds for seconds in estimates if seconds is not None]
    if not estimated or len(estimated) < _ENOUGH * count:
        return None
    return max(sum(estimated) / len(estimated) * count / slots, *estimated)


def _means(
    earlier: Iterable[tuple[str, float]], keys_of: Callable[[str], tuple[str, ...]]
) -> dict[str, float]:
    sums: dict[str, tuple[float, int]] = {}
    for cell_id, seconds in earlier:
        for key in keys_of(cell_id):
            total, count = sums.get(key, (0.0, 0))
            sums[key] = (total + seconds, count + 1)
    return {key: total / count for key, (total, count) in sums.items()}


def _similar_cells(cell_id: str) -> tuple[str, ...]:
    """The things that a cell shares with others: its id, its variant in that env, its variant.

    The most telling comes first.
    """
    kernel, _, rest = cell_id.partition("/")
    variant, env = rest.partition("/")[0], cell_id.rpartition("/")[2]
    return cell_id, f"{kernel}/{variant}/*/{env}", f"{kernel}/{variant}/*"


def _similar_variants(cell_id: str) -> tuple[str, ...]:
    return _similar_cells(cell_id)[1:]
