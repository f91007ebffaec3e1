"""What expressions over literals may use: operators, and functions that touch nothing outside and make nothing without bounds."""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_REPEATED = 8
"""Sequences that one product may have."""
ITEMS = 10_000
"""Elements that one sequence may have."""


class Unknown(Exception):
    """An expression whose value does not follow from literals."""


def items(value: Any) -> list[Any]:
    """The elements of something that has elements. Raises :class:`Unknown`."""
    if not isinstance(value, list | tuple | dict | set | str | range | Iterator):
        raise Unknown("not a sequence")
    found = list(itertools.islice(value, ITEMS + 1))
    if len(found) > ITEMS:
        raise Unknown("too long")
    return found


def operated(op: ast.operator, left: Any, right: Any) -> Any:
    """What a binary operator makes of two values. Raises :class:`Unknown` where that would be too large."""
    if isinstance(op, ast.Pow) and (abs(right) > 128 or abs(left) > 2**32):
        raise Unknown("too large")
    if isinstance(op, ast.LShift) and right > 128:
        raise Unknown("too large")
    if isinstance(op, ast.Mod) and isinstance(left, str | bytes):
        raise Unknown("a text of any length")
    if isinstance(op, ast.Mult) and any(isinstance(each, str | list | tuple) for each in (left, right)):
        sizes = [each if isinstance(each, int) else len(each) for each in (left, right)]
        if sizes[0] * sizes[1] > ITEMS:
            raise Unknown("too long")
    found = _OPERATORS[type(op)](left, right)
    if isinstance(found, int) and found.bit_length() > 256:
        raise Unknown("too large")
    if isinstance(found, str | list | tuple) and len(found) > ITEMS:
        raise Unknown("too long")
    return found


_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


def _range(*numbers: int) -> range:
    found = range(*numbers)
    if len(found) > ITEMS:
        raise Unknown("too long")
    return found


def extending(found: list[Any]) -> Callable[[Any], None]:
    """``found.extend``, which makes nothing without bounds."""

    def extend(more: Any) -> None:
        found.extend(items(more))
        items(found)

    return extend


def _product(*sequences: Any, repeat: int = 1) -> list[tuple[Any, ...]]:
    if repeat > _REPEATED:
        raise Unknown("too long")
    return items(itertools.product(*map(items, sequences), repeat=repeat))


def _cdiv(whole: int, part: int) -> int:
    return -(-whole // part)


def _next_power_of_2(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


BUILTINS: Mapping[str, Any] = {
    **{
        each.__name__: each
        for each in (len, min, max, sum, abs, int, float, bool, list, tuple, dict, set, all, any, enumerate, zip)
    },
    "range": _range,
    "filter": filter,
    "map": map,
    "sorted": sorted,
    "str": str,
    "reversed": lambda sequence: items(sequence)[::-1],
    "round": round,
}
HIGHER = (filter, map, sorted)
NAMED: Mapping[str, Any] = {
    "triton.cdiv": _cdiv,
    "triton.next_power_of_2": _next_power_of_2,
    "triton.language.cdiv": _cdiv,
    "triton.language.constexpr": lambda value: value,
    "itertools.product": _product,
    **{f"math.{name}": getattr(math, name) for name in ("ceil", "floor", "log2", "log", "sqrt", "exp", "pi", "inf", "e")},
}
METHODS = {
    *((dict, name) for name in ("get", "items", "keys", "values", "copy", "update")),
    *((list, name) for name in ("append", "copy", "index", "count")),
    *((str, name) for name in ("lower", "upper", "startswith", "endswith")),
}
