"""The cells, their division into shards and batches, and the forecast of their time.

The module touches no file and no process.
"""

from __future__ import annotations

import hashlib
import re
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import ceil
from typing import Self

from attrs import define, field, frozen
from packaging.version import Version

from compat import toolchains
from compat.errors import SelectionError
from compat.executors.executor import Executor
from compat.model import Cell, Env, Specialization, Target
from compat.text import group_by_key
from compat.workers.attempt import isolation

BATCH_LIMIT = 32
"""The most cells that a child process compiles. Then a fresh child takes over."""
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
    """Return the cells in the order in which their outcomes are most informative.

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
    """Number of cells."""
    batches: Iterator[tuple[int, ...]]
    """Positions of the cells of each batch, made on demand. One process may compile them all
    (:func:`isolation`).
    """


def batches(cells: Sequence[Cell], positions: Iterable[int], slots: int) -> dict[str, EnvBatches]:
    """Return env → the batches of its cells among those at ``positions``.

    Envs are in the order of the cells. An env's cells are split over all ``slots`` even when they
    are few, because a run often has only one env.
    """
    envs: dict[str, array[int]] = {}
    for position in positions:
        envs.setdefault(cells[position].env.name, array("L")).append(position)
    return {
        name: EnvBatches(len(some), _split_cells(cells, some, ceil(len(some) / slots)))
        for name, some in envs.items()
    }


def _split_cells(
    cells: Sequence[Cell], positions: Sequence[int], most: int
) -> Iterator[tuple[int, ...]]:
    groups = group_by_key((isolation(cells[position]), position) for position in positions)
    size = min(BATCH_LIMIT, most)
    for group in groups.values():
        yield from (group[start : start + size] for start in range(0, len(group), size))


class BatchQueue:
    """A queue of batches in the order of their envs. The executor releases each finished env."""

    def __init__(self, batches: Mapping[str, EnvBatches], executor: Executor) -> None:
        """``batches`` maps the name of an env to its batches."""
        self._executor = executor
        self._waiting = chain.from_iterable(env.batches for env in batches.values())
        self._unfinished = {name: env.cells for name, env in batches.items()}
        self._lock = threading.Lock()

    def take(self) -> Sequence[int] | None:
        """The next batch, as positions of cells; ``None`` if all are taken."""
        with self._lock:
            return next(self._waiting, None)

    def finish_cells(self, env: str, cells: int) -> None:
        """Count ``cells`` of an env as finished, and release the env after its last cell."""
        with self._lock:
            self._unfinished[env] -= cells
            last = self._unfinished[env] == 0
        if last:
            self._executor.release(env)


# --- shards ---------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Shard:
    """One of several parts of a matrix; the first has the number 1.

    All cells of a variant and case are in one shard, for all envs and targets. So one shard has all
    releases that a conclusion needs, and one shard interprets the kernel. The shard depends only on
    the names of kernel, variant and case, not on other cells, their order or a path. So new cells
    move no other cell to another shard.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shard for a text such as ``3/8``. Raises SelectionError if it is invalid."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip(), re.ASCII)
        number, of = map(int, match.groups()) if match else (0, 0)
        if not 1 <= number <= of <= MOST_SHARDS:
            hint = f"Write the third of eight shards as 3/8. There can be at most {MOST_SHARDS:,}."
            raise SelectionError(f"invalid shard {text!r}", where="--shard", hint=hint)
        return cls(number=number, of=of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, spec: Specialization) -> bool:
        """Whether the cells of a specialization belong to this shard."""
        return self._has(spec.id)

    def has_pair(self, env: Env) -> bool:
        """Whether this shard tries an env as a pair of a PyTorch release and a Triton release."""
        return self._has(f"pair/{env.name}")

    def _has(self, name: str) -> bool:
        digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


# --- the time that it will take -------------------------------------------------------------------


@define
class Durations:
    """Mean durations of cells, by the parts of their ids. Later edits of a kernel do not matter.

    With ``many`` cells, only the durations of variants are kept.
    """

    many: bool = False
    _sums: dict[str, tuple[float, int]] = field(factory=dict, init=False)

    def add(self, cell_id: str, seconds: float) -> None:
        """Add the duration of a cell, in seconds."""
        for key in self._keys(cell_id):
            total, count = self._sums.get(key, (0.0, 0))
            self._sums[key] = (total + seconds, count + 1)

    def of(self, cell_id: str) -> float | None:
        """Return the mean seconds of the most similar cells; ``None`` if none are known."""
        for key in self._keys(cell_id):
            if key in self._sums:
                total, count = self._sums[key]
                return total / count
        return None

    def _keys(self, cell_id: str) -> tuple[str, ...]:
        return _similar_cells(cell_id)[2 if self.many else 0 :]


