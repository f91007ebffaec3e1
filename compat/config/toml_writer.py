"""Writing TOML as a person would: tables under headings, short arrays and small tables on one line.

``tomli-w`` gives every small table a heading, and every element of an array a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compat.text import lazy_pattern, printable
from compat.toolchains.guessing import Noted

_WIDTH = 110
"""Columns after which an array goes on in the next line, and a table in an array of tables gets a heading."""
_BARE = lazy_pattern(r"[A-Za-z0-9_-]+")


def toml_text(document: Mapping[str, Any]) -> str:
    """A document as TOML, in its order; ``tomllib`` reads the same values from it.

    It holds strings, numbers, booleans, arrays (lists) and tables (mappings), and any of them :class:`Noted`. Tables and arrays of
    tables at its top get headings, and so do, in a table of such an array, arrays of tables and tables too wide for a line. Raises
    ValueError for text that no encoding has.
    """
    text = "\n\n".join(block for block in _blocks(document) if block) + "\n"
    text.encode("utf-8")
    return text


def _blocks(document: Mapping[str, Any]) -> Iterator[str]:
    tables = {name: value for name, value in document.items() if isinstance(value, Mapping) or _are_tables(value)}
    yield _entries({name: value for name, value in document.items() if name not in tables})
    for name, value in tables.items():
        heading = _key(name)
        if isinstance(value, Mapping):
            yield f"[{heading}]\n{_entries(value)}".rstrip("\n")
        else:
            for each in value:
                yield from _member(heading, each)


def _member(heading: str, entries: Mapping[str, Any]) -> Iterator[str]:
    """One table of an array of tables, and what in it has a heading of its own."""
    tables = {name: value for name, value in entries.items() if _are_tables(value) or _is_wide(name, value)}
    inside = _entries({name: value for name, value in entries.items() if name not in tables})
    yield f"[[{heading}]]\n{inside}".rstrip("\n")
    for name, value in tables.items():
        if isinstance(value, Mapping):
            yield f"[{heading}.{_key(name)}]\n{_entries(value)}"
        else:
            for each in value:
                yield from _member(f"{heading}.{_key(name)}", each)


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _is_wide(name: str, value: object) -> bool:
    return isinstance(value, Mapping) and (
        any(isinstance(each, Noted) for each in value.values()) or len(_entry(name, value)) > _WIDTH
    )


def _entries(table: Mapping[str, Any]) -> str:
    return "\n".join(_entry(name, value) for name, value in table.items())


def _entry(name: str, value: object) -> str:
    if isinstance(value, Noted):
        first, *others = _entry(name, value.value).split("\n")
        return "\n".join([f"{first}  # {' '.join(printable(value.note).split())}", *others])
    flat = f"{_key(name)} = {_value(value)}"
    if len(flat) <= _WIDTH or not isinstance(value, list):
        return flat
    return "\n".join([f"{_key(name)} = [", *(f"  {line}" for line in _wrapped(map(_value, value))), "]"])


def _wrapped(items: Iterable[str]) -> Iterator[str]:
    line = ""
    for item in items:
        if line and len(line) + len(item) + 2 > _WIDTH:
            yield line
            line = ""
        line += f"{' ' if line else ''}{item},"
    yield line


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return _string(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)  # inf and nan are written alike in both languages


def _string(text: str) -> str:
    """A basic string: JSON's escapes are among those of TOML, which has DEL escaped, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
