"""Which cells there are, and how they are shared out. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil

from attrs import define
from packaging.version import Version

from compat import toolchains
from compat.execution.flight import isolation
from compat.model import Cell, Env, Specialization, Target

BATCH_LIMIT = 32
"""Cells a child compiles at most before a fresh one takes over."""


def cross(envs: Iterable[Env], targets: Sequence[Target], specs: Sequence[Specialization]) -> tuple[Cell, ...]:
    """Every Env × Target × Specialization that go together; env by env, kernel by kernel: neighbours share what is loaded.

    A kernel is for one toolchain, and a toolchain for some targets.
    """
    return tuple(
        Cell(env=env, target=target, spec=spec)
        for env in envs
        for spec in specs
        for target in targets
        if toolchains.go_together(env, target, spec)
    )


def order_of(envs: Sequence[Env], targets: Sequence[Target], specs: Sequence[Specialization]) -> Callable[[Cell], int]:
    """A key that sorts cells as :func:`cross` orders them."""
    env = {each: place for place, each in enumerate(envs)}
    spec = {each: place for place, each in enumerate(specs)}
    target = {each: place for place, each in enumerate(targets)}
    return lambda cell: (env[cell.env] * len(specs) + spec[cell.spec]) * len(targets) + target[cell.target]


def newest_first(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Cells in the order in which their answers tell most: of the newest release, of the oldest, then from the newest on down.

    Those of one release keep their order; what has no release comes last.
    """
    found = tuple(cells)
    places: dict[str, dict[Version, int]] = {}
    for toolchain in {cell.env.toolchain for cell in found}:
        line = sorted({cell.env.release for cell in found if cell.env.toolchain == toolchain and cell.env.release}, reverse=True)
        order = dict.fromkeys([*line[:1], *line[-1:], *line])
        places[toolchain] = {release: place for place, release in enumerate(order)}

    def place(cell: Cell) -> int:
        release, line = cell.env.release, places[cell.env.toolchain]
        return len(line) if release is None else line[release]

    return tuple(sorted(found, key=place))


@define
class Share:
    """What has to be compiled in one env."""

    cells: int
    """How many."""
    batches: Iterator[tuple[int, ...]]
    """Positions of cells each that may be compiled in one process (:func:`isolation`). Made as they are taken."""


def batches(cells: Sequence[Cell], positions: Iterable[int], slots: int) -> dict[str, Share]:
    """Env → the cells at these positions that are compiled there, in batches; envs in the order of the cells.

    An env's cells are split over all ``slots`` even when they are few, since one env is often all there is to do.
    """
    envs: dict[str, array[int]] = {}
    for position in positions:
        envs.setdefault(cells[position].env.name, array("L")).append(position)
    return {name: Share(len(those), _batched(cells, those, ceil(len(those) / slots))) for name, those in envs.items()}


def _batched(cells: Sequence[Cell], positions: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    groups: dict[tuple[object, ...], list[int]] = {}
    for position in positions:
        groups.setdefault(isolation(cells[position]), []).append(position)
    size = min(BATCH_LIMIT, most)
    for group in groups.values():
        yield from (tuple(group[start : start + size]) for start in range(0, len(group), size))
