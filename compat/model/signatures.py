"""The types of run-time arguments, and the paths to elements of those that are tuples.

A type is what the toolchain calls it (``*fp16``, ``i32``), or of a tuple the types of its elements, nested as deep as wanted.
``CONSTEXPR`` stands for an element that is known when the kernel is compiled; its value is among the constexprs. Elements are
named by their paths: ``shape[1]``, ``args[0][2]``. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compat.text import lazy_pattern

ArgumentType = str | tuple[Any, ...]
"""A type: a name, or the types of a tuple's elements."""
CONSTEXPR = "constexpr"
_PATH = lazy_pattern(r"(?P<parameter>[^\[\]]+)(?P<indices>(?:\[(?:0|[1-9]\d{0,5})\])*)")


def read(value: Any) -> Any:
    """A type as kernel files and JSON have it, arrays for tuples, in the form that it has here; anything else as it is."""
    return tuple(map(read, value)) if isinstance(value, list) else value


def plain(kind: Any) -> Any:
    """A type as kernel files and JSON have it: what :func:`read` reads."""
    return [plain(each) for each in kind] if isinstance(kind, tuple) else kind


def leaves(signature: Mapping[str, ArgumentType]) -> dict[str, str]:
    """Path → type, of every argument that is no tuple and of every element that is none."""
    return {path: found for name, kind in signature.items() for path, found in _leaves(name, kind)}


def _leaves(path: str, kind: ArgumentType) -> Iterator[tuple[str, str]]:
    if isinstance(kind, str):
        yield path, kind
    else:
        for index, each in enumerate(kind):
            yield from _leaves(f"{path}[{index}]", each)


def split(path: str) -> tuple[str, tuple[int, ...]]:
    """The parameter that a path begins with, and the indices that follow; what is no path is taken for a parameter."""
    found = _PATH.fullmatch(path)
    if found is None:
        return path, ()
    return found["parameter"], tuple(int(index) for index in re.findall(r"\d+", found["indices"]))


def parameter_of(path: str) -> str:
    """The parameter that a path begins with."""
    return split(path)[0]


def shown(kind: ArgumentType) -> str:
    """A type as a report shows it: ``*fp16``, ``(i32, i32)``."""
    if isinstance(kind, str):
        return kind
    inner = ", ".join(map(shown, kind))
    return f"({inner},)" if len(kind) == 1 else f"({inner})"


def shown_all(signature: Mapping[str, ArgumentType]) -> str:
    """A signature as a report shows it: ``x: *fp16, shape: (i32, i32)``."""
    return ", ".join(f"{name}: {shown(kind)}" for name, kind in signature.items())
