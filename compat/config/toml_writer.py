"""Writing TOML as a person would: tables under headings, short arrays and small tables on one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from compat.text import printable
from compat.toolchains.guessing import Noted

_WIDTH = 110
"""Columns after which an array has a line for each element, and a table in an array of tables gets a heading."""

_Table = TypeVar("_Table", bound=Any)


def toml_text(document: Mapping[str, Any]) -> str:
    """A document as TOML, in its order; ``tomllib`` reads the same values from it.

    It holds strings, numbers, booleans, arrays (lists) and tables (mappings), and any of them :class:`Noted`. Tables and arrays of
    tables at its top get headings, and so do, in a table of such an array, arrays of tables and tables too wide for a line. Raises
    ValueError for text that no encoding has.
    """
    import tomlkit  # takes longer to import than most commands take

    text = tomlkit.dumps(_filled(tomlkit.document(), document, _has_heading))
    text.encode("utf-8")
    return text


def without_notes(value: Any) -> Any:
    """The same document without notes: what ``tomllib`` reads from its text."""
    if isinstance(value, Noted):
        return without_notes(value.value)
    if isinstance(value, Mapping):
        return {name: without_notes(item) for name, item in value.items()}
    return [without_notes(item) for item in value] if isinstance(value, list) else value


def _filled(table: _Table, entries: Mapping[str, Any], has_heading: Callable[[str, Any], bool]) -> _Table:
    """A table with its entries, those that have headings last."""
    import tomlkit

    headed = {name: value for name, value in entries.items() if has_heading(name, value)}
    for name, value in entries.items():
        if name not in headed:
            table.append(name, _inline(value))
    for name, value in headed.items():
        if isinstance(value, Mapping):
            table.append(name, _filled(tomlkit.table(), value, lambda inner, of: False))
        else:
            tables = tomlkit.aot()
            tables.extend(_filled(tomlkit.table(), member, _has_heading_in_array) for member in value)
            table.append(name, tables)
    return table


def _has_heading(_: str, value: Any) -> bool:
    """Whether an entry at the top of a document has one: tables and arrays of them."""
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _has_heading_in_array(name: str, value: Any) -> bool:
    """The same in a table of an array, where small tables stand on one line."""
    if not isinstance(value, Mapping):
        return _has_heading(name, value)
    return any(isinstance(item, Noted) for item in value.values()) or len(f"{name} = {_inline(value).as_string()}") > _WIDTH


def _inline(value: Any) -> Any:
    """A value as it stands on a line of its own, or in another value."""
    import tomlkit

    if isinstance(value, Noted):
        item = _inline(value.value).comment(" ".join(printable(value.note).split()))
        item.trivia.comment_ws = "  "
    elif isinstance(value, Mapping):
        item = tomlkit.inline_table()
        item.update({name: _inline(inner) for name, inner in value.items()})
    elif isinstance(value, list):
        item = tomlkit.array()
        item.extend(map(_inline, value))
        item.multiline(len(item.as_string()) > _WIDTH)
    else:
        item = tomlkit.item(value)
    return item
