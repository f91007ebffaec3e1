"""Edits of statements: take away, unwrap, merge a name into its only use."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence

from compat.reduce import module
from compat.reduce.candidate import Candidate
from compat.reduce.edits import Edit, numbers_of, statements_of

_WIDTH = 100
"""Columns that a line may have after a name was merged into it."""


def drop(candidate: Candidate) -> Iterator[Edit]:
    """Take a statement away; what reads the names that it alone defined goes with it."""
    numbers = numbers_of(candidate.tree)
    for function, statement in _in_order(candidate):
        if not isinstance(statement, ast.Pass) or len(function.body) > 1:
            yield Edit(what=f"drop {_place(function, statement)}", nodes={numbers[id(statement)]: ()})


def unwrap(candidate: Candidate) -> Iterator[Edit]:
    """Put the body of a loop, a condition or a ``with`` in its place; of a loop it is the first round."""
    numbers = numbers_of(candidate.tree)
    for function, statement in _in_order(candidate):
        for number, body in enumerate(_bodies(statement)):
            yield Edit(what=f"unwrap {number} {_place(function, statement)}", nodes={numbers[id(statement)]: body})


def _bodies(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    if isinstance(statement, ast.For):
        yield statement.body
        yield [_assign(statement.target, _first_of(statement.iter)), *statement.body]
    elif isinstance(statement, ast.While | ast.With):
        yield statement.body
    elif isinstance(statement, ast.If):
        yield statement.body
        if statement.orelse:
            yield statement.orelse


def _first_of(iterable: ast.expr) -> ast.expr:
    """What a loop's variable is in the first round."""
    if isinstance(iterable, ast.Call) and len(iterable.args) > 1:
        return iterable.args[0]
    return ast.Constant(0)


def simplify(candidate: Candidate) -> Iterator[Edit]:
    """``x += y`` as ``x = y``, ``a, b = c, d`` as two statements, an assignment of a call as the call alone."""
    numbers = numbers_of(candidate.tree)
    for function, statement in _in_order(candidate):
        for number, simpler in enumerate(_simpler(statement)):
            yield Edit(what=f"simplify {number} {_place(function, statement)}", nodes={numbers[id(statement)]: simpler})


def _simpler(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    if isinstance(statement, ast.AugAssign):
        yield [_assign(statement.target, statement.value)]
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield [_assign(statement.target, statement.value)]
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield [_assign(name, element) for name, element in zip(target.elts, value.elts, strict=True)]
        elif isinstance(target, ast.Tuple):
            yield from ([_assign(name, value)] for name in target.elts)
        yield [ast.Expr(value)]
    if isinstance(statement, ast.Return) and statement.value is not None:
        yield [ast.Expr(statement.value)]


def merge(candidate: Candidate) -> Iterator[Edit]:
    """Write the value of a name that is given once where the name is read: once; more often if it is but a name or number."""
    numbers = numbers_of(candidate.tree)
    for function in module.functions(candidate.tree).values():
        stores, read = _givings(function), _readings(function)
        for statement in ast.walk(function):
            if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
                continue
            target, value, uses = statement.targets[0], statement.value, []
            if isinstance(target, ast.Name) and stores[target.id] == 1:
                uses = read.get(target.id, [])
            plain = isinstance(value, ast.Constant | ast.Name) and all(stores[name] < 2 for name in module.loaded(value))
            if uses and (plain or len(uses) == 1) and (plain or _fits(function, uses[0], value)):
                nodes = {numbers[id(use)]: (value,) for use in uses}
                yield Edit(what=f"merge {_place(function, statement)}", nodes={numbers[id(statement)]: (), **nodes})


def _givings(function: ast.FunctionDef) -> Counter[str]:
    """How often each name is given a value in a function; a parameter is given one by the call."""
    stores = Counter(module.parameters(function))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stores[node.id] += 1
    return stores


def _readings(function: ast.FunctionDef) -> dict[str, list[ast.Name]]:
    read: dict[str, list[ast.Name]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.setdefault(node.id, []).append(node)
    return read


def _fits(function: ast.FunctionDef, use: ast.Name, value: ast.expr) -> bool:
    """Whether the line stays readable."""
    around = min((s for s in ast.walk(function) if isinstance(s, ast.stmt) and _has(s, use)), key=lambda s: len(ast.unparse(s)))
    return around.col_offset + len(ast.unparse(around).splitlines()[0]) - len(use.id) + len(ast.unparse(value)) <= _WIDTH


def _has(statement: ast.stmt, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(statement))


def _assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    return ast.Assign(targets=[copy.deepcopy(target)], value=copy.deepcopy(value), lineno=1)


def _in_order(candidate: Candidate) -> list[tuple[ast.FunctionDef, ast.stmt]]:
    """Statements in the order of the text, so that neighbours in a list are neighbours in the kernel; the last first.

    What comes last is needed by nothing, so it is the likeliest to go.
    """
    return sorted(statements_of(candidate), key=lambda found: found[1].lineno, reverse=True)


def _place(function: ast.FunctionDef, statement: ast.stmt) -> str:
    return f"{function.name}: {ast.unparse(statement)}"
