"""A value that follows from literals is the value that Python computes, or it is unknown."""

from __future__ import annotations

import ast
import symtable
from typing import Any

import pytest

from compat.source.constants import Scope, UnknownValue
from compat.source.imports import names_bound
from compat.source.parsing import bound_names
from tests.together import for_each

FUNCTIONS = """
def last(values):
    for value in values:
        found = value
    else:
        found = value + 1
    return found

def gathered(first, *rest, scale=1, **named):
    return first, rest, scale, named

def plain(x, y=2):
    return x, y
"""
TREE = ast.parse(FUNCTIONS)


def evaluated(expression: str) -> object:
    scope = Scope({function.name: function for function in TREE.body}, {})  # type: ignore[attr-defined]
    return scope.value(ast.parse(expression, mode="eval").body)


@for_each(
    "expression",
    [
        "last([1, 2])",
        "gathered(1)",
        "gathered(1, 2, 3, scale=4, other=5)",
        "gathered(*[1, 2], **{'scale': 3})",
        "plain(1)",
        "plain(1, y=3)",
        'f\'{5:03d} {1.5:.2f} {"a"!r:>5} {"ä"!a}\'',
        "f'{7:{1 + 2}}|{\"x\":<4}|'",
        "[x * y for x in range(90) for y in range(90)]",
    ],
)
def test_value_is_that_of_python(expression: str) -> None:
    names: dict[str, Any] = {}
    exec(FUNCTIONS, names)
    assert evaluated(expression) == eval(expression, names)


@pytest.mark.parametrize(
    "expression",
    [
        "plain(1, 2, 3)",
        "plain(1, z=2)",
        "plain(1, x=2)",
        "[x for x in range(200) for y in range(200)]",
        "f'{1:99999999}'",
        "f'{1:{10**9}}'",
        "f'{1:no}'",
    ],
)
def test_value_that_python_refuses_or_that_is_large_is_unknown(expression: str) -> None:
    with pytest.raises(UnknownValue):
        evaluated(expression)


@for_each(
    "text",
    [
        "match value:\n    case [first, *rest]: pass\n    case {'a': x, **more}: pass",
        "match value:\n    case Point(x=0, y=y) as point: pass\n    case str() | int() as z: pass",
        "match value:\n    case _: pass",
        "try: pass\nexcept OSError as error: pass",
        "for i, (j, *k) in pairs: pass",
        "with open(path) as file, lock: pass",
    ],
)
def test_bound_names_are_those_of_python(text: str) -> None:
    table = symtable.symtable(text, "<text>", "exec")
    expected = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
    assert bound_names(ast.parse(text).body) == expected
    assert expected <= set(names_bound(ast.parse(text)))


def test_assignment_expression_in_a_comprehension_binds_outside() -> None:
    """``symtable`` does not say so of a module."""
    text = "found = [last := x for x in values]"
    names: dict[str, Any] = {"values": [1, 2]}
    exec(text, names)
    assert names["last"] == 2
    assert bound_names(ast.parse(text).body) == {"found", "last"}
