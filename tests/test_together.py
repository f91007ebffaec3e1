"""A test of many things tells each that fails."""

from __future__ import annotations

import pytest

from tests.together import for_each


def test_each_that_fails_is_told() -> None:
    @for_each([1, 0, 2, 3], str)
    def odd(number: int) -> None:
        """Whether its reciprocal is odd."""
        assert 6 // number % 2, f"6 // {number} is even"

    assert (odd.__name__, odd.__doc__) == ("odd", "Whether its reciprocal is odd.")
    with pytest.raises(AssertionError) as raised:
        odd()
    said = str(raised.value)
    assert all(words in said for words in ("1: 6 // 1 is even", "0: ZeroDivisionError: ", "3: 6 // 3 is even"))
    assert "2: " not in said


def test_of_nothing_it_holds_nothing() -> None:
    with pytest.raises(AssertionError):
        for_each(list[int](), str)(lambda _: None)()
