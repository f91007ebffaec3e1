"""Columns return the numbers that were added, whatever these are."""

from __future__ import annotations

from compat.report.render.page_data import Column
from tests.together import for_each


@for_each(
    "numbers",
    [
        [],
        [None, None],
        [1, None, -3, 2**31 - 1],
        [1, 2**31, None, 2**53],
        [None, 0.25, None, 3],
        [1, None, 0.1],
        [0.5, 2**53 + 1, None],
        [2**70, 1.5, None],
        [-(2**31)],
    ],
)
def test_a_column_returns_the_numbers_that_were_added(numbers: list[float | None]) -> None:
    column = Column()
    for number in numbers:
        column.add(number)
    assert list(column) == numbers
    column.fill(len(numbers) + 2)
    assert list(column) == [*numbers, None, None]
