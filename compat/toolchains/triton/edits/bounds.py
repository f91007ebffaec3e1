"""A loop that is bounded by a block gets a scalar.

A block of one element that is loaded through ``tl.arange(0, 1)`` is loaded through the pointer itself, which is the same number.
Where the bound is not known to be such a block, it is reduced with ``tl.max``, and it is said that this changes what the kernel
means if the block has several values.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from compat.toolchains.edits import Faulty, Proposal
from compat.toolchains.triton.edits.code import Code, dotted, literal, names_in, nodes_at, replace, walk

_NOTE = "tl.max takes the greatest of the block's values for the bound; only for a block of one value that is the same bound"


def proposals(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with scalar loads, and then with reduced bounds."""
    code = Code.of(faulty.text, faulty.function)
    loads = {
        node: new for function in code.reachable for node in walk(function) if (new := _scalar(code, function, node)) is not None
    }
    if loads:
        yield Proposal(text=replace(code.module, dict(loads)).code)
    single = {node: new for node, new in loads.items() if node in _before_loop(code, faulty)}
    if single and len(single) < len(loads):
        yield Proposal(text=replace(code.module, dict(single)).code)
    for loop in _loops(code, faulty):
        yield from _reduced(code, loop)


def _scalar(code: Code, function: cst.FunctionDef, node: cst.CSTNode) -> cst.CSTNode | None:
    """``tl.load(p + tl.arange(0, 1))`` → ``tl.load(p)``: the one address as a scalar."""
    if code.language.called(node) != "load" or not isinstance(node, cst.Call) or not node.args:
        return None
    pointer = node.args[0].value
    without = _without_range(code, function, pointer)
    if without is None:
        return None
    return node.with_changes(args=[node.args[0].with_changes(value=without), *node.args[1:]])


def _without_range(code: Code, function: cst.FunctionDef, node: cst.BaseExpression) -> cst.BaseExpression | None:
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return None
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if _is_single(code, function, one):
            return other
    for side in ("left", "right"):
        inner = _without_range(code, function, getattr(node, side))
        if inner is not None:
            return node.with_changes(**{side: inner})
    return None


def _is_single(code: Code, function: cst.FunctionDef, node: cst.BaseExpression) -> bool:
    """``tl.arange(0, 1)``, or a name that is only ever bound to that."""
    if isinstance(node, cst.Name):
        bound = [binding for binding in walk(function) if _binds(binding, node.value)]
        only = bound[0] if len(bound) == 1 else None
        return isinstance(only, cst.Assign) and not isinstance(only.value, cst.Name) and _is_single(code, function, only.value)
    if code.language.called(node) != "arange" or not isinstance(node, cst.Call) or len(node.args) != 2:
        return False
    return [literal(arg.value) for arg in node.args] == [0, 1]


def _binds(node: cst.CSTNode, name: str) -> bool:
    if isinstance(node, cst.Param):
        return node.name.value == name
    targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else []
    targets += [node.target] if isinstance(node, cst.AugAssign | cst.AnnAssign | cst.For) else []
    return any(name in set(names_in(target)) for target in targets)


def _before_loop(code: Code, faulty: Faulty) -> set[cst.CSTNode]:
    """What stands in the functions whose loop fails."""
    loops = set(_loops(code, faulty))
    return {node for function in code.reachable if loops & set(walk(function)) for node in walk(function)}


def _loops(code: Code, faulty: Faulty) -> list[cst.For]:
    """The innermost loop that the failure is about; all loops where that is not known."""
    here = [node for node in nodes_at(code.module, faulty.failure) if isinstance(node, cst.For)]
    return here[-1:] or [node for function in code.reachable for node in walk(function) if isinstance(node, cst.For)]


def _reduced(code: Code, loop: cst.For) -> Iterator[Proposal]:
    """The loop with some of its bounds reduced."""
    if not isinstance(loop.iter, cst.Call) or not (dotted(loop.iter.func) == "range" or code.language.called(loop.iter) == "range"):
        return
    bounds = [arg.value for arg in loop.iter.args if not arg.keyword and literal(arg.value) is None]
    reduced: dict[cst.CSTNode, cst.CSTNode] = {bound: _maximum(code, bound) for bound in bounds}
    for some in [*({name: new} for name, new in reduced.items()), reduced]:
        if some:
            yield Proposal(text=replace(code.module, some).code, notes=(_NOTE,))


def _maximum(code: Code, node: cst.BaseExpression) -> cst.BaseExpression:
    return cst.parse_expression(f"{code.language.name}.max({code.code_for(node)}, 0)")
