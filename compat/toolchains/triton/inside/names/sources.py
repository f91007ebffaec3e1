"""Facts from sources of functions: deprecations, functions that only raise, attributes of objects.

The attributes are those that a constructor sets.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from typing import NamedTuple, Union

_DEPRECATED = re.compile(
    r"deprecat|will be removed|has been removed|have been removed", re.IGNORECASE
)
_FIELD = re.compile(r"^[ \t]*:(?P<what>\w+)(?:[ \t]+(?:\w+[ \t]+)?(?P<name>\w+))?:", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!])\s+")
_LONGEST = 400

_FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class SourceFacts(NamedTuple):
    """The facts in a function's source, or in a docstring."""

    deprecated: list[str]
    warns: list[str]
    refuses: str
    parameters: dict[str, str]
    """Parameter → the text about its deprecation."""


_files: dict[str, dict[int, _FunctionNode]] = {}


def of(function: types.FunctionType) -> SourceFacts:
    """Return the facts in the docstring and the body of a function."""
    doc = of_docstring(function.__doc__)
    node = _node(function)
    if node is None:
        return doc
    always, sometimes = _warnings(node, function)
    return SourceFacts(
        [*doc.deprecated, *always], sometimes, _refusal(node, function), doc.parameters
    )


def of_docstring(text: object) -> SourceFacts:
    """Return the facts in a docstring, which are empty if it is not a string."""
    if not isinstance(text, str) or not _DEPRECATED.search(text):
        return SourceFacts([], [], "", {})
    fields = list(_FIELD.finditer(text))
    body = text[: fields[0].start()] if fields else text
    parameters: dict[str, str] = {}
    ends = [*(field.start() for field in fields[1:]), len(text)]
    for number, field in enumerate(fields):
        sentences = _sentences(text[field.end() : ends[number]])
        if field["what"] == "param" and field["name"] and sentences:
            parameters[field["name"]] = sentences
    sentences = _sentences(body)
    return SourceFacts([sentences] if sentences else [], [], "", parameters)


def _sentences(text: str) -> str:
    """Return the sentences of a text that mention a deprecation."""
    sentences = [
        part for part in _SENTENCE.split(" ".join(text.split())) if _DEPRECATED.search(part)
    ]
    return " ".join(sentences)[:_LONGEST]


def speaks_of_removal(text: str) -> bool:
    """Return whether a text says that something is deprecated or removed."""
    return bool(_DEPRECATED.search(text))


def _node(function: types.FunctionType) -> _FunctionNode | None:
    """Return the syntax tree of a function, or ``None`` if its source is missing."""
    code = function.__code__
    if code.co_filename not in _files:
        _files[code.co_filename] = _functions(code.co_filename)
    return _files[code.co_filename].get(code.co_firstlineno)


def _functions(path: str) -> dict[int, _FunctionNode]:
    """Return first line → function. A function with decorators begins at the first of them."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    functions: dict[int, _FunctionNode] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for child in getattr(node, "body", ()):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = [child.lineno, *(decorator.lineno for decorator in child.decorator_list)]
                functions[min(lines)] = child
            if hasattr(child, "body") and isinstance(child.body, list):
                waiting.append(child)
    return functions


def _warnings(node: _FunctionNode, function: types.FunctionType) -> tuple[list[str], list[str]]:
    """Return the deprecations that a function always warns of, and the conditional ones."""
    if not any("warn" in name for name in function.__code__.co_names):
        return [], []
    always = [statement.value for statement in node.body if isinstance(statement, ast.Expr)]
    deprecations: tuple[list[str], list[str]] = ([], [])
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and "warn" in _last_name(call.func) and call.args:
            text = _text(call.args[0], function) or ""
            category = " ".join(_last_name(arg) for arg in call.args[1:])
            if text and _DEPRECATED.search(text + " " + category):
                deprecations[call not in always].append(text[:_LONGEST])
    return deprecations


def _last_name(node: object) -> str:
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )


def _text(node: ast.AST, function: types.FunctionType) -> str | None:
    """Return the string that a node writes out, or names as a global of the function's module."""
    if isinstance(node, ast.Name):
        value = function.__globals__.get(node.id)
        return value if isinstance(value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_piece(part) for part in node.values)
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _piece(node: object) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "…"


def _refusal(node: _FunctionNode, function: types.FunctionType) -> str:
    """Return the error of a function that does nothing but raise, or an empty string."""
    body = [statement for statement in node.body if not _is_docstring(statement)]
    if (
        len(body) != 1
        or not isinstance(body[0], ast.Raise)
        or not isinstance(body[0].exc, ast.Call)
    ):
        return ""
    raised = body[0].exc
    message = _text(raised.args[0], function) if raised.args else None
    return f"{_last_name(raised.func)}: {message[:_LONGEST]}" if message else ""


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def attributes(value: type) -> set[str]:
    """Return the attributes that the constructor of a class of Triton sets on its objects.

    Attributes of classes that it inherits from are included.
    """
    return {name for owner in value.__mro__ for name in _set_by(vars(owner).get("__init__"))} | {
        name for owner in value.__mro__ for name in getattr(owner, "__dataclass_fields__", ())
    }


def _set_by(function: object) -> Iterator[str]:
    node = _node(function) if isinstance(function, types.FunctionType) else None
    if node is None or not node.args.args:
        return
    own = node.args.args[0].arg
    for attribute in ast.walk(node):
        if (
            isinstance(attribute, ast.Attribute)
            and isinstance(attribute.ctx, ast.Store)
            and isinstance(attribute.value, ast.Name)
            and attribute.value.id == own
        ):
            yield attribute.attr
