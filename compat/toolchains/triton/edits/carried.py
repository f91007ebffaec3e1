"""A variable that enters a loop with one type and leaves an iteration with another gets one type.

First its value before the loop is made of the type that the loop gives it, which loses nothing where that one is wider; then what
the loop assigns is converted back to the type that it has before, which is said, since it may round.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from compat.text import lazy_pattern
from compat.toolchains.edits import Faulty, Proposal
from compat.toolchains.triton.edits.code import Code, nodes_at, parenthesized, replace, walk

_SAID = lazy_pattern(r"[Ll]oop[- ]carried variable (?P<name>\w+)")
_TYPE = lazy_pattern(
    r"(?:re-?assigned to|stays consistent.*?to|but (?:is|was)|of type|with type)\s+(?:<\[.*?\],\s*)?(?:tl\.)?(?P<type>[a-z]+\d+\w*)"
)
_DTYPES = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16"}
_DTYPES |= {f"i{bits}": f"int{bits}" for bits in (1, 8, 16, 32, 64)} | {f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}
_ROUNDS = "{name} keeps the type that it has before the loop: what the loop computes is converted to it, which may round"


def proposals(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with the variable of one type."""
    match = _SAID.search(faulty.failure.excerpt)
    if match is None:
        return
    code, name = Code.of(faulty.text, faulty.function), match["name"]
    loops = _loops(code, faulty, name)
    types = [_DTYPES[name] for name in _TYPE.findall(faulty.failure.excerpt.replace("'", "")) if name in _DTYPES]
    for loop, function in loops:
        inside = [node for node in walk(loop.body) if _assigns(node, name)]
        before = [node for node in walk(function.body) if _assigns(node, name) and node not in set(walk(loop))]
        for dtype in dict.fromkeys([*reversed(types), "float32", "int64"]):
            if before:
                last = before[-1]
                yield Proposal(
                    text=replace(code.module, {last: _converted(code, last, f"{code.language.name}.{dtype}", before=True)}).code
                )
        if inside:
            back = {node: _converted(code, node, f"{name}.dtype", before=False) for node in inside}
            yield Proposal(text=replace(code.module, dict(back)).code, notes=(_ROUNDS.format(name=name),))


def _loops(code: Code, faulty: Faulty, name: str) -> list[tuple[cst.For | cst.While, cst.FunctionDef]]:
    """Loops that assign the variable, the one that the failure is about first."""
    loops = [
        (node, function)
        for function in code.reachable
        for node in walk(function)
        if isinstance(node, cst.For | cst.While) and any(_assigns(inner, name) for inner in walk(node.body))
    ]
    here = set(nodes_at(code.module, faulty.failure))
    return sorted(loops, key=lambda pair: pair[0] not in here)


def _assigns(node: cst.CSTNode, name: str) -> bool:
    """Whether a statement gives the variable a value, and nothing else one."""
    if isinstance(node, cst.Assign):
        return len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name) and node.targets[0].target.value == name
    return isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name) and node.target.value == name


def _converted(code: Code, node: cst.CSTNode, dtype: str, *, before: bool) -> cst.CSTNode:
    assert isinstance(node, cst.Assign | cst.AugAssign)
    text = code.code_for(node.value)
    if isinstance(node.value, cst.Integer) and before and dtype.endswith(".float32"):
        return node.with_changes(value=cst.Float(f"{text}.0"))
    if isinstance(node.value, cst.Integer | cst.Float | cst.UnaryOperation) and before:
        return node.with_changes(value=cst.parse_expression(f"{code.language.name}.full((), {text}, {dtype})"))
    dtypes = [argument for argument in getattr(node.value, "args", ()) if _is_dtype(code, argument)]
    if before and dtypes:
        return node.with_changes(value=replace_in(node.value, dtypes[0].value, cst.parse_expression(dtype)))
    return node.with_changes(value=cst.parse_expression(f"{parenthesized(text)}.to({dtype})"))


def _is_dtype(code: Code, argument: cst.Arg) -> bool:
    return code.language.member(argument.value) in _DTYPES.values()


def replace_in(tree: cst.BaseExpression, old: cst.CSTNode, new: cst.CSTNode) -> cst.BaseExpression:
    """An expression with a part of it replaced."""
    changed = tree.deep_replace(old, new)
    assert isinstance(changed, cst.BaseExpression)
    return changed
