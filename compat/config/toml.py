"""Reads TOML so that every error names the path of the key; writes TOML with notes beside the keys.

A :class:`Table` returns the values of one TOML table, and checks the type of each. Every error is a
:class:`~compat.errors.ConfigError` whose ``where`` is the place in the file: ``matrix.toml:
env[2].triton``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from attrs import frozen
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from compat.config.releases import correct_specifier
from compat.errors import ConfigError
from compat.model.fields import CommentedValue
from compat.text import JsonMapping, lazy_pattern, printable

T = TypeVar("T")

SCHEMA = 1
"""The version of the formats that this program reads: ``schema`` at the top of each file. A file
without it has this version.
"""

LONGEST = 100_000_000
"""Seconds that anything may take or wait: three years, which every clock and timer can count."""
DROP = {"drop": True}
"""The value of an entry in a table that removes the entry."""
_LARGEST = (1 << 63) - 1
_LONG = 500
"""The most characters of a version, a specifier or a requirement. Python may refuse to read the
numbers of a longer text.
"""
_DOTS = 1000
"""The most dots on a line. Python's reader takes minutes for a key with about ten thousand."""
_NAME = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_QUOTED = 80
"""The most characters of a string that an error quotes."""

_NAMES = {
    bool: "a boolean",
    str: "a string",
    int: "a whole number",
    float: "a number",
    list: "an array",
    dict: "a table",
}


def did_you_mean(word: str, choices: Iterable[str]) -> str | None:
    """A hint with the name that ``word`` is probably a misspelling of; ``None`` if none is near."""
    near = get_close_matches(word, list(choices), n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(near)}?" if near else None


def describe(value: object) -> str:
    """A TOML value as an error names it: ``the number 3.0``, ``a table``."""
    if isinstance(value, str):
        return f"the string {quote_text(value)}"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {number(value)}" if _is_short(value) else number(value)
    return _NAMES.get(type(value), f"a {type(value).__name__}")


def quote_text(text: str) -> str:
    """A string as an error quotes it: in quotes, and shortened if it is long."""
    return repr(text) if len(text) <= _QUOTED else f"{text[:_QUOTED]!r}…"


def number(value: int | float) -> str:
    """A number as an error quotes it; of a very long one, its size."""
    if _is_short(value):
        return repr(value)
    return f"a number of {int(value).bit_length()} bits"


def _is_short(value: int | float) -> bool:
    return isinstance(value, float) or abs(value) <= _LARGEST


