"""Edits of expressions: a part instead of the whole, a number instead of a value, fewer arguments, smaller numbers."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from compat.reduce import module
from compat.reduce.candidate import Candidate
from compat.reduce.edits import Edit, numbers_of

_POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_FEW = (0, 1, 16)
"""What is tried of numbers that stand in one place; 16 is the least that ``tl.dot`` takes."""


def keywords(candidate: Candidate) -> Iterator[Edit]:
    """Calls without one of their keyword arguments: masks, ``other=``, ``axis=``, cache hints."""
    numbers = numbers_of(candidate.tree)
    for place, node in _sites(candidate):
        if isinstance(node, ast.Call):
            for number, keyword in enumerate(node.keywords):
                yield Edit(what=f"without {keyword.arg} {number} {place}", nodes={numbers[id(keyword)]: ()})


def arguments(candidate: Candidate) -> Iterator[Edit]:
    """Calls without one of their positional arguments, tuples and lists without one of their elements."""
    numbers = numbers_of(candidate.tree)
    for place, node in _sites(candidate):
        elements = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple | ast.List) else []
        for number, element in reversed(list(enumerate(elements))):
            yield Edit(what=f"argument {number} {place}", nodes={numbers[id(element)]: ()})


def hoist(candidate: Candidate) -> Iterator[Edit]:
    """One of its operands, arguments or elements instead of an expression; the heaviest expressions first."""
    numbers = numbers_of(candidate.tree)
    for place, node in sorted(_sites(candidate), key=lambda site: -len(site[0])):
        for number, part in enumerate(_parts(node, candidate.language.modules)):
            yield Edit(what=f"part {number} {place}", nodes={numbers[id(node)]: (part,)})


def _parts(node: ast.expr, modules: Container[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Attribute):
        children: list[ast.expr] = [node.value] if not isinstance(node.value, ast.Name) else []
    elif isinstance(node, ast.Call):
        method = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in modules
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) and method else []  # `x` of `x.to(…)`
        children = [*owner, *node.args, *(keyword.value for keyword in node.keywords)]
    else:
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    yield from (child for child in children if not isinstance(child, ast.Slice | ast.Starred))


def values(candidate: Candidate) -> Iterator[Edit]:
    """A simple value instead of an expression: of the same shape and element type where they can be told, or a zero."""
    numbers = numbers_of(candidate.tree)
    values_of = candidate.language.values(module.functions(candidate.tree)[candidate.function].body, candidate.compile)
    for place, node in sorted(_sites(candidate), key=lambda site: -len(site[0])):
        for number, value in enumerate(values_of(node)):
            if ast.dump(value) != ast.dump(node):
                yield Edit(what=f"value {number} {place}", nodes={numbers[id(node)]: (value,)})


def literals(candidate: Candidate) -> Iterator[Edit]:
    """Smaller whole numbers, the smallest first: wherever a number stands at once, then in one place."""
    numbers = numbers_of(candidate.tree)
    sites = [(place, node) for place, node in _sites(candidate) if isinstance(node, ast.Constant) and type(node.value) is int]
    for large in sorted({node.value for _, node in sites if isinstance(node.value, int)}, reverse=True):
        same = [numbers[id(node)] for _, node in sites if node.value == large]
        for small in _smaller(large):
            yield Edit(what=f"{small} for every {large}", nodes=dict.fromkeys(same, (ast.Constant(small),)))
    for place, node in sites:
        assert isinstance(node.value, int)
        for small in (few for few in _FEW if few < node.value):
            yield Edit(what=f"{small} {place}", nodes={numbers[id(node)]: (ast.Constant(small),)})


def _smaller(number: int) -> list[int]:
    return [small for small in (0, *_POWERS) if small < number]


def _sites(candidate: Candidate) -> Iterator[tuple[str, ast.expr]]:
    """Every expression of every function's body that is read, with words that say which."""
    for function in module.functions(candidate.tree).values():
        for statement in function.body:
            for node, around in _expressions(statement):
                yield f"{function.name}: {ast.unparse(node)} in {ast.unparse(around).splitlines()[0]}", node


def _expressions(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.stmt]]:
    waiting: list[tuple[ast.AST, ast.stmt]] = [(statement, statement)]
    while waiting:
        node, around = waiting.pop(0)
        callee = node.func if isinstance(node, ast.Call) else None
        for child in ast.iter_child_nodes(node):
            inner = child if isinstance(child, ast.stmt) else around
            if child is callee and isinstance(child, ast.Name | ast.Attribute):
                if isinstance(child, ast.Attribute) and not isinstance(child.value, ast.Name):
                    waiting.append((child, inner))  # x.sum().to(…): what the method is called on
                continue
            if isinstance(child, ast.expr) and _is_value(child):
                yield child, inner
            if not (isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name)):
                waiting.append((child, inner))


def _is_value(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not isinstance(node, ast.Slice | ast.Starred)
