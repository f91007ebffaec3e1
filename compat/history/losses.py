"""What a kernel's code has lost from one release to the next: instructions that a release made of it, and the next does not.

In: what each release built. Out: a :class:`Loss` per instruction and release. Pure. Latency is not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from compat.history.account import Entry
from compat.model import Outcome

TABLE = "code"
"""The table of metrics that has the instructions."""
WANTED = ("ldmatrix", "wgmma", "tcgen05_mma", "cp_async", "tma_loads", "fence_proxy_async")
"""Those of which fewer may mean slower or wrong code; as many of others say nothing by themselves."""


@frozen(kw_only=True)
class Loss:
    """Instructions that are in the code of one release, and in that of the next not or less than half as often."""

    instruction: str
    before: int
    after: int
    release: str
    """The first release without them."""
    since: str
    """The release before, of those that compile."""

    @property
    def words(self) -> str:
        """``lost wgmma in 3.3.0: 8 → 0``."""
        verb = "fewer" if self.after else "lost"
        return f"{verb} {self.instruction} in {self.release}: {self.before:,} → {self.after:,}"


def losses(entries: Iterable[Entry]) -> tuple[Loss, ...]:
    """What is lost along a row, oldest release first: against the release before that compiles, and has such numbers."""
    found: list[Loss] = []
    last: tuple[str, Mapping[str, int]] | None = None
    for entry in entries:
        counts = instructions(entry.outcome) if entry.outcome is not None else {}
        if not counts:
            continue
        if last is not None:
            found += _between(*last, entry.release, counts)
        last = entry.release, counts
    return tuple(found)


def _between(since: str, before: Mapping[str, int], release: str, after: Mapping[str, int]) -> Iterator[Loss]:
    for name in WANTED:
        one, other = before.get(name, 0), after.get(name, 0)
        if 2 * other < one:
            yield Loss(instruction=name, before=one, after=other, release=release, since=since)


def instructions(outcome: Outcome) -> Mapping[str, int]:
    """Instruction → how often it stands in the code of what was built; empty where nothing is told of it."""
    table = outcome.metrics.get(TABLE)
    return {name: count for name, count in table.items() if isinstance(count, int)} if isinstance(table, Mapping) else {}