@frozen(kw_only=True)
class Table:
    """One table of a TOML file, and its path in the file."""

    file: str
    """The name of the file for the user."""
    path: str
    """The path of this table in the file; empty for the file itself."""
    data: JsonMapping

    # --- errors -----------------------------------------------------------------------------------

    def where(self, key: str | None = None) -> str:
        """The place of a key of this table, or of the table itself, for an error."""
        path = ".".join(part for part in (self.path, key) if part)
        return f"{self.file}: {path}" if path else self.file

    def fail(self, message: str, key: str | None = None, *, hint: str | None = None) -> NoReturn:
        """Raise ConfigError for this table, or for one key of it."""
        raise ConfigError(message, where=self.where(key), hint=hint)

    def only(self, *keys: str) -> None:
        """Raise ConfigError for any key that is not one of ``keys``."""
        for key in self.data:
            if key not in keys:
                hint = did_you_mean(key, keys) or f"Known keys here: {', '.join(keys)}."
                self.fail("unknown key", key, hint=hint)

    # --- values -----------------------------------------------------------------------------------

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def require_value(self, key: str) -> object:
        """The value of a required key, of any type."""
        if key not in self.data:
            self.fail("is missing", key)
        return self.data[key]

    def expect(
        self, value: object, kind: type[T], key: str, *, example: str = "", hint: str | None = None
    ) -> T:
        """The value itself, if it has the type ``kind``; else raise ConfigError.

        A boolean is not a number here, and a whole number is a number.
        """
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            such = f", such as {example}" if example else ""
            self.fail(f"expected {_NAMES[kind]}{such}, found {describe(value)}", key, hint=hint)
        return value  # type: ignore[return-value]

    def string(self, key: str, default: str | None = None, *, example: str = "") -> str:
        """A string that is not empty; required unless there is a default."""
        if default is not None and key not in self.data:
            return default
        return self._text(self.expect(self.require_value(key), str, key, example=example), key)

    def _text(self, text: str, key: str) -> str:
        if not text.strip():
            self.fail("must not be empty", key)
        if printable(text) != text.replace("\r\n", "\n"):
            self.fail(f"contains a control character: {describe(text)}", key)
        return text

    def check_name(self, name: str, key: str | None) -> None:
        """Raise ConfigError for a name that ids of cells and patterns cannot contain."""
        if not _NAME.fullmatch(name):
            rule = "use letters, digits and . _ + -, and first a letter, a digit or _"
            self.fail(f"{name!r} is not a valid name: {rule}", key)

    def optional(self, key: str, *, example: str = "") -> str | None:
        """A string, or ``None`` if the key is absent."""
        return self.string(key, example=example) if key in self.data else None

    def integer(self, key: str) -> int:
        """A whole number greater than zero."""
        integer = self.expect(self.require_value(key), int, key)
        if integer <= 0:
            self.fail(f"must be greater than zero, found {number(integer)}", key)
        if integer > _LARGEST:
            self.fail(f"must be at most {_LARGEST:,}, found {number(integer)}", key)
        return integer

    def number(self, key: str, default: float, *, or_zero: bool = False) -> float:
        """A number greater than zero; with ``or_zero`` also zero."""
        amount = self.expect(self.data.get(key, default), float, key)
        if amount > LONGEST:
            self.fail(f"must be at most {LONGEST:,}, found {number(amount)}", key)
        if not (amount > 0 or (or_zero and amount == 0)):
            self.fail(
                f"must be {'zero or more' if or_zero else 'greater than zero'}, found"
                f" {number(amount)}",
                key,
            )
        return float(amount)

    def strings(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """An array of strings."""
        if key not in self.data:
            return default
        items = self.expect(self.data[key], list, key, example='["…"]')
        for index, item in enumerate(items):
            self._text(self.expect(item, str, f"{key}[{index}]"), f"{key}[{index}]")
        return tuple(items)

    def mapping(self, key: str) -> JsonMapping:
        """A table with unchecked values; empty if the key is absent."""
        return self.expect(self.data.get(key, {}), dict, key)

    def table(self, key: str) -> Table:
        """A table inside this one; empty if the key is absent."""
        return self._inner(key, self.mapping(key))

    def _inner(self, key: str, data: JsonMapping) -> Table:
        path = f"{self.path}.{key}" if self.path else key
        return Table(file=self.file, path=path, data=data)

    def tables(self, key: str) -> tuple[Table, ...]:
        """An array of tables, each with its index in its path."""
        items = self.expect(self.data.get(key, []), list, key, example=f"[[{key}]]")
        return tuple(
            self._inner(f"{key}[{index}]", self.expect(item, dict, f"{key}[{index}]"))
            for index, item in enumerate(items)
        )

    # --- values that packaging parses -------------------------------------------------------------

    def parse_text(
        self,
        key: str,
        text: str,
        parse: Callable[[str], T],
        complaint: str,
        meant: Callable[[str], str | None] = lambda _: None,
    ) -> T:
        """The result of ``parse(text)``. An error of packaging becomes a ConfigError for the key.

        ``meant`` returns the text that the user probably meant, for the hint.
        """
        try:
            if len(text) > _LONG:
                raise InvalidVersion(text)
            return parse(text)
        except ValueError:  # InvalidVersion, InvalidSpecifier or InvalidRequirement
            near = meant(text)
            self.fail(
                f"{quote_text(text)} is not {complaint}",
                key,
                hint=f"Did you mean {near!r}?" if near else None,
            )

    def version(self, key: str) -> Version | None:
        """A version (PEP 440), or ``None`` if the key is absent."""
        text = self.optional(key, example='"3.1.0"')
        if text is None:
            return None
        return self.parse_text(key, text, Version, 'a version, such as "3.1.0"')

    def day(self, key: str) -> date | None:
        """A day, written as TOML writes one, or ``None`` if the key is absent."""
        day = self.data.get(key)
        if day is not None and type(day) is not date:  # a datetime is a date to Python
            self.fail(f"expected a date, such as 2026-01-31, found {describe(day)}", key)
        return day

    def specifier(self, key: str, example: str = ">=3.1,<3.9") -> SpecifierSet:
        """A version specifier (PEP 440); one that matches everything if the key is absent."""
        text = self.optional(key, example=f'"{example}"')
        if text is None:
            return SpecifierSet()
        what = f'a version specifier, such as "{example}"'
        return self.parse_text(key, text, SpecifierSet, what, meant=correct_specifier)

    def requirements(self, key: str) -> tuple[str, ...]:
        """An array of requirements (PEP 508), checked and left as written."""
        texts = self.strings(key)
        for index, text in enumerate(texts):
            self.requirement(f"{key}[{index}]", text)
        return texts

    def requirement(self, key: str, text: str) -> None:
        """Check one requirement. Raises ConfigError."""
        from packaging.requirements import Requirement  # few files have any

        self.parse_text(key, text, Requirement, 'a requirement, such as "numpy<2"')


def display_path(path: Path, base: Path | None = None) -> str:
    """A path as messages show it to the user.

    It is relative to ``base``, or else to the working directory, if it is inside.
    """
    base = (base or Path.cwd()).resolve()
    path = path.absolute()
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)


