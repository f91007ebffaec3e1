"""A missing ``[:, None]`` or ``[None, :]``: every term of the failing statement that has no axis gets one.

What has which shape is not known from the text, so all is proposed: rows before columns, and first what has parentheses or needs
none. Statements that say the same get the same edit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from compat.toolchains.edits import Faulty, Proposal
from compat.toolchains.triton.edits.code import Code, replace, statement_at, walk

_NOTE = "where two block sizes are equal, a term without its axis compiles, too: look whether other loads and masks lack one"
AXES = ("[:, None]", "[None, :]")
_ATOMS = cst.Name | cst.Call | cst.Attribute
"""What takes an axis without parentheses of its own."""


def proposals(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with an axis more."""
    code = Code.of(faulty.text, faulty.function)
    here = statement_at(code.module, faulty.failure)
    if here is None:
        return
    alike = [
        list(_terms(node)) for node in walk(code.module) if isinstance(node, cst.SimpleStatementLine) and _same(code, node, here)
    ]
    groups = sorted(
        zip(*alike, strict=True), key=lambda same: (not same[0].lpar, not (same[0].lpar or isinstance(same[0], _ATOMS)))
    )
    for axis in AXES:
        for same in groups:
            yield Proposal(text=replace(code.module, {term: _with_axis(term, axis) for term in same}).code, notes=(_NOTE,))


def _same(code: Code, one: cst.SimpleStatementLine, other: cst.SimpleStatementLine) -> bool:
    """Whether two statements say the same, comments and line breaks apart."""
    return code.code_for(one).split() == code.code_for(other).split() or one.deep_equals(other) or _said(one) == _said(other)


def _said(statement: cst.SimpleStatementLine) -> list[str]:
    """The names, numbers and operators of a statement."""
    return [f"{type(node).__name__} {getattr(node, 'value', '')}" for node in walk(statement) if not _is_layout(node)]


def _is_layout(node: cst.CSTNode) -> bool:
    layout = (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Newline, cst.Comment, cst.Comma)
    return isinstance(node, layout) or not isinstance(getattr(node, "value", ""), str)


def _terms(statement: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Operands that may lack an axis."""
    for node in walk(statement):
        operands: Sequence[cst.BaseExpression] = ()
        if isinstance(node, cst.BinaryOperation):
            operands = (node.left, node.right)
        elif isinstance(node, cst.Comparison):
            operands = (node.left, *(comparison.comparator for comparison in node.comparisons))
        yield from (operand for operand in operands if not isinstance(operand, cst.BaseNumber | cst.BaseString | cst.Subscript))


def _with_axis(term: cst.BaseExpression, axis: str) -> cst.BaseExpression:
    shape = cst.parse_expression(f"x{axis}")
    assert isinstance(shape, cst.Subscript)
    if not (term.lpar or isinstance(term, _ATOMS)):
        term = term.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return shape.with_changes(value=term)
