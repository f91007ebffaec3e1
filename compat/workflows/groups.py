"""The envs of a project in a few groups, and the cells of each in shards, one for each job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from math import ceil
from typing import TypeVar

from attrs import evolve, frozen
from packaging.version import Version

from compat import toolchains
from compat.config.matrix import MatrixConfig
from compat.errors import SelectionError
from compat.model import Env

T = TypeVar("T")

JOBS = 4
"""A job needs half a minute before it compiles anything, and building an env five seconds; so not one for each env."""
FEW = 500
"""Cells up to which one job does all, where no env has a PyTorch, which takes 5 GB: more jobs would only wait longer."""
SHARD = 4_000
"""Cells of a shard: some minutes for four cores."""
SHARDS = 20
"""Shards that a group has at most."""


@frozen(kw_only=True)
class Group:
    """The envs of one job."""

    name: str
    """For the names of jobs and files."""
    envs: str
    """What ``--envs`` takes."""
    shard: str = "1/1"
    """What ``--shard`` takes."""


def jobs(config: MatrixConfig, cells: int) -> tuple[Group, ...]:
    """The jobs for so many cells: few are one job, of many each group of envs is shared by several."""
    envs = config.choose_envs()
    if cells <= FEW and not any(env.paired for env in envs):
        return groups(config, 1)
    found = groups(config)
    shards = min(SHARDS, ceil(cells / len(found) / SHARD)) or 1
    if shards == 1:
        return found
    return tuple(
        evolve(group, name=f"{group.name}-{number}", shard=f"{number}/{shards}")
        for group in found
        for number in range(1, shards + 1)
    )


def groups(config: MatrixConfig, most: int = JOBS) -> tuple[Group, ...]:
    """The envs that a run without ``--envs`` tries, in so many groups at most; together they have each of them once.

    Where these are all releases there are, groups are ranges of releases, and the last one has those that are yet to come.
    """
    envs = config.choose_envs()
    ranges = tuple(_ranges(envs, most))
    return ranges if _cover(ranges, config, envs) else tuple(_named(envs, most))


def _ranges(envs: Sequence[Env], most: int) -> Iterator[Group]:
    releases = sorted(env.release for env in envs if env.release is not None and toolchains.is_release(env))
    series = [key for key, _ in groupby(releases, key=lambda release: release.release[:2])]
    parts = _parts(series, most)
    for part, after in zip(parts, (*parts[1:], None), strict=True):
        first, last = (".".join(map(str, ends)) for ends in (part[0], part[-1]))
        low = [f">={first}"] if part is not parts[0] else []
        high = [f"<{'.'.join(map(str, after[0]))}"] if after else []
        name = f"{first}-{last}" if after else f"from-{first}"
        yield Group(name=name, envs=",".join((*low, *high)) or ">=0")


def _cover(ranges: Sequence[Group], config: MatrixConfig, envs: Sequence[Env]) -> bool:
    """Whether ranges of releases mean these envs, each once."""
    try:
        found = [env.name for group in ranges for env in config.choose_envs([group.envs])]
    except SelectionError:
        return False
    return sorted(found) == sorted(env.name for env in envs)


def _named(envs: Sequence[Env], most: int) -> Iterator[Group]:
    ordered = sorted(envs, key=lambda env: (env.release or Version("0"), env.name))
    for number, part in enumerate(_parts([env.name for env in ordered], most), 1):
        yield Group(name=part[0] if len(part) == 1 else f"envs-{number}", envs=",".join(part))


def _parts(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Neighbours in so many parts at most, of about the same size."""
    size, more = divmod(len(items), most)
    ends = [number * size + min(number, more) for number in range(most + 1)]
    return [items[start:end] for start, end in pairwise(ends) if start < end]