@frozen(kw_only=True)
class Forecast:
    """The expected time of cells."""

    seconds: float | None
    """Seconds until all are compiled; ``None`` if too few durations are known."""
    durations: Durations
    """The durations of earlier cells."""


def forecast(
    ids: Iterable[str], earlier: Iterable[tuple[str, float]], slots: int, count: int
) -> Forecast:
    """Return the expected time in which ``slots`` compile ``count`` cells with these ids.

    ``earlier`` has the id and the seconds of earlier results.
    """
    durations = Durations(many=count > _MANY)
    for cell_id, seconds in earlier:
        durations.add(cell_id, seconds)
    estimates = map(durations.of, ids)
    estimated = [estimate for estimate in estimates if estimate is not None]
    if not estimated or len(estimated) < _ENOUGH * count:
        return Forecast(seconds=None, durations=durations)
    return Forecast(
        seconds=max(sum(estimated) / len(estimated) * count / slots, *estimated),
        durations=durations,
    )


@define
class RemainingWork:
    """The cells that a run still has to compile, and the durations of similar cells."""

    _pending: Counter[str] = field(factory=Counter, init=False)
    """Specialization and target (:func:`_any_env_key`) → the number of pending cells."""
    _compiled: dict[str, tuple[float, int]] = field(factory=dict, init=False)
    """Specialization and target → seconds and number of the cells that this run compiled."""
    _earlier: Durations = field(factory=Durations, init=False)

    def expect(self, ids: Iterable[str], earlier: Durations) -> None:
        """Add pending cells with these ids, and replace the ``earlier`` durations."""
        self._pending.update(map(_any_env_key, ids))
        self._earlier = earlier

    def note(self, cell_id: str, seconds: float) -> None:
        """Add a compiled cell and its seconds."""
        key = _any_env_key(cell_id)
        total, count = self._compiled.get(key, (0.0, 0))
        self._compiled[key] = (total + seconds, count + 1)
        if self._pending[key] > 0:
            self._pending[key] -= 1

    def weight(self, elapsed: float) -> float:
        """The mean expected time of a pending cell, relative to the mean of the compiled cells.

        A cell is expected to take as long as the same specialization and target in other envs, in
        this run or earlier. Without such a duration it counts as an average cell. The time that a
        cell takes besides its compile, such as its part of a worker's start, does not grow with the
        compile. The weight is 1.0 if no cell is pending or compiled.

        Args:
            elapsed: Seconds since the first compile began. Compiles may overlap.
        """
        pending = {key: count for key, count in self._pending.items() if count}
        compiled = sum(count for _, count in self._compiled.values())
        if not pending or not compiled or elapsed <= 0:
            return 1.0
        seconds = sum(total for total, _ in self._compiled.values())
        average = seconds / compiled
        expected = sum(
            count * self._estimate_seconds(key, average) for key, count in pending.items()
        ) / sum(pending.values())
        return 1.0 + (expected - average) * compiled / max(elapsed, seconds)

    def _estimate_seconds(self, key: str, average: float) -> float:
        if key in self._compiled:
            total, count = self._compiled[key]
            return total / count
        earlier = self._earlier.of(key)
        return average if earlier is None else earlier


def _any_env_key(cell_id: str) -> str:
    """Return the id of a cell with ``*`` for its env, so with only specialization and target."""
    return f"{cell_id.rpartition('/')[0]}/*"


def _similar_cells(cell_id: str) -> tuple[str, ...]:
    """Return the keys of similar cells, the most similar first.

    They are for the cell itself, its specialization and target in any env, its variant in that env,
    and its variant.
    """
    kernel, _, rest = cell_id.partition("/")
    variant, env = rest.partition("/")[0], cell_id.rpartition("/")[2]
    return cell_id, _any_env_key(cell_id), f"{kernel}/{variant}/*/{env}", f"{kernel}/{variant}/*"