def read_toml(path: Path, base: Path | None = None, hint: str | None = None) -> Table:
    """Read a TOML file of the schema that this program knows.

    Raises ConfigError if it cannot be read, is not TOML (with ``hint``), or has another schema.
    """
    name = display_path(path, base)
    try:
        return parse_toml(path.read_text(encoding="utf-8-sig"), name, hint)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", where=name) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 text (byte {error.start})", where=name) from error


def parse_toml(text: str, name: str, hint: str | None = None) -> Table:
    """The table of a TOML text; ``name`` is the name of the file in errors.

    Raises ConfigError as :func:`read_toml` does.
    """
    try:
        if max(line.count(".") for line in text.split("\n")) > _DOTS:
            raise ConfigError("is nested too deeply", where=name)
        data = tomllib.loads(text)
    except (RecursionError, MemoryError) as error:
        raise ConfigError("is nested too deeply", where=name) from error
    except ValueError as error:  # of TOML, or a number with more digits than Python reads
        raise ConfigError(f"is not valid TOML: {error}", where=name, hint=hint) from error
    table = Table(file=name, path="", data=data)
    schema = table.expect(table.data.get("schema", SCHEMA), int, "schema", example=str(SCHEMA))
    if schema != SCHEMA:
        table.fail(
            f"this program reads schema {SCHEMA}, found {schema}",
            "schema",
            hint="Upgrade triton-compat.",
        )
    return table


_WIDTH = 110
"""Columns after which an array has a line for each element, and a table in an array of tables gets
a heading.
"""

_Table = TypeVar("_Table", bound=Any)


def toml_text(document: Mapping[str, object]) -> str:
    """A document as TOML, in its order; ``tomllib`` reads the same values from it.

    It holds strings, numbers, booleans, arrays (lists) and tables (mappings), and any of them
    :class:`CommentedValue`. Tables and arrays of tables at its top get headings, and so do, in a
    table of such an array, arrays of tables and tables too wide for a line. Raises ValueError for
    text that UTF-8 cannot encode.
    """
    import tomlkit  # takes longer to import than most commands take

    text = tomlkit.dumps(_fill_table(tomlkit.document(), document, _has_heading))
    text.encode("utf-8")
    return text


def without_notes(value: object) -> Any:
    """The document without notes, as ``tomllib`` reads it from its text."""
    if isinstance(value, CommentedValue):
        return without_notes(value.value)
    if isinstance(value, Mapping):
        return {name: without_notes(item) for name, item in value.items()}
    return [without_notes(item) for item in value] if isinstance(value, list) else value


def _fill_table(
    table: _Table, entries: JsonMapping, has_heading: Callable[[str, object], bool]
) -> _Table:
    """The table after adding its entries. Entries with headings come last."""
    import tomlkit

    headed = {name: value for name, value in entries.items() if has_heading(name, value)}
    for name, value in entries.items():
        if name not in headed:
            table.append(name, _inline(value))
    for name, value in headed.items():
        if isinstance(value, Mapping):
            table.append(name, _fill_table(tomlkit.table(), value, lambda inner, of: False))
        else:
            tables = tomlkit.aot()
            tables.extend(
                _fill_table(tomlkit.table(), member, _has_heading_in_array) for member in value
            )
            table.append(name, tables)
    return table


def _has_heading(_: str, value: object) -> bool:
    """Whether an entry at the top of a document has a heading: a table or an array of tables."""
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _has_heading_in_array(name: str, value: object) -> bool:
    """Whether an entry of a table in an array has a heading. Small tables fit on one line."""
    if not isinstance(value, Mapping):
        return _has_heading(name, value)
    return (
        any(isinstance(item, CommentedValue) for item in value.values())
        or len(f"{name} = {_inline(value).as_string()}") > _WIDTH
    )


def _inline(value: object) -> Any:
    """A value in the form for its own line, or for a part of another value."""
    import tomlkit

    if isinstance(value, CommentedValue):
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
