"""Source whose questions can be heard: Python answers some of them without asking the value itself."""

from __future__ import annotations

import ast
import builtins
import copy
from typing import Any, TypeVar

from .opaque import known

_NAME = "_compat_known"
_QUESTIONS = ("type", "callable", "id")

Node = TypeVar("Node", bound=ast.AST)


def audible(tree: Node) -> Node:
    """A copy in which the operands of ``is`` and what is given to ``type`` and ``callable`` go through :func:`.opaque.known`."""
    setattr(builtins, _NAME, known)
    found: Node = _Asking().visit(copy.deepcopy(tree))
    return ast.fix_missing_locations(found)


class _Asking(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops):
            node.left, *node.comparators = [_asked(each) for each in (node.left, *node.comparators)]
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _QUESTIONS and len(node.args) == 1 and not node.keywords:
            node.args = [_asked(node.args[0])]
        return node


def _asked(value: ast.expr) -> ast.expr:
    if isinstance(value, (ast.Constant, ast.Starred)):
        return value
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(_NAME, ast.Load()), value), [value], []), value)
