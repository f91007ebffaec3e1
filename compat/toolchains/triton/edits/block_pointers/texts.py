"""Pieces of the text that takes the place of block pointers."""

from __future__ import annotations

import libcst as cst

from compat.toolchains.triton.edits.code import dotted, whole


def stored(call: cst.Call) -> cst.BaseExpression:
    """What a store stores."""
    named = [each.value for each in call.args if each.keyword and each.keyword.value == "value"]
    return named[0] if named else [each.value for each in call.args if not each.keyword][1]


def axis_index(axis: int, rank: int) -> str:
    """``[:, None]`` for the first of two."""
    return "" if rank == 1 else f"[{', '.join(':' if each == axis else 'None' for each in range(rank))}]"


def addend(text: str) -> str:
    """An expression as the first term of a sum, or beside a comparison."""
    node = cst.parse_expression(text)
    plain = isinstance(node, cst.BinaryOperation) and isinstance(
        node.operator, cst.Add | cst.Subtract | cst.Multiply | cst.FloorDivide | cst.Modulo
    )
    return text if plain or dotted(node) or (isinstance(node, cst.UnaryOperation) and not node.lpar) else whole(text)


def added(value: str, by: str) -> str:
    if not by or value == "0":
        return by or value
    return f"{value} + {by if isinstance(cst.parse_expression(by), cst.UnaryOperation) else whole(by)}"


def assignment(name: str, value: str) -> str:
    """``name = value``, and ``name += …`` where that is what it comes to."""
    return f"{name} += {value.removeprefix(f'{name} + ')}" if value.startswith(f"{name} + ") else f"{name} = {value}"
