"""Which cells there are, and how they are shared out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import ceil

from compat.model import Cell, Env, Specialization, Target

BATCH_LIMIT = 32
"""Cells a child compiles at most before a fresh one takes over; bounds what one neighbour can do to others."""


def cross(envs: Iterable[Env], targets: Sequence[Target], specs: Sequence[Specialization]) -> tuple[Cell, ...]:
    """Every Env × Target × Specialization, env by env and within it kernel by kernel, so that neighbours share what is loaded."""
    return tuple(Cell(env=env, target=target, spec=spec) for env in envs for spec in specs for target in targets)


def batches(cells: Iterable[Cell], slots: int) -> list[tuple[Cell, ...]]:
    """Cells in batches of one env each, kept in order.

    An env's cells are split over all ``slots`` even when they are few, since one env is often all there is to do.
    """
    shared_out: list[tuple[Cell, ...]] = []
    for _, group in groupby(cells, key=lambda cell: cell.env.name):
        of_env = tuple(group)
        size = min(BATCH_LIMIT, ceil(len(of_env) / slots))
        shared_out += [of_env[start : start + size] for start in range(0, len(of_env), size)]
    return shared_out
