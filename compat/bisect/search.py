"""A search for changes in a sequence. Pure.

It knows positions and a judge, but no releases, envs or cells. A judge gives one of three answers:
good, bad, or inconclusive. Inconclusive positions are skipped. Both ends are judged before the
search. A change is between two judged positions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from compat.history.account import Judgement


@frozen(kw_only=True)
class History:
    """The results of a search."""

    judgements: Mapping[int, Judgement]
    """Every position that was judged, in order."""
    assumed_spans: tuple[tuple[int, int], ...] = ()
    """Spans, ends included, that were not judged and are assumed to be like both of their judged
    neighbours.
    """


Ask = Callable[[Sequence[int]], Mapping[int, Judgement]]
"""Judges several positions at once, so that it may do so in parallel."""


def probe_all(count: int, judge: Ask) -> History:
    """Judge every one of ``count`` positions."""
    return _history(judge(range(count)) if count else {})


def search(
    count: int, judge: Ask, *, good: int | None = None, bad: int | None = None, width: int = 1
) -> History:
    """Find one change between a good and a bad position, judging ``width`` positions at a time.

    If ``good`` or ``bad`` is not given, the search looks for it. It judges the far end first, which
    shows whether there is a change. Then it goes from the given (or newest) position outwards in
    doubling steps, which finds the nearest change. If both are given and one is judged differently,
    or if nothing changes, the history shows that. A history that is not monotonic yields a real
    change, but perhaps not the only one. Positions that were not judged are in ``assumed_spans``.
    """
    search = PositionSearch(count, judge)
    ends = (good, bad)
    if good is None or bad is None:
        anchor = next((end for end in ends if end is not None), count - 1)
        ends = search.outwards(anchor)
    else:
        search.ask([good, bad])
    low, high = sorted(end for end in ends if end is not None) if None not in ends else (0, 0)
    if search.differ(low, high):
        search.narrow(low, high, width)
    return _history(search.judged)


class PositionSearch:
    """Judges positions, and remembers the judgements."""

    def __init__(self, count: int, judge: Ask) -> None:
        self.count, self._judge = count, judge
        self.judged: dict[int, Judgement] = {}

    def ask(self, positions: Iterable[int]) -> None:
        """Judge the positions that are not judged yet."""
        new = [position for position in dict.fromkeys(positions) if position not in self.judged]
        if new:
            self.judged.update(self._judge(new))

    def is_judged(self, position: int) -> bool:
        """Whether a position was judged good or bad."""
        return self.judged.get(position, Judgement.UNKNOWN) is not Judgement.UNKNOWN

    def differ(self, one: int, other: int) -> bool:
        """Whether both positions were judged good or bad, and not the same."""
        return (
            self.is_judged(one)
            and self.is_judged(other)
            and self.judged[one] is not self.judged[other]
        )

    def outwards(self, anchor: int) -> tuple[int | None, int | None]:
        """A conclusive position at or near ``anchor``, and the nearest found one that differs.

        The search goes outwards in doubling steps. It judges both ends of the sequence first.
        """
        if not self.count:
            return None, None
        self.ask([anchor, 0, self.count - 1])
        start = self._nearest_known(anchor)
        if start is None:
            return None, None
        ends = [self._nearest_known(end) for end in (0, self.count - 1)]
        step = 1
        while step < self.count:
            for position in (start - step, start + step):
                if 0 <= position < self.count:
                    self.ask([position])
                    if self.differ(start, position):
                        return start, position
            step *= 2
        return start, next(
            (end for end in ends if end is not None and self.differ(start, end)), None
        )

    def _nearest_known(self, anchor: int) -> int | None:
        for distance in range(self.count):
            for position in (anchor - distance, anchor + distance):
                if 0 <= position < self.count:
                    self.ask([position])
                    if self.is_judged(position):
                        return position
        return None

    def narrow(self, low: int, high: int, width: int) -> None:
        """Judge between two positions that differ, until all positions between are inconclusive."""
        while open_ := [
            position for position in range(low + 1, high) if position not in self.judged
        ]:
            self.ask(_spread(open_, width))
            inside = [
                low,
                *(position for position in range(low + 1, high) if self.is_judged(position)),
                high,
            ]
            pairs = [
                (one, other) for one, other in itertools.pairwise(inside) if self.differ(one, other)
            ]
            # The newest of several changes counts. There is one, because the ends differ.
            low, high = pairs[-1]


def _spread(positions: Sequence[int], width: int) -> list[int]:
    """``width`` positions that divide the sequence evenly."""
    parts = min(width, len(positions)) + 1
    return [positions[len(positions) * part // parts] for part in range(1, parts)]


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending positions as spans, ends included."""
    spans: list[tuple[int, int]] = []
    for position in positions:
        if spans and spans[-1][1] == position - 1:
            spans[-1] = (spans[-1][0], position)
        else:
            spans.append((position, position))
    return spans


def _history(answers: Mapping[int, Judgement]) -> History:
    judged = {position: answers[position] for position in sorted(answers)}
    conclusive = [
        position for position, judgement in judged.items() if judgement is not Judgement.UNKNOWN
    ]
    assumed: list[tuple[int, int]] = []
    for one, other in itertools.pairwise(conclusive):
        if judged[one] is judged[other]:
            between = range(one + 1, other)
            assumed += _runs([position for position in between if position not in judged])
    return History(judgements=judged, assumed_spans=tuple(assumed))
