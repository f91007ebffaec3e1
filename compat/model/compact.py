"""Facts of cells in few bytes: a report has as many of them as it has cells, and most are alike, or have the same names."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, TypeVar

from attrs import evolve

from compat.model.outcome import Failure

_T = TypeVar("_T")

_Shape = tuple[Any, ...]
"""The names of a mapping in order; of what holds a mapping itself, the name and the shape of that."""

_SHAPES: dict[_Shape, _Shape] = {}


class Compact(Mapping[str, Any]):
    """A mapping that never changes, of JSON values: its names are kept once for all that have the same, its values as bytes.

    Each look at it makes its values anew. It equals every mapping with the same content.
    """

    __slots__ = ("_shape", "_values")

    def __init__(self, content: Mapping[str, Any]) -> None:
        """Keep a copy of ``content``. Raises ValueError for what is no JSON."""
        values: list[Any] = []
        shape = _flattened(content, values)
        self._shape = _SHAPES.setdefault(shape, shape)
        self._values = marshal.dumps(values)

    def _content(self) -> dict[str, Any]:
        return _restored(self._shape, iter(marshal.loads(self._values)))

    def __getitem__(self, name: str) -> Any:
        return self._content()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content())

    def __len__(self) -> int:
        return len(self._shape)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Compact):
            return self._content() == other._content()
        return self._content() == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._content())

    def items(self) -> Any:
        """As of a dictionary, made once for all of them."""
        return self._content().items()

    def values(self) -> Any:
        """See :meth:`items`."""
        return self._content().values()

    def get(self, name: str, default: Any = None) -> Any:
        """See :meth:`items`."""
        return self._content().get(name, default)


def _flattened(content: Mapping[str, Any], values: list[Any]) -> _Shape:
    shape: list[Any] = []
    for name, value in content.items():
        if isinstance(value, dict) and value:
            shape.append((name, _flattened(value, values)))
        else:
            shape.append(name)
            values.append(value)
    return tuple(shape)


def _restored(shape: _Shape, values: Iterator[Any]) -> dict[str, Any]:
    return {
        (part if type(part) is str else part[0]): (next(values) if type(part) is str else _restored(part[1], values))
        for part in shape
    }


@cache
def _empty() -> Compact:
    """What all have that have no facts."""
    return Compact({})


def compacted(record: _T) -> _T:
    """The same outcome, or record of a cell, in few bytes."""
    facts: Any = record
    changes: dict[str, Any] = {name: once(getattr(facts, name)) for name in ("attempts", "warnings", "stood_in")}
    changes |= {name: _compact(getattr(facts, name)) for name in ("metrics", "stages")}
    return evolve(facts, failure=_shared(facts.failure) if facts.failure else None, **changes)  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def once(value: _T) -> _T:
    """The first of all that are equal to it."""
    return value


def _compact(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    return Compact(facts) if facts else _empty()


@lru_cache(maxsize=4096)
def _shared(failure: Failure) -> Failure:
    """The same failure; those that differ in their place or their artifacts alone share their texts."""
    texts = ("failure_class", "stage", "fingerprint", "excerpt", "advice")
    return evolve(failure, **{name: once(getattr(failure, name)) for name in texts})
