"""Edits of helper functions: their text instead of a call, and fewer parameters."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from compat.reduce import module
from compat.reduce.candidate import Candidate
from compat.reduce.edits import Edit, numbers_of


def inline(candidate: Candidate) -> Iterator[Edit]:
    """The body of a helper instead of a call of it: of a call that is a statement, or within one where the helper is one value."""
    tree, numbers = candidate.tree, numbers_of(candidate.tree)
    helpers = {name: function for name, function in module.functions(tree).items() if name != candidate.function}
    for function in module.functions(tree).values():
        for statement in (node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function):
            call = getattr(statement, "value", None)
            if isinstance(call, ast.Call) and (helper := _called(call, helpers)) and helper is not function:
                body = _body(statement, call, helper, function)
                if body is not None:
                    yield Edit(what=f"inline {function.name}: {ast.unparse(statement)}", nodes={numbers[id(statement)]: body})
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            helper = _called(call, helpers)
            if helper and helper is not function and (value := _value(call, helper)) is not None:
                yield Edit(what=f"inline {function.name}: {ast.unparse(call)}", nodes={numbers[id(call)]: (value,)})


def unused(candidate: Candidate) -> Iterator[Edit]:
    """A helper without a parameter that it does not read, and its calls without the argument."""
    tree, numbers = candidate.tree, numbers_of(candidate.tree)
    for name, helper in module.functions(tree).items():
        if name == candidate.function:
            continue
        read = set().union(*(module.loaded(statement) for statement in helper.body))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _named(node) == name]
        for position, argument in enumerate(helper.args.args):
            passed = [_given(call, position, argument.arg) for call in calls]
            if argument.arg not in read and not helper.args.defaults and None not in passed:
                drops = {numbers[id(node)]: () for node in (argument, *passed) if node is not None}
                yield Edit(what=f"{name} without {argument.arg}", nodes=drops)


def _given(call: ast.Call, position: int, name: str) -> ast.AST | None:
    keyword = next((other for other in call.keywords if other.arg == name), None)
    return keyword or (call.args[position] if position < len(call.args) else None)


def _named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _called(call: ast.Call, helpers: dict[str, ast.FunctionDef]) -> ast.FunctionDef | None:
    return helpers.get(_named(call))


def _value(call: ast.Call, helper: ast.FunctionDef) -> ast.expr | None:
    """The value of a call of a helper that is nothing but a value, else ``None``."""
    last, bound = helper.body[-1], _bound(call, helper)
    if len(helper.body) != 1 or not isinstance(last, ast.Return) or last.value is None or bound is None:
        return None
    value: ast.expr = _Renaming(bound).visit(copy.deepcopy(last.value))
    return value


def _body(statement: ast.stmt, call: ast.Call, helper: ast.FunctionDef, caller: ast.FunctionDef) -> Sequence[ast.stmt] | None:
    """What ``statement``, whose value is the call, does, without the call; ``None`` where the helper returns in its middle."""
    bound = _bound(call, helper)
    *before, last = helper.body
    if bound is None or any(isinstance(node, ast.Return) for inner in before for node in ast.walk(inner)):
        return None
    if any(isinstance(node, ast.Return) for node in ast.walk(last)) and not isinstance(last, ast.Return):
        return None
    changed = set().union(*(module.stored(inner) for inner in helper.body))
    used = module.stored(caller) | module.loaded(caller) | set(module.parameters(caller))
    local: dict[str, ast.expr] = {name: ast.Name(_free(name, used)) for name in sorted(changed)}
    names = {**{name: value for name, value in bound.items() if name not in changed}, **local}
    body: list[ast.stmt] = [_assign(local[name], bound[name]) for name in bound if name in changed]
    body += [_Renaming(names).visit(copy.deepcopy(inner)) for inner in before]
    return [*body, *_end(statement, last, names)]


def _end(statement: ast.stmt, last: ast.stmt, names: dict[str, ast.expr]) -> list[ast.stmt]:
    if not isinstance(last, ast.Return):
        return [_Renaming(names).visit(copy.deepcopy(last))]
    end = copy.deepcopy(statement)
    if last.value is None:
        return []
    end.value = _Renaming(names).visit(copy.deepcopy(last.value))  # type: ignore[attr-defined]
    return [end]


def _bound(call: ast.Call, helper: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """Parameter → what the call gives for it; ``None`` for calls that are not that simple."""
    names = module.parameters(helper)
    if any(isinstance(arg, ast.Starred) for arg in call.args) or len(call.args) > len(names):
        return None
    bound = dict(zip(names, call.args, strict=False)) | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    defaults = helper.args.defaults
    for argument, default in zip(helper.args.args[len(helper.args.args) - len(defaults) :], defaults, strict=True):
        bound.setdefault(argument.arg, default)
    return bound if set(bound) == set(names) else None


def _free(name: str, taken: set[str]) -> str:
    """``name``, or where the caller has one like it, one that is free."""
    free = name
    while free in taken:
        free += "_"
    return free


def _assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    assert isinstance(target, ast.Name)
    return ast.Assign(targets=[ast.Name(target.id, ast.Store())], value=copy.deepcopy(value), lineno=1)


class _Renaming(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        new = self._names.get(node.id)
        if new is None:
            return node
        if isinstance(new, ast.Name):
            return ast.Name(new.id, node.ctx)
        return copy.deepcopy(new)
