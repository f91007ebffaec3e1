"""Which cells there are, and how they are shared out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from compat import toolchains
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
        if spec.is_for(target) and toolchains.go_together(env, target, spec)
    )


def batches(cells: Iterable[Cell], slots: int) -> list[tuple[Cell, ...]]:
    """Cells in batches of one env, one source and one target each: what may be compiled in one process.

    Envs keep their order. An env's cells are split over all ``slots`` even when they are few, since one env is often all there is
    to do.
    """
    envs: dict[str, dict[tuple[object, ...], list[Cell]]] = {}
    for cell in cells:
        envs.setdefault(cell.env.name, {}).setdefault((cell.spec.source, cell.spec.roots, cell.target.name), []).append(cell)
    shared_out: list[tuple[Cell, ...]] = []
    for groups in envs.values():
        size = min(BATCH_LIMIT, ceil(sum(map(len, groups.values())) / slots))
        shared_out += [tuple(group[start : start + size]) for group in groups.values() for start in range(0, len(group), size)]
    return shared_out
