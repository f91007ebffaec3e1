"""Functions and values of CuTe DSL, as they are in a running process."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from typing import TYPE_CHECKING

from ....inside.recorder.functions import Forms
from ..adapter.arguments import _ELEMENTS

if TYPE_CHECKING:
    from ....inside.foreign import Function, Value

_NAMES = {name: kind for kind, (name, _, _) in _ELEMENTS.items()}
"""CuTe DSL's name of an element type → its name in kernel files."""
_DECORATED = ("_dsl_object", "_dsl_cls")
"""The attributes that CuTe DSL's decorators set on functions."""


class CuteForms(Forms):
    """The forms of functions and values of CuTe DSL."""

    packages = frozenset({"cutlass", "cuda"})
    public = ("cutlass.cute", "cutlass", "cutlass.utils", "cutlass.pipeline")
    as_written = True
    kept = frozenset({"jit", "kernel", "dsl_user_op", "dataclass", "cache", "lru_cache"})

    of_methods = kept | {
        "staticmethod",
        "classmethod",
        "property",
        "cached_property",
        "setter",
        "override",
        "abstractmethod",
    }

    def plain(self, function: Function) -> Function:
        """The Python function that decorators have wrapped."""
        while isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        return getattr(function, "__func__", function)

    def lines(self, plain: Function) -> tuple[list[str], int]:
        """Return the source with its decorators, and its first line.

        Releases replace the code of functions, and the new code has another first line.
        """
        if not isinstance(plain, types.FunctionType) or not is_decorated(plain):
            return super().lines(plain)
        path, first = inspect.getsourcefile(plain) or "", plain.__code__.co_firstlineno
        for begin, define, end, name in _definitions(path):
            if name == plain.__name__ and begin <= first <= define:
                return linecache.getlines(path)[begin - 1 : end], begin
        return super().lines(plain)

    def dtype(self, value: Value) -> str | None:
        """The name of an element type."""
        return element_name(value)


def is_decorated(function: object) -> bool:
    """Whether a function has the decorator ``@cute.jit`` or ``@cute.kernel``."""
    return any(hasattr(function, name) for name in _DECORATED)


def element_name(kind: object) -> str | None:
    """Return the name of an element type in kernel files.

    Returns ``None`` for everything else, and for a type without a name there.
    """
    if isinstance(kind, type) and kind.__module__.partition(".")[0] == "cutlass":
        return _NAMES.get(kind.__name__)
    return None


def element_source(name: str) -> str:
    """Return the expression for the element type with this name in kernel files."""
    return "cutlass.%s" % _ELEMENTS[name][0]


@functools.lru_cache(maxsize=256)
def _definitions(path: str) -> tuple[tuple[int, int, int, str], ...]:
    """Return the functions in a file.

    Each is its first line with decorators, the line of its ``def``, its last line, and its name.
    """
    tree = ast.parse("".join(linecache.getlines(path)))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return tuple(
        (
            min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]),
            node.lineno,
            node.end_lineno or 0,
            node.name,
        )
        for node in nodes
    )
