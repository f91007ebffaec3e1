"""What an account rests on, in words that every report shares: what was tested, and what lies between the ends of a change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from compat.history.account import Account, Bracket, Interval
from compat.report.compact import spans


def tested(releases: Sequence[str], line: Sequence[str]) -> str:
    """``3.0.0 to 3.9.0`` where these are all of the releases in ``line`` from first to last, else ``3.0.0–3.1.0, 3.5.1``."""
    if len(releases) == 1:
        return releases[0]
    whole = line[line.index(releases[0]) : line.index(releases[-1]) + 1]
    return f"{releases[0]} to {releases[-1]}" if tuple(whole) == tuple(releases) else spans(releases, line)


def open_between(account: Account, bracket: Bracket) -> str:
    """What is not known between the two ends of a change; empty where they are neighbours."""
    return unknown(account, bracket.between)


def unknown(account: Account, releases: Collection[str]) -> str:
    """``not tested: 3.2.0–3.5.0; inconclusive: 3.6.0``: why nothing is said of these releases; empty for none."""
    not_tried = [release for release in account.not_tried if release in releases]
    unsure = [release for release in (*account.untested, *account.flaky) if release in releases]
    said = [f"not tested: {spans(not_tried, account.line)}"] if not_tried else []
    said += [f"inconclusive: {spans(unsure, account.line)}"] if unsure else []
    return "; ".join(said)


def in_full(account: Account) -> Iterator[str]:
    """The account line by line: the phrase, what happened when, and what is not known."""
    yield account.phrase
    yield from (f"{_from_to(each)} {each.failure_class or each.status}" for each in account.intervals)
    if open_ := unknown(account, account.line):
        yield open_


def _from_to(interval: Interval) -> str:
    return interval.first if interval.first == interval.last else f"{interval.first}–{interval.last}"


def earlier_runs(account: Account) -> str:
    """``tested in earlier runs: 3.2.0–3.8.0``: where knowledge comes from that this run did not gain; empty for none."""
    return f"tested in earlier runs: {spans(account.remembered, account.line)}" if account.remembered else ""
