"""How a kernel is reached from the names of its module: ``kernel``, ``Holder.kernel``, ``make(64)``. Pure."""

from __future__ import annotations

import ast

from compat.bundle.closure import Parameters, Source, parameters_of
from compat.bundle.parsing import expression_of
from compat.bundle.scopes import bound_by


class NotReachable(ValueError):
    """An expression that is none of these forms, or that begins with a name that the module does not bind."""


def reached(source: Source, expression: str) -> Parameters | None:
    """The parameters of what an expression reaches; ``None`` where only importing the module can tell.

    A call takes literals only. Raises NotReachable.
    """
    try:
        node = expression_of(expression)
    except SyntaxError as error:
        raise NotReachable(f"has no function that {expression!r} could mean") from error
    root = _root(node, expression)
    if isinstance(node, ast.Name) and root in source.functions:
        return source.functions[root]
    definition = next((each for each in reversed(source.tree.body) if getattr(each, "name", None) == root), None)
    if definition is None and not any(root in bound_by(each) for each in source.tree.body):
        raise NotReachable(f"defines no function {root!r}")
    found = _definition(definition, node)
    return parameters_of(found.args) if found else None


def _root(node: ast.expr, expression: str) -> str:
    """The name that an expression begins with."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call) and all(map(_is_literal, [*node.args, *(each.value for each in node.keywords)])):
            node = node.func
        else:
            raise NotReachable(f"has no function that {expression!r} could mean")
    return node.id


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _definition(definition: ast.stmt | None, node: ast.expr) -> ast.FunctionDef | None:
    """The function that a class holds under a name, or that a factory returns by its name."""
    if isinstance(definition, ast.ClassDef) and isinstance(node, ast.Attribute):
        return _function(definition.body, node.attr)
    if isinstance(definition, ast.FunctionDef) and isinstance(node, ast.Call):
        returned = [each.value.id for each in definition.body if isinstance(each, ast.Return) and isinstance(each.value, ast.Name)]
        return _function(definition.body, returned[-1]) if returned else None
    return None


def _function(body: list[ast.stmt], name: str) -> ast.FunctionDef | None:
    return next((each for each in reversed(body) if isinstance(each, ast.FunctionDef) and each.name == name), None)
