"""Source whose questions can be heard: Python answers some of them without asking the value itself."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from .opaque import known

KNOWN = "_compat_known"
"""What asks is called so in the source."""
_QUESTIONS = ("type", "callable", "id")
_TREES: dict[str, tuple[bytes, ast.Module]] = {}


def audible(data: bytes, path: str) -> ast.Module:
    """A source in which the operands of ``is`` and what is given to ``type`` and ``callable`` go through :func:`.opaque.known`.

    It is parsed once: a module can be imported several times.
    """
    found = _TREES.get(path)
    if found is None or found[0] != data:
        setattr(builtins, KNOWN, known)
        found = _TREES[path] = data, _Asking().visit(ast.parse(data, path))
    return found[1]


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
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(KNOWN, ast.Load()), value), [value], []), value)
