"""Expressions whose value can be told from the source alone: literals, what is computed with them, and names of dtypes. Pure."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from compat.constexprs import DTYPES

_LARGE = 1 << 64
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos}
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,  # of what can be told here, `is` is asked of None, booleans and dtypes
    ast.IsNot: operator.ne,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}


class Unknown(ValueError):
    """An expression whose value is not told by the source alone."""


@frozen
class Dtype:
    """A dtype by the name that a module has for it: ``tl.float16``."""

    module: str
    name: str


def value_of(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """The value of an expression over names that are known. Raises Unknown."""
    try:
        return _value(node, known)
    except (TypeError, ValueError, ArithmeticError, KeyError) as error:
        raise Unknown(ast.unparse(node)) from error


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known[name]
        case ast.Attribute(attr=name, value=module) if DTYPES.get(name) and name not in ("dtype",):
            return Dtype(ast.unparse(module), name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return tuple(_value(each, known) for each in elements)
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_plain(_value(operand, known), bool(isinstance(op, ast.Not))))
        case ast.BinOp(op=op, left=left, right=right):
            return _small(_BINARY[type(op)](*(_plain(_value(each, known)) for each in (left, right))))
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if _value(test, known) else other, known)
        case ast.BoolOp(op=op, values=values):
            return _of_booleans(op, values, known)
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(each, known) for each in (left, *others)]
            return all(_compared(op, one, other) for op, one, other in zip(ops, sides, sides[1:], strict=False))
    raise Unknown


def _of_booleans(op: ast.boolop, values: list[ast.expr], known: Mapping[str, Any]) -> Any:
    for each in values[:-1]:
        value = _value(each, known)
        if bool(value) is isinstance(op, ast.Or):
            return value
    return _value(values[-1], known)


def _plain(value: Any, any_kind: bool = False) -> Any:
    """A number or a text, which can be computed with, as long as it is no long one."""
    if any_kind or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) < 100):
        return value
    raise Unknown


def _small(value: Any) -> Any:
    if (isinstance(value, int) and abs(value) > _LARGE) or (isinstance(value, str) and len(value) > 1000):
        raise Unknown
    return value


def _compared(op: ast.cmpop, one: Any, other: Any) -> bool:
    many = other if isinstance(op, ast.In | ast.NotIn) else (other,)
    for each in many if isinstance(many, tuple) else ():
        if isinstance(one, Dtype) and isinstance(each, Dtype) and one.module != each.module:
            raise Unknown  # two names for one module, perhaps
    return _COMPARED[type(op)](one, other)
