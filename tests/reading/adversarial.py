"""Texts that make patterns backtrack, for functions that read the output of compilers.

Some texts are made from the patterns of these functions.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from compat.text import Lazy

SMALL, LARGE = 512, 4 * 512
"""Characters. A function that cuts texts does so after about 4,000, and never reads the rest."""
_ENOUGH = 0.004
"""Seconds below which a time is not worth comparing."""
_MOST = 0.25
"""Seconds that reading a large text may take on a slow machine."""
_GROWTH = 7
"""The limit for the growth of a time.

Linear time grows to four times as much, and quadratic time to sixteen times.
"""
_TRIES = 3
"""A text that is slow in every try is slow. A text that is slow only once was interrupted."""


def general(size: int) -> Iterator[tuple[str, str]]:
    """Names and texts. Each text has about ``size`` characters."""
    unit = {
        "one word of hex": "deadbeef",
        "one word with dots": "ab.cd-ef.",
        "digits": "1234567890",
        "numbers": "1.1",
        "shape": "16x",
        "spaces": " ",
        "tabs and spaces": " \t",
        "newlines": "\n",
        "short lines": "x\n",
        "indented lines": "  x = y\n",
        "open parentheses": "(",
        "parentheses": "()",
        "deep locations": "loc(",
        "locations": 'loc("k.py":1:2) ',
        "open locations": "loc(x ",
        "quotes": '"',
        "escaped quotes": '\\"',
        "backticks": "`",
        "backslashes": "\\",
        "braces": "{",
        "equals in a brace": "a = ",
        "slashes": "/",
        "path": "/a",
        "plus path": "/+",
        "dashes": "a-",
        "colons": "a:1: ",
        "carets": "   ^\n",
        "percents": "%a, ",
        "hashes": "#a ",
        "semicolons": " ;",
        "commas": "a, ",
        "escape sequences": "\x1b[31m",
        "NUL": "\0",
        "surrogates": "\ud800",
        "wide": "é",
        "resources": "{-#\n",
        "headings": "// -----// IR Dump Before CSE (cse) //----- //\n",
        "tracebacks": "Traceback (most recent call last):\n",
        "frames": '  File "k.py", line 1, in f\n    x\n',
    }
    for name, piece in unit.items():
        yield name, _long(piece, size)
    for begin in ('"', "(", "{", "loc(", "ValueError('", "x: Assertion `", "`", "#a = #b<{"):
        for piece in ("x", " ", "\\", "=", "x "):
            yield f"{begin!r} without its end, then {piece!r}", begin + _long(piece, size)
    yield "braces with equals", "{" + _long("=", size)
    yield "nest", "(" * (size // 2) + ")" * (size // 2)
    yield "comments and a quote", _long("//", size) + '"'
    yield "semicolons and a quote", _long(" ;", size) + '"'


def of_patterns(patterns: list[str], size: int) -> Iterator[tuple[str, str]]:
    """Texts made of the literal pieces of patterns.

    The pieces are repeated, unfinished, or before long runs.
    """
    for literal in sorted({piece for pattern in patterns for piece in _literals(pattern)}):
        yield f"{literal!r} again and again", _long(literal, size)
        yield f"{literal!r} and a word, again and again", _long(f"{literal}x ", size)
        yield f"{literal!r} on lines", _long(f"{literal}\n", size)
        for run in ("x", " "):
            yield f"{literal!r}, then {run!r}", literal + _long(run, size)


def patterns_in(*modules: ModuleType) -> list[str]:
    """Every compiled pattern that is a global of a module, also inside of tuples."""
    patterns: list[str] = []

    def add(value: Any) -> None:
        if isinstance(value, re.Pattern | Lazy) and isinstance(value.pattern, str):
            patterns.append(value.pattern)
        elif isinstance(value, tuple):
            for item in value:
                add(item)

    for module in modules:
        for value in vars(module).values():
            add(value)
    return patterns


def offenders(
    read: Callable[[str], object], patterns: list[str], *, of_them_alone: bool = False
) -> list[str]:
    """The texts whose reading time grows faster than their length.

    The function tries general texts and texts made of patterns.
    """
    begun = () if of_them_alone else (general,)
    small, large = (
        dict([*(text for make in begun for text in make(size)), *of_patterns(patterns, size)])
        for size in (SMALL, LARGE)
    )
    return [
        message
        for name, text in large.items()
        if (message := offence(read, name, small[name], text))
    ]


def offence(read: Callable[[str], object], name: str, small: str, large: str) -> str | None:
    """A message about the time for one text, if that time is too long in every try."""
    for _ in range(_TRIES):
        cost = seconds(read, large)
        if cost <= _ENOUGH:
            return None
        before = seconds(read, small)
        if cost <= _MOST and cost <= _GROWTH * before:
            return None
    return f"{name}: {before:.3f} s for {len(small):,} characters, {cost:.3f} s for {len(large):,}"


def seconds(read: Callable[[str], object], text: str) -> float:
    """The CPU seconds that reading takes."""
    started = time.process_time()
    read(text)
    return time.process_time() - started


def _long(piece: str, size: int) -> str:
    return piece * (size // len(piece))


def _literals(pattern: str) -> Iterator[str]:
    """Runs of literal characters in a pattern."""
    run = ""
    for operator, argument in _walk(parser.parse(pattern)):
        if operator is parser.LITERAL:
            run += chr(argument)
        else:
            if run:
                yield run
            run = ""
    if run:
        yield run


def _walk(tree: Any) -> Iterator[tuple[Any, Any]]:
    for operator, argument in tree:
        if operator is parser.LITERAL:
            yield operator, argument
            continue
        yield None, None
        for part in argument if isinstance(argument, tuple | list) else [argument]:
            if isinstance(part, parser.SubPattern):
                yield from _walk(part)
            elif isinstance(part, list):
                for item in part:
                    if isinstance(item, parser.SubPattern):
                        yield from _walk(item)
        yield None, None
