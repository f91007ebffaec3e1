"""What each cell has to tell, as columns: one array per fact, in the order of the report, equal texts and records once.

The facts are those of ``matrix.json`` (:func:`compat.cell_document.cell_document`): what a cell has there, the page has.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field

from compat.cell_document import cell_document
from compat.json_text import JsonObject, plain
from compat.model import Result
from compat.report.summary.compact import numbers_of

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
            yield from (None if number == _NONE else number for number in self._numbers)
        else:
            yield from (None if math.isnan(number) else int(number) if number.is_integer() else number for number in self._numbers)


_RECORDS = ("failure", "expectation", "warnings", "attempts", "stood_in")
"""Facts that many cells have alike: each is kept once, and a cell has its number; 0 where it has none."""
_PLAIN = ("env", "status", "stage", "compile_seconds", "flags")
"""Facts of which each cell has its own."""
_NAMED = ("status", "stage")
"""Those of them that are one of few words."""
_RARE = ("numbers", "latency")
"""Facts that a launch or the interpreter finds out: kept by the number of the cell, where there are any."""
_FLAGS = {"flaky": 1, "guessed": 2, "cached": 4}
_UNEXPECTED = 8


class Interned:
    """Records, each once; the first is nothing."""

    def __init__(self) -> None:
        self.records: list[Any] = [None]
        self._places: dict[str, int] = {}

    def number(self, record: Any) -> int:
        """The number of a record; 0 for what is empty."""
        if not record:
            return 0
        found = self._places.setdefault(json.dumps(record, sort_keys=True, default=str), len(self.records))
        if found == len(self.records):
            self.records.append(record)
        return found


class Columns:
    """Facts of cells by the name of the fact; a cell without one has nothing there."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}

    def add(self, cell: int, facts: Iterable[tuple[str, float]]) -> None:
        """Add what a cell has; cells come in order."""
        for name, number in facts:
            if not math.isfinite(number):
                continue
            column = self.columns.setdefault(name, Column())
            column.fill(cell)
            column.add(number)

    def filled(self, cells: int) -> dict[str, Column]:
        """All of them, as long as there are cells."""
        for column in self.columns.values():
            column.fill(cells)
        return self.columns


def cell_columns(results: Iterable[Result], envs: Mapping[str, int]) -> JsonObject:
    """The facts of ``results``, in their order, columns among them; ``envs`` has the number of each env."""
    cells = _Cells()
    for result in results:
        cells.add(cell_document(result), envs)
    return cells.document()


@define
class _Cells:
    """The facts of all cells while they are gathered."""

    count: int = 0
    columns: dict[str, Column] = field(factory=lambda: {name: Column() for name in (*_RECORDS, *_PLAIN)})
    named: dict[str, dict[str, int]] = field(factory=lambda: {name: {} for name in _NAMED})
    """Words that are in columns by their numbers."""
    interned: dict[str, Interned] = field(factory=lambda: {name: Interned() for name in _RECORDS})
    metrics: Columns = field(factory=Columns)
    stages: Columns = field(factory=Columns)
    words: dict[int, JsonObject] = field(factory=dict)
    """Metrics that are texts, by the number of the cell."""
    rare: dict[str, dict[int, Any]] = field(factory=lambda: {name: {} for name in _RARE})

    def add(self, document: JsonObject, envs: Mapping[str, int]) -> None:
        """Add the next cell, as ``matrix.json`` has it."""
        for name, pool in self.interned.items():
            self.columns[name].add(pool.number(document[name]))
        for name, words in self.named.items():
            self.columns[name].add(words.setdefault(document[name], len(words)))
        self.columns["env"].add(envs[document["env"]])
        self.columns["compile_seconds"].add(document["compile_seconds"])
        flags = sum(bit for name, bit in _FLAGS.items() if document[name])
        self.columns["flags"].add(flags if document["expected"] else flags + _UNEXPECTED)
        self.metrics.add(self.count, numbers_of(document["metrics"]))
        self.stages.add(self.count, ((stage, round(seconds, 3)) for stage, seconds in document["stages"].items()))
        if said := {name: value for name, value in document["metrics"].items() if isinstance(value, str)}:
            self.words[self.count] = said
        for name, found in self.rare.items():
            facts = document.get(name)
            if facts and any(value is not None for value in facts.values()):
                found[self.count] = facts
        self.count += 1

    def document(self) -> JsonObject:
        """All of them."""
        return {
            **self.columns,
            **{name: {"words": plain(list(words)), "of": self.columns[name]} for name, words in self.named.items()},
            "records": {name: plain(pool.records) for name, pool in self.interned.items()},
            "metrics": self.metrics.filled(self.count),
            "stages": self.stages.filled(self.count),
            "words": plain(self.words),
            **plain(self.rare),
        }
