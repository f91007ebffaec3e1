"""The hints that a failure needs. Every claim about them was compiled."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from compat.bisect import perturbations
from compat.bisect.answers import Effect
from compat.bisect.perturbations import Hint, HintTrials
from tests.cells import spec
from tests.together import for_each

OK, SAME, UNKNOWN = Effect.OK, Effect.SAME, Effect.UNKNOWN
A, B, C, D = ALL = tuple(("divisible_by_16", name) for name in "abcd")
NONE_NEEDED = "but no hint is needed: fails the same way without any hint"
Compiler = Callable[[frozenset[Hint]], Effect]


def search_hints(start_hints: Sequence[Hint], compiler: Compiler) -> HintTrials:
    return perturbations.search_hints(start_hints, lambda sets: [compiler(hints) for hints in sets])


def hint_sentence(start_hints: Sequence[Hint], compiler: Compiler) -> str | None:
    need = perturbations.hint_need(search_hints(start_hints, compiler))
    return need.sentence.replace("divisible_by_16: ", "") if need else None


def fails_with(*culprits: Hint) -> Compiler:
    return lambda hints: SAME if hints >= set(culprits) else OK


def test_hints_of_a_specialization() -> None:
    start = spec("faces", "fine", divisible_by_16=("source", "result"), equal_to_1=("size",))
    start_hints = perturbations.hints_of(start)
    assert [perturbations.hint_name(hint) for hint in start_hints] == [
        "divisible_by_16: source",
        "divisible_by_16: result",
        "equal_to_1: size",
    ]
    reduced_spec = perturbations.with_only(start, {start_hints[1], start_hints[2]})
    assert (reduced_spec.compile.divisible_by_16, reduced_spec.compile.equal_to_1) == (
        ("result",),
        ("size",),
    )
    assert not any(perturbations.with_only(start, set()).compile.hints.values())
    assert [
        (kernel_spec.kernel, kernel_spec.variant, kernel_spec.case)
        for kernel_spec in (reduced_spec, start)
    ] == 2 * [("fine", "as_written", "only")]
    assert reduced_spec != start


@for_each(
    ("start_hints", "compiler", "expected"),
    [
        (
            ALL[:3],
            fails_with(A),
            "needs the hint a (fails with it alone, ok without it, and without any hint)",
        ),
        (ALL[:1], fails_with(A), "needs the hint a (ok without it)"),
        (
            ALL[:3],
            fails_with(A, C),
            "needs the hints a and c (fails with these alone, ok without any one of them, and"
            " without any hint)",
        ),
        (
            ALL[:2],
            fails_with(A, B),
            "needs the hints a and b (ok without any one of them, and without any hint)",
        ),
        (
            ALL[:3],
            lambda hints: OK if len(hints) == 2 else SAME,
            f"ok without any one of the hints a, b and c, {NONE_NEEDED}",
        ),
        (
            ALL[:3],
            lambda hints: OK if hints == {A, C} else SAME,
            f"ok without the hint b, {NONE_NEEDED}",
        ),
        (
            ALL[:2],
            lambda hints: SAME if hints else OK,
            "fails with the hint b alone, also without b when all others are given,"
            " ok without any hint",
        ),
        (ALL[:2], lambda hints: SAME if B in hints else UNKNOWN, None),
        (
            ALL[:2],
            lambda hints: OK if hints == {A} else UNKNOWN,
            "fails with all hints, ok without b of these, without a or any hint it is inconclusive",
        ),
        (ALL[:2], lambda hints: SAME, None),
    ],
)  # fmt: skip
def test_sentence_says_which_hints_a_failure_needs(
    start_hints: tuple[Hint, ...], compiler: Compiler, expected: str | None
) -> None:
    assert hint_sentence(start_hints, compiler) == expected


@given(st.sets(st.sampled_from(ALL), min_size=1), st.integers(1, len(ALL)))
def test_number_of_compiled_sets_has_an_upper_bound(culprits: set[Hint], count: int) -> None:
    hint_sets: list[frozenset[Hint]] = []

    def compiled(hints: frozenset[Hint]) -> Effect:
        hint_sets.append(hints)
        return SAME if hints >= culprits & set(ALL[:count]) else OK

    start_hints = ALL[:count]
    trials = search_hints(start_hints, compiled)
    first = {*perturbations.first_sets(start_hints)}
    assert first <= {*hint_sets, frozenset(start_hints)}
    assert len(hint_sets) <= len(first) + perturbations.most_further_sets(start_hints, {})
    assert len(hint_sets) <= len(first) + perturbations.most_further_sets(
        start_hints, trials.effects
    )


def test_unfinished_search_claims_only_what_it_compiled() -> None:
    def so_far(effects: dict[frozenset[Hint], Effect]) -> str | None:
        need = perturbations.hint_need_so_far(
            HintTrials(hints=ALL, effects=effects, smallest=frozenset(ALL))
        )
        return need.sentence.replace("divisible_by_16: ", "") if need else None

    without_a, without_b = frozenset(ALL) - {A}, frozenset(ALL) - {B}
    assert so_far({}) is None
    assert so_far({without_a: SAME, without_b: UNKNOWN}) is None
    assert so_far({without_a: OK}) == "ok without the hint a"
    assert (
        so_far({without_a: OK, without_b: OK, frozenset(): SAME})
        == "ok without any one of the hints a and b"
    )
    assert so_far({without_a: SAME, frozenset(): OK}) == "ok without any hint"


SUBSETS = [
    frozenset(some) for size in range(len(ALL) + 1) for some in itertools.combinations(ALL, size)
]


@given(st.lists(st.sampled_from(Effect), min_size=len(SUBSETS), max_size=len(SUBSETS)))
def test_every_claim_was_compiled(effects: list[Effect]) -> None:
    compiler = {**dict(zip(SUBSETS, effects, strict=True)), SUBSETS[-1]: SAME}
    trials = search_hints(ALL, compiler.__getitem__)
    assert all(compiler[hints] is effect for hints, effect in trials.effects.items())
    assert compiler[trials.smallest] is SAME
    need = perturbations.hint_need(trials)
    singles = [frozenset(ALL) - {hint} for hint in ALL]
    assert (need is None) == (
        OK not in [compiler[hints] for hints in [*singles, frozenset[Hint]()]]
    )
    if need is None:
        return
    if need.sentence.startswith("needs"):
        named = {
            ("divisible_by_16", name)
            for name in re.findall(r"divisible_by_16: (\w)", need.sentence)
        }
        assert compiler[frozenset(named)] is SAME
        assert compiler[frozenset()] is OK
        for hint in named:
            assert compiler[frozenset(named) - {hint}] is OK
            assert compiler[frozenset(ALL) - {hint}] is OK
    assert (
        compiler[frozenset()] is SAME
        or "ok without any hint" in need.sentence
        or "inconclusive" in need.sentence
        or "without any hint)" in need.sentence
    )


@given(st.sets(st.sampled_from(ALL), min_size=1))
def test_search_finds_exactly_the_hints_that_cause_the_failure(culprits: set[Hint]) -> None:
    assert search_hints(ALL, fails_with(*culprits)).smallest == culprits
