"""Columns of numbers, in few bytes while they grow: there are dozens of them, each with a number for every cell."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import Any

_NONE = -(1 << 31)
"""What stands for no number among whole ones."""
_MOST = (1 << 31) - 1
_EXACT = 1 << 53
"""Whole numbers up to this one are exact as floating point."""


class Column:
    """Numbers, or none, in order."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: Any = array("i")
        """An array of whole numbers, else one of floating point, else a list."""

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: float | None) -> None:
        """Add one; it must be finite."""
        if isinstance(self._numbers, list):
            self._numbers.append(number)
        elif self._numbers.typecode == "i" and (number is None or (type(number) is int and abs(number) <= _MOST)):
            self._numbers.append(_NONE if number is None else number)
        elif number is None or type(number) is float or abs(number) <= _EXACT:
            if self._numbers.typecode == "i":
                self._numbers = array("d", (math.nan if each == _NONE else each for each in self._numbers))
            self._numbers.append(math.nan if number is None else number)
        else:
            self._numbers = [*self, number]

    def fill(self, length: int) -> None:
        """Add none until there are so many."""
        for _ in range(length - len(self)):
            self.add(None)

    def __iter__(self) -> Iterator[float | None]:
        if isinstance(self._numbers, list):
            yield from self._numbers
        elif self._numbers.typecode == "i":
            yield from (None if each == _NONE else each for each in self._numbers)
        else:
            yield from (None if math.isnan(each) else int(each) if each.is_integer() else each for each in self._numbers)
