"""Runs: neighbouring releases of which the same is known. Releases of which nothing is known belong to none, and end one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from attrs import frozen

T = TypeVar("T")


@frozen(kw_only=True)
class Run(Generic[T]):
    """Neighbouring releases, ends included, that are alike."""

    releases: tuple[str, ...]
    value: T

    @property
    def first(self) -> str:
        """The oldest of them."""
        return self.releases[0]

    @property
    def last(self) -> str:
        """The newest of them."""
        return self.releases[-1]


def runs(line: Iterable[tuple[str, T | None]]) -> tuple[Run[T], ...]:
    """The runs of releases in their order, each with what is known of it; ``None`` where nothing is."""
    found: list[tuple[T | None, list[str]]] = []
    for release, value in line:
        if found and found[-1][0] == value:
            found[-1][1].append(release)
        else:
            found.append((value, [release]))
    return tuple(Run(releases=tuple(releases), value=value) for value, releases in found if value is not None)
