"""Which lines handle that something is absent: what fails there is taken for an answer."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any

_ABSENCE = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement has others. An expression has none, so that most of a tree need not be looked at."""
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


def is_guarded(frame: Any) -> bool:
    """Whether the line that a frame runs is inside a ``try`` that goes on where an attribute or a module is absent."""
    return frame.f_lineno in _guarded_lines(frame.f_code.co_filename)


@functools.lru_cache(maxsize=None)
def _guarded_lines(path: str) -> frozenset[int]:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(line for body in _tried(tree) for line in _lines(body))


def _tried(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if _is_try(node) or _is_suppression(node):
            yield node.body  # type: ignore[attr-defined]
        waiting += (each for field in _BLOCKS for each in getattr(node, field, ()))


def _is_try(node: ast.AST) -> bool:
    return isinstance(node, _TRIES) and any(_handles_absence(handler.type) for handler in node.handlers)


def _is_suppression(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any("suppress" in ast.dump(item.context_expr) for item in node.items)


def _handles_absence(kind: ast.expr | None) -> bool:
    """Whether a handler is for errors of absence; one that is neither named nor a tuple of names may be."""
    if isinstance(kind, ast.Tuple):
        return any(_handles_absence(each) for each in kind.elts)
    return not isinstance(kind, ast.Name) or kind.id in _ABSENCE


def _lines(body: list[ast.stmt]) -> Iterator[int]:
    for statement in body:
        yield from range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
