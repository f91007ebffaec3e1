"""``tl.max`` and ``tl.min`` of two values → ``tl.maximum`` and ``tl.minimum``, which compare; and the other way round."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from compat.toolchains.edits import Faulty, Proposal
from compat.toolchains.triton.edits.code import Code, dotted, literal, replace, statement_at, walk

_COMPARING = {"max": "maximum", "min": "minimum"}
_REDUCING = {"maximum": "max", "minimum": "min"}


def proposals(faulty: Faulty) -> Iterator[Proposal]:
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
