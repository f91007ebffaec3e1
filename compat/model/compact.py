"""Facts of a cell in few bytes: a report has as many of them as it has cells, and their names are nearly always the same."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from typing import Any

_Shape = tuple[Any, ...]
"""The names of a mapping in order; of what holds a mapping itself, the name and the shape of that."""

_SHAPES: dict[_Shape, _Shape] = {}
_PLAIN = (int, float, str, bool, type(None))


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

    def __reduce__(self) -> tuple[Any, ...]:
        return Compact, (self._content(),)

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
        (each if type(each) is str else each[0]): (next(values) if type(each) is str else _restored(each[1], values))
        for each in shape
    }
