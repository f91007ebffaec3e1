"""The search against brute force, over random histories with inconclusive positions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from compat.bisect.search import History, probe_all, search
from compat.history.account import Judgement

G, B, U = Judgement.GOOD, Judgement.BAD, Judgement.UNKNOWN
HISTORIES = st.lists(st.sampled_from([G, B, U]), max_size=40)


class Counting:
    """A judge over a fixed history that records the positions, and fails if one is repeated."""

    def __init__(self, truth: Sequence[Judgement]) -> None:
        self.truth = truth
        self.asked: list[int] = []

    def __call__(self, positions: Sequence[int]) -> Mapping[int, Judgement]:
        assert not set(positions) & set(self.asked), "asked twice"
        self.asked += positions
        return {position: self.truth[position] for position in positions}


def changes(judgements: Mapping[int, Judgement]) -> list[tuple[int, int]]:
    """Every pair of conclusive neighbours that differ, by brute force."""
    positions = [position for position, judgement in judgements.items() if judgement is not U]
    return [
        (one, other)
        for one, other in itertools.pairwise(positions)
        if judgements[one] is not judgements[other]
    ]


@st.composite
def monotonic(draw: st.DrawFn) -> list[Judgement]:
    """A history that is good then bad, or the reverse, with inconclusive positions anywhere."""
    sides = draw(st.permutations([G, B]))
    length = draw(st.integers(2, 60))
    cut = draw(st.integers(1, length - 1))
    truth = [sides[0]] * cut + [sides[1]] * (length - cut)
    for position in draw(st.lists(st.integers(0, length - 1), max_size=length)):
        truth[position] = U
    return truth


@given(HISTORIES)
def test_probing_all_finds_every_change(truth: list[Judgement]) -> None:
    judge = Counting(truth)
    history = probe_all(len(truth), judge)
    assert changes(history.judgements) == changes(dict(enumerate(truth)))
    assert sorted(judge.asked) == list(range(len(truth)))
    assert history.assumed_spans == ()


@given(monotonic(), st.integers(1, 4))
def test_search_finds_the_exact_change_of_a_monotonic_history(
    truth: list[Judgement], width: int
) -> None:
    history = search(len(truth), Counting(truth), width=width)
    assert changes(history.judgements) == changes(dict(enumerate(truth)))


def test_search_finds_the_newest_of_several_changes() -> None:
    truth = [G, G, B, B, G, G, G, B, B, B]
    for history in (
        search(10, Counting(truth)),
        search(10, Counting(truth), good=0, bad=9, width=3),
    ):
        assert changes(history.judgements)[-1] == (6, 7)


@given(HISTORIES, st.integers(1, 4))
def test_changes_found_in_any_history_are_real(truth: list[Judgement], width: int) -> None:
    judge = Counting(truth)
    history = search(len(truth), judge, width=width)
    assert history.judgements == {position: truth[position] for position in sorted(judge.asked)}
    found_changes = changes(history.judgements)
    taken_on_trust = {
        position for first, last in history.assumed_spans for position in range(first, last + 1)
    }
    assert not taken_on_trust & set(history.judgements)
    inside_changes = {
        position for before, after in found_changes for position in range(before + 1, after)
    }
    positions = [
        position for position, judgement in history.judgements.items() if judgement is not U
    ]
    if positions:
        inside = set(range(positions[0], positions[-1] + 1))
        assert inside - set(history.judgements) <= taken_on_trust | inside_changes


@given(monotonic())
def test_positions_inside_a_change_are_inconclusive(
    truth: list[Judgement],
) -> None:
    history = search(len(truth), Counting(truth))
    for before, after in changes(history.judgements):
        assert all(truth[position] is U for position in range(before + 1, after))


@given(st.integers(2, 2000), st.data())
def test_number_of_judged_positions_grows_with_the_logarithm(
    length: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(1, length - 1))
    judge = Counting([G] * cut + [B] * (length - cut))
    history = search(length, judge)
    assert changes(history.judgements) == [(cut - 1, cut)]
    assert len(judge.asked) <= 3 + 2 * length.bit_length()


@given(HISTORIES.filter(lambda truth: G in truth and B in truth), st.data())
def test_given_ends_are_judged_first_and_never_assumed(
    truth: list[Judgement], data: st.DataObject
) -> None:
    good, bad = (data.draw(st.integers(0, len(truth) - 1)) for _ in range(2))
    judge = Counting(truth)
    history = search(len(truth), judge, good=good, bad=bad)
    assert set(judge.asked[:2]) >= {good, bad}
    if {truth[good], truth[bad]} != {G, B}:
        assert set(judge.asked) == {good, bad}
    else:
        inside = range(min(good, bad), max(good, bad) + 1)
        assert changes(history.judgements)
        assert all({*change} <= {*inside} for change in changes(history.judgements))


def test_inconclusive_newest_position_is_skipped() -> None:
    history = search(5, Counting([G, G, B, B, U]))
    assert changes(history.judgements) == [(1, 2)]


def test_search_without_a_good_end_finds_the_change_nearest_the_bad_end() -> None:
    truth = [G] * 10 + [B] * 10 + [G] * 10 + [B] * 3
    history = search(len(truth), Counting(truth), bad=len(truth) - 1)
    assert (29, 30) in changes(history.judgements)


def test_an_empty_history() -> None:
    assert search(0, Counting([])) == History(judgements={})
