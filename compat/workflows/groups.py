"""The envs of a project in a few groups, one for each job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TypeVar

from attrs import frozen
from packaging.version import Version

from compat import toolchains
from compat.config.matrix import MatrixConfig
from compat.errors import SelectionError
from compat.model import Env

T = TypeVar("T")

JOBS = 4
"""A job needs half a minute before it compiles anything, and building an env five seconds; so not one for each env."""


@frozen(kw_only=True)
class Group:
    """The envs of one job."""

    name: str
    """For the names of jobs and files."""
    envs: str
    """What ``--envs`` takes."""


def groups(config: MatrixConfig) -> tuple[Group, ...]:
    """The envs that a run without ``--envs`` tries, in at most :data:`JOBS` groups; together they have each of them once.

    Where these are all releases there are, groups are ranges of releases, and the last one has those that are yet to come.
    """
    envs = config.choose_envs()
    ranges = tuple(_ranges(envs))
    return ranges if _cover(ranges, config, envs) else tuple(_named(envs))


def _ranges(envs: Sequence[Env]) -> Iterator[Group]:
    releases = sorted(env.release for env in envs if env.release is not None and toolchains.is_release(env))
    series = [key for key, _ in groupby(releases, key=lambda release: release.release[:2])]
    parts = _parts(series)
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


def _named(envs: Sequence[Env]) -> Iterator[Group]:
    ordered = sorted(envs, key=lambda env: (env.release or Version("0"), env.name))
    for number, part in enumerate(_parts([env.name for env in ordered]), 1):
        yield Group(name=part[0] if len(part) == 1 else f"envs-{number}", envs=",".join(part))


def _parts(items: Sequence[T]) -> list[Sequence[T]]:
    """Neighbours in at most :data:`JOBS` parts of about the same size."""
    size, more = divmod(len(items), JOBS)
    ends = [number * size + min(number, more) for number in range(JOBS + 1)]
    return [items[start:end] for start, end in pairwise(ends) if start < end]
