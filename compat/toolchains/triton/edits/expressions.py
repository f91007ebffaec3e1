"""Edits of the expressions of a failing statement: an axis for a term, and ``tl.maximum`` for ``tl.max``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from compat.toolchains.edits import Faulty, Proposal
from compat.toolchains.triton.edits.code import Code, dotted, literal, replace, statement_at, walk

# --- a missing ``[:, None]`` or ``[None, :]`` ---------------------------------------------------------------------------------

# Every term of the failing statement that has no axis gets one. What has which shape is not known from the text, so all is
# proposed: rows before columns, and first what has parentheses or needs none. Statements that say the same get the same edit.

_NOTE = "where two block sizes are equal, a term without its axis compiles, too: look whether other loads and masks lack one"
AXES = ("[:, None]", "[None, :]")
_ATOMS = cst.Name | cst.Call | cst.Attribute
"""What takes an axis without parentheses of its own."""


def axes_added(faulty: Faulty) -> Iterator[Proposal]:
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


# --- ``tl.max`` and ``tl.min`` of two values, which ``tl.maximum`` and ``tl.minimum`` compare; and the other way round --------

_COMPARING = {"max": "maximum", "min": "minimum"}
_REDUCING = {"maximum": "max", "minimum": "min"}


def values_compared(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with what compares where it compares; first in the failing statement, then wherever it is clear."""
    code = Code.of(faulty.text, faulty.function)
    here = statement_at(code.module, faulty.failure)
    clear = {call: new for function in code.reachable for call in walk(function) if (new := _clear(code, call)) is not None}
    within = list(walk(here)) if here is not None else []
    of_two = {call: new for call in within if (new := _of_two(code, call)) is not None}
    for some in ({call: new for call, new in clear.items() if call in within}, clear, of_two, {**clear, **of_two}):
        if some:
            yield Proposal(text=replace(code.module, {call.func: new for call, new in some.items()}).code)  # type: ignore[attr-defined]


def _clear(code: Code, node: cst.CSTNode) -> cst.BaseExpression | None:
    """What a call is to call, where it certainly calls the wrong one."""
    if not isinstance(node, cst.Call) or any(arg.star for arg in node.args):
        return None
    called = code.language.called(node) or ""
    positional = [arg.value for arg in node.args if not arg.keyword]
    named = {arg.keyword.value for arg in node.args if arg.keyword}
    if called in _COMPARING and len(positional) == 2 and not named and not _is_axis(positional[1]):
        return _renamed(node.func, _COMPARING[called])
    if called in _COMPARING and len(positional) == 2 and not named and literal(positional[0]) is not None:
        return _renamed(node.func, _COMPARING[called])
    if called in _REDUCING and (("axis" in named and len(positional) < 2) or len(positional) == 1):
        return _renamed(node.func, _REDUCING[called])
    return None


def _of_two(code: Code, node: cst.CSTNode) -> cst.BaseExpression | None:
    """What a reduction of two arguments is to call if the second is no axis, which cannot be seen where it is a number."""
    called = code.language.called(node) or ""
    if not isinstance(node, cst.Call) or called not in _COMPARING or len(node.args) != 2 or any(arg.keyword for arg in node.args):
        return None
    return _renamed(node.func, _COMPARING[called])


def _is_axis(node: cst.BaseExpression) -> bool:
    """Whether a second argument may be an axis: a whole number, or a name in capitals, as constexprs mostly have."""
    return (
        literal(node) is not None
        or dotted(node) == "None"
        or (isinstance(node, cst.Name) and node.value.lower() in ("axis", "dim"))
    )


def _renamed(func: cst.BaseExpression, name: str) -> cst.BaseExpression:
    return func.with_changes(attr=cst.Name(name)) if isinstance(func, cst.Attribute) else cst.Name(name)
