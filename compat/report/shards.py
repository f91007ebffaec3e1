"""Of which shards of a matrix a report tells, and what several of them are together. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from compat.report.compact import listed, natural
from compat.report.summary import Report


@frozen(kw_only=True)
class Share:
    """What one of several reports has of a matrix."""

    shards: tuple[str, ...]
    """As :attr:`compat.report.summary.Report.shards` has them."""
    envs: frozenset[str]
    """The names of its envs: shards of other envs are shards of another matrix. Empty of a shard that has no cell."""


def part(report: Report) -> str:
    """Of which part of all cells a report tells, in words; empty where that is not known to be only a part."""
    if not report.shards:
        return ""
    return f"{'shard' if len(report.shards) == 1 else 'shards'} {listed(report.shards)} of the cells"


def together(shares: Sequence[Share]) -> tuple[str, ...]:
    """The shards that several reports have together; none where they are whole, each M of M shards."""
    apart = [share for share in shares if len(share.shards) == 1]
    left = {shard for share in shares if len(share.shards) > 1 for shard in share.shards}
    for of, envs in dict.fromkeys((_of(share), share.envs) for share in apart if share.envs):
        numbers = {_number(share) for share in apart if _of(share) == of and share.envs in (envs, frozenset())}
        if len(numbers) < of:
            left |= {f"{number}/{of}" for number in numbers}
    if not any(share.envs for share in apart):
        counts = Counter(map(_of, apart))
        left |= {share.shards[0] for share in apart if counts[_of(share)] < _of(share)}
    return tuple(sorted(left, key=natural))


def _of(share: Share) -> int:
    return _numbers(share)[1]


def _number(share: Share) -> int:
    return _numbers(share)[0]


def _numbers(share: Share) -> tuple[int, int]:
    number, _, of = share.shards[0].partition("/")
    return int(number), int(of)
