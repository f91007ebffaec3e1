"""The sources of the tree's modules, each parsed and compiled once.

A module is imported several times, once for each way that :mod:`.source` tries. No code of the tree
runs here.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

REQUIRE_KNOWN = "_compat_known"
"""The name by which code of the tree calls :func:`.opaque.require_known`."""
_QUESTIONS = ("type", "callable", "id")
_MAY_BE_QUESTIONS = (ast.Compare, ast.Call)
_LINE_END = re.compile(rb"\r\n?|\n")
_MAY_ASK = re.compile(rb"\b(?:is|%s)\b" % "|".join(_QUESTIONS).encode())


class ModuleSource:
    """The source of a module, with its syntax tree and its code.

    In the tree and the code, :func:`.opaque.require_known` checks the operands of ``is`` and the
    arguments of ``type``, ``callable`` and ``id``. Python answers these questions without asking
    the value itself.
    """

    def __init__(self, data: bytes, path: str) -> None:
        """Parse the source. Raises the errors of ``ast.parse``."""
        self.data, self.path = data, path
        self.tree = ast.parse(data, path)
        _ask(self.tree, _lines_that_may_ask(data))
        self.block_lengths: dict[int, int] = {}
        """Index of a function's first line → the number of its lines."""
        self._codes: dict[ast.stmt, CodeType] = {}
        self._parts: dict[ast.stmt, tuple[ast.stmt, ...]] = {}

    @functools.cached_property
    def code(self) -> CodeType:
        """The code of the whole module."""
        code: CodeType = compile(self.tree, self.path, "exec", dont_inherit=True)
        return code

    @functools.cached_property
    def flags(self) -> int:
        """The compiler flags of the module's ``from __future__`` imports."""
        import __future__

        futures: list[ast.stmt] = [
            node
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ]
        code = compile(ast.Module(futures, []), self.path, "exec", dont_inherit=True)
        features = (getattr(__future__, name) for name in __future__.all_feature_names)
        flags: int = code.co_flags & sum(feature.compiler_flag for feature in features)
        return flags

    def code_of(self, statement: ast.stmt) -> CodeType:
        """Return the code of one statement of the module."""
        if statement not in self._codes:
            self._codes[statement] = compile(
                ast.Module([statement], []), self.path, "exec", self.flags, dont_inherit=True
            )
        return self._codes[statement]

    def parts_of(self, statement: ast.stmt) -> tuple[ast.stmt, ...]:
        """Return a statement of the module, and one statement per name for an import of several."""
        if statement not in self._parts:
            self._parts[statement] = tuple(_parts(statement))
        return self._parts[statement]


SOURCES: dict[str, ModuleSource] = {}
"""Path of a module of the tree → its source."""


def parse(data: bytes, path: str) -> ModuleSource:
    """Return a parsed source, from ``SOURCES`` if the same data has been parsed before.

    Raises the errors of ``ast.parse``.
    """
    source = SOURCES.get(path)
    if source is None or source.data != data:
        source = SOURCES[path] = ModuleSource(data, path)
    return source


# --- the lines of a function ----------------------------------------------------------------------

_lines_of: Callable[[Any], tuple[list[str], int]] = inspect.getsourcelines
inspect.getblock(["pass\n"])  # Python keeps its pattern of tokens, for all children of a server


def remember_blocks() -> None:
    """Make ``inspect`` find the end of a function of the tree once, however often it is imported.

    A decorator of Triton asks for the source of its function, and Python searches for the end of
    the function token by token. In a library of kernels, that takes half of the import time.
    """
    inspect.getsourcelines = _source_lines


def _source_lines(object: Any) -> tuple[list[str], int]:  # noqa: A002 - as `inspect` calls it
    source = SOURCES.get(object.__code__.co_filename) if type(object) is FunctionType else None
    if source is None or hasattr(object, "__wrapped__"):
        return _lines_of(object)
    lines, index = inspect.findsource(object)
    if index not in source.block_lengths:
        source.block_lengths[index] = len(inspect.getblock(lines[index:]))
    return lines[index : index + source.block_lengths[index]], index + 1


# --- questions that Python answers without asking the value itself --------------------------------


def _lines_that_may_ask(data: bytes) -> list[int]:
    return [number for number, line in enumerate(_LINE_END.split(data), 1) if _MAY_ASK.search(line)]


def _ask(tree: ast.Module, lines: list[int]) -> None:
    for node in list(_may_ask(tree, lines)):
        if isinstance(node, ast.Compare):
            if any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops):
                node.left = _known_call(node.left)
                node.comparators = [_known_call(comparator) for comparator in node.comparators]
        elif (
            isinstance(node.func, ast.Name)
            and node.func.id in _QUESTIONS
            and len(node.args) == 1
            and not node.keywords
        ):
            node.args = [_known_call(node.args[0])]


def _may_ask(tree: ast.Module, lines: list[int]) -> Iterator[ast.Compare | ast.Call]:
    """Yield the comparisons and calls that extend over one of these lines.

    A large library has millions of nodes. Nodes that extend over none of the lines are skipped.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            # Before Python 3.12, the line numbers of inner nodes can be wrong.
            yield from (inner for inner in ast.walk(node) if isinstance(inner, _MAY_BE_QUESTIONS))
            continue
        if isinstance(node, _MAY_BE_QUESTIONS):
            yield node
        waiting += (inner for inner in ast.iter_child_nodes(node) if _is_over(inner, lines))


def _is_over(node: Any, lines: list[int]) -> bool:
    if not hasattr(node, "lineno"):
        return True
    # Decorators stand before the line of their function.
    first = min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))
    following = bisect_left(lines, first)
    return following < len(lines) and lines[following] <= node.end_lineno


def _known_call(value: ast.expr) -> ast.expr:
    if isinstance(value, (ast.Constant, ast.Starred)):
        return value
    return ast.copy_location(
        ast.Call(ast.copy_location(ast.Name(REQUIRE_KNOWN, ast.Load()), value), [value], []), value
    )


def _parts(statement: ast.stmt) -> Iterator[ast.stmt]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)) and len(statement.names) > 1:
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                yield ast.copy_location(ast.Import([alias]), statement)
            else:
                yield ast.copy_location(
                    ast.ImportFrom(statement.module, [alias], statement.level), statement
                )
    else:
        yield statement
