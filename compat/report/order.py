"""The order of a report's cells, which depends on nothing but the cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby

from compat.history.verdict import Coordinate, coordinate_of, release_of
from compat.model import Result
from compat.report.compact import natural


def in_order(results: Iterable[Result]) -> Iterator[Result]:
    """By kernel, variant, case, target, release and env; row by row, since keys of all cells take much memory."""
    rows: dict[Coordinate, list[Result]] = defaultdict(list)
    for result in results:
        rows[coordinate_of(result)].append(result)
    for _, alike in groupby(sorted(rows, key=_row), key=_row):
        yield from sorted((result for coordinate in alike for result in rows[coordinate]), key=_place_in_row)


def _row(coordinate: Coordinate) -> tuple[object, ...]:
    return tuple(map(natural, coordinate))


def _place_in_row(result: Result) -> tuple[object, ...]:
    return release_of(result.built).order, natural(result.cell.env.name)
