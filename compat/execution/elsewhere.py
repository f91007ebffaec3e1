"""Artifacts that stayed on the machines of workers: what is known of them, and which of them are not to be had."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import frozen


@frozen(kw_only=True)
class Elsewhere:
    """An artifact that a worker's machine has, which this one perhaps has not."""

    name: str
    """As evidence calls it."""
    digest: str
    """SHA-256 over it, in hexadecimal digits."""
    size: int
    """Bytes."""
    host: str = ""
    """The machine, as the scheduler calls it."""
    scheduler: str = ""
    """The address of the cluster's scheduler."""


@frozen(kw_only=True)
class Lacking:
    """An artifact that stayed on a worker's machine and is not to be had now."""

    known: Elsewhere
    why: str
    asked: bool = True
    """Whether it was tried to get it."""

    @property
    def words(self) -> str:
        """Where it is, or was, and why it is not here."""
        return f"left on {self.known.host}, a worker's machine of {self.known.scheduler}: {self.why}"


def lacking_words(lacking: Iterable[Lacking]) -> str:
    """What is not to be had, in a line: those that are missing for one reason together."""
    names: dict[str, list[str]] = {}
    for each in lacking:
        names.setdefault(each.words, []).append(f"{each.known.name} ({each.known.size:,} bytes)")
    return "; ".join(f"{', '.join(some)}, {words}" for words, some in names.items())


Fetched = tuple[Elsewhere, bytes | Lacking]
Fetch = Callable[[Sequence[Elsewhere]], Iterator[Fetched]]
"""Gives each artifact of some, by its name once, wherever it is found; or why it is not. Of one there may be several records."""
