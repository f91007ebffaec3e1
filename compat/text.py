"""Text and JSON: safe text, JSON for every reader, patterns compiled late, counts, groups, times.

Output of compilers, kernel files and other quoted sources may contain escape sequences, NUL bytes,
characters that change the direction of writing, and halves of surrogate pairs. A terminal, a
Markdown viewer or a tracker would act on them, or refuse them. All text for readers passes through
:func:`printable` where it enters the records. Evidence keeps its text unchanged.

Python's own JSON reader accepts ``NaN`` and ``Infinity``, which no standard has, and halves of
surrogate pairs, which no encoding has. It raises ``RecursionError`` for deep nesting. Its writer
writes all of these. :func:`read_json` and :func:`write_json` do not.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, AnyStr, BinaryIO, NoReturn, TypeVar, cast

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Lazy:
    """An object that behaves like a compiled pattern, by its methods and attributes.

    Functions of :mod:`re` do not accept it as one.
    """

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._written = text, flags

    @cached_property
    def _pattern(self) -> re.Pattern[Any]:
        return re.compile(*self._written)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy asks for such names before it has attributes
            raise AttributeError(name)
        attribute = getattr(self._pattern, name)
        setattr(self, name, attribute)
        return attribute

    def __repr__(self) -> str:
        return f"lazy_pattern({self._written[0]!r})"


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """:func:`re.compile`, but later: an error in ``text`` is raised at its first use."""
    return cast("re.Pattern[AnyStr]", Lazy(text, flags))


_OBEYED = lazy_pattern(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of writing
    "\u2028\u2029"  # line ends for some readers only
    "\ud800-\udfff"  # halves of surrogate pairs: no encoding has them
    "\U000e0000-\U000e007f"  # tags: invisible text
    "]"
)


def printable(text: str) -> str:
    r"""Replace control characters except newlines and tabs by visible escapes: ``\u202e``."""
    # The pattern is slower, and matches no character that Python calls printable.
    if text.isprintable() or not _OBEYED.search(text):
        return text
    return _OBEYED.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# --- limits of searched text ----------------------------------------------------------------------

TEXT_LIMIT = 64 * 1024
"""Characters of a message, or of the printed text of one attempt, that a reader searches."""
WIDTH_LIMIT = 4096
"""Characters of one line. An MLIR operation with its types fits, and the work of a pattern that
stays on a line is bounded.
"""
_NOTE = 64
"""Characters for the note on a cut."""


def limit_length(text: str, limit: int) -> str:
    """At most ``limit`` characters of ``text``.

    They are whole lines from its beginning and its end, with the length of the part left out
    between.
    """
    if len(text) <= limit:
        return text
    half = max(1, (limit - _NOTE) // 2)
    head, tail = text[:half], text[-half:]
    head = head[: head.rfind("\n") + 1] or f"{head}\n"
    first = tail.find("\n") + 1
    tail = tail[first:] if first < len(tail) else tail
    return f"{head}[… {len(text) - half - half:,} characters left out …]\n{tail}"


def shorten(line: str, width: int) -> str:
    """Return a line, cut to ``width`` characters, the last of which then is ``…``."""
    return line if len(line) <= width else f"{line[: width - 1]}…"


def limit_width(text: str, width: int) -> str:
    """``text`` with every line that has more than ``width`` characters cut in its middle."""
    if len(text) <= width:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= width:
        return text
    half = (width - _NOTE) // 2
    return "\n".join(
        (
            line
            if len(line) <= width
            else f"{line[:half]}[… {len(line) - 2 * half:,} characters left out …]{line[-half:]}"
        )
        for line in lines
    )


def readable(text: str, limit: int = TEXT_LIMIT) -> str:
    """``text`` with at most ``limit`` characters, and lines of at most :data:`WIDTH_LIMIT`."""
    return limit_width(limit_length(text, limit), WIDTH_LIMIT)


# --- numbers, sizes and times ---------------------------------------------------------------------


def amount(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: ``1 cell``, ``1,200 cells``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def group_by_key(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, tuple[_Value, ...]]:
    """Key → the values that it has in ``pairs``. Keys and values keep their order."""
    groups: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}


def name_first(items: Sequence[str], most: int) -> Sequence[str]:
    """The first ``most`` items, and the number of the others: ``a``, ``b``, ``3 more``."""
    return items if len(items) <= most else (*items[:most], f"{len(items) - most:,} more")


def join_words(items: Iterable[str], most: int | None = None) -> str:
    """Items as a phrase: ``a, b and c``; empty without any.

    With ``most``, only so many are named, and the others counted: ``a, b and 3 more``.
    """
    named = [*items]
    *first, last = (named if most is None else name_first(named, most)) or [""]
    return f"{', '.join(first)} and {last}" if first else last


_SIZE = lazy_pattern(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)")
_LONGEST = 30
_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}


def text_digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def split_at_commas(texts: Iterable[str]) -> tuple[str, ...]:
    """The names in texts, in which commas separate names. Empty names are left out."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def size_of_text(text: str) -> int | None:
    """The bytes that ``4 GiB`` means; ``None`` for a text that is not a size above zero."""
    match = _SIZE.fullmatch(text.strip()) if len(text) < _LONGEST else None
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    return size if size > 0 else None


def in_bytes(count: int) -> str:
    """A size in MB or GB: ``587.1 MB``."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def in_time(seconds: float) -> str:
    """A duration in words: ``45 s``, ``3 min``, ``1 h 20 min``."""
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 2 * 60 else f"{minutes // 60} h {minutes % 60} min"


# --- JSON -----------------------------------------------------------------------------------------

JsonObject = dict[str, Any]
"""An object of JSON that this program makes.

Its values have no type: a codec, a schema or a test knows the keys that readers use. A union of
JSON's types would need a cast at each such key, and a cast checks nothing.
"""
JsonMapping = Mapping[str, Any]
"""A mapping that is only read: an object of JSON, a table of TOML, or the open part of a record."""

_DIGITS = 300
"""Digits that a whole number may have; a ``float`` holds no larger one."""
_DEPTH = 60
"""Levels of tables and arrays; deeper ones are not written."""
_SURROGATE = lazy_pattern(r"\\u[dD][89a-fA-F]")
_ESCAPED = lazy_pattern(r"\\[bfru]")
"""An escape of JSON that may stand for a character that is not printable.

ASCII text without one has no such character but DEL.
"""
_TOO_DEEP = "…"


def read_json(text: str | bytes, *, lenient: bool = False) -> Any:
    """The value of a JSON text.

    Raises ValueError, and nothing else, if the text is not JSON, or is nested too deeply. Numbers
    that JSON has no form for (``NaN``, ``Infinity``) and numbers that are too large to compute with
    raise it, too; with ``lenient``, they are ``None``. Halves of surrogate pairs become visible
    escapes, so that every string can be encoded.
    """
    decoded = (
        text.decode("utf-8-sig")
        if isinstance(text, bytes)
        else text.encode("utf-8", "backslashreplace").decode()
    )
    try:
        value = decoder_of(lenient=lenient).decode(decoded)
        return _with_strings(_encodable, value) if _SURROGATE.search(decoded) else value
    except (RecursionError, MemoryError) as error:
        raise ValueError("nested too deeply") from error


def decoder_of(*, lenient: bool = False) -> json.JSONDecoder:
    """Python's JSON decoder, which treats numbers as :func:`read_json` does."""
    odd = _nothing if lenient else _refuse
    return json.JSONDecoder(
        parse_constant=odd,
        parse_float=partial(_finite, odd=odd),
        parse_int=partial(_parse_integer, odd=odd),
    )


def write_json(document: object, *, indent: int | None = 1) -> str:
    """A document as JSON that every reader accepts and that is safe to print.

    It has no newline at its end. Strings are :func:`~compat.text.printable`. Values that JSON has
    no form for are written as text.
    """
    return json.dumps(plain(document), indent=indent, ensure_ascii=False, allow_nan=False)


def json_pieces(document: Mapping[str, object]) -> Iterator[str]:
    """The text of :func:`write_json` in pieces, for an object with iterators in place of arrays.

    Each item of an iterator is a piece of its own.
    """
    before = "{\n "
    for name, value in document.items():
        yield f"{before}{_json_text(printable(name))}: "
        before = ",\n "
        if isinstance(value, Iterator):
            yield from _array_pieces(value)
        else:
            yield _json_text(plain(value, _DEPTH - 1)).replace("\n", "\n ")
    yield "\n}" if document else "{}"


def _array_pieces(items: Iterator[object]) -> Iterator[str]:
    before = "[\n  "
    for item in items:
        # Dumped strings contain no newlines.
        yield before + _json_text(plain(item, _DEPTH - 2)).replace("\n", "\n  ")
        before = ",\n  "
    yield "[]" if before.startswith("[") else "\n ]"


def _json_text(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)


_Odd = Callable[[str], None]


def _nothing(_: str) -> None:
    pass


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not a number")


def _finite(text: str, odd: _Odd) -> float | None:
    number = float(text)
    if math.isfinite(number):
        return number
    odd(text)
    return None


def _parse_integer(text: str, odd: _Odd) -> int | None:
    if len(text) <= _DIGITS:
        return int(text)
    odd(text)
    return None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _with_strings(change: Callable[[str], str], value: object) -> object:
    """A value of JSON with each of its strings changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_with_strings(change, item) for item in value]
    if isinstance(value, dict):
        return {change(key): _with_strings(change, item) for key, item in value.items()}
    return value


def plain(value: object, depth: int = _DEPTH) -> Any:
    """``value`` as a value of JSON.

    JSON has objects, arrays, printable strings, finite numbers, booleans and null.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return printable(str(value))
    if isinstance(value, int):
        return int(value) if abs(value) < 10**_DIGITS else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return (
            {printable(str(key)): plain(item, depth - 1) for key, item in value.items()}
            if depth
            else _TOO_DEEP
        )
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth - 1) for item in value] if depth else _TOO_DEEP
    return printable(str(value))


_CHUNK = 1 << 18
"""Bytes that are read at a time, at least."""
_SPACE = re.compile(r"[ \t\n\r]*")
_LONGEST_WORD = 16
"""Characters at the end of a piece that may be the beginning of a number or a word; ``-Infinity``
is the longest.
"""

Take = Callable[[int, Any], Any]
"""Index and value of an item of an array → the converted item."""


def read_json_stream(file: BinaryIO, arrays: Mapping[str, Take]) -> Any:
    """The value of the JSON in a file.

    Strings are :func:`printable`. If it is an object, ``arrays`` maps the keys of some arrays to
    functions that convert each item. Raises ValueError as :func:`~compat.text.read_json` does, the
    errors of a :data:`Take`, and OSError.
    """
    text = _Text(file)
    try:
        value = _object(text, arrays) if text.next() == "{" else text.value()
    except (RecursionError, MemoryError) as error:
        raise ValueError("nested too deeply") from error
    if text.next():
        raise text.error("Extra data")
    return value


def _object(text: _Text, arrays: Mapping[str, Take]) -> JsonObject:
    members: JsonObject = {}
    for _ in _members(text, "{", "}"):
        if text.next() != '"':
            raise text.error("Expecting property name enclosed in double quotes")
        name = text.value()
        text.skip(":")
        members[name] = (
            _array(text, arrays[name]) if name in arrays and text.next() == "[" else text.value()
        )
    return members


def _array(text: _Text, take: Take) -> list[Any]:
    return [take(index, text.value()) for index, _ in enumerate(_members(text, "[", "]"))]


def _members(text: _Text, begin: str, end: str) -> Iterator[None]:
    """Yield at the beginning of each member of an object or array, which the caller reads."""
    text.skip(begin)
    if text.next() != end:
        yield
        while text.next() != end:
            text.skip(",")
            yield
    text.skip(end)


class _Text:
    """A text that is read in pieces when they are needed, and dropped when they were used."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = decoder_of()
        self._text = ""
        self._at = 0
        self._ended = False
        self._passed = self._lines = self._line = 0
        """The number of dropped characters, the number of lines that ended in them, and the
        position at which the last of these lines ended.
        """

    def next(self) -> str:
        """The next character that is not a space; empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._read_on()

    def skip(self, character: str) -> None:
        """Skip the next character. Raises ValueError if it is another one."""
        if self.next() != character:
            raise self.error(f"Expecting {character!r} delimiter")
        self._at += 1

    def value(self) -> Any:
        """The next value, whole."""
        self.next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or (
                    error.pos < len(self._text) - _LONGEST_WORD
                    and not error.msg.startswith("Unterminated")
                ):
                    raise self.error(error.msg, error.pos) from error
            else:
                # A number may go on: "1.", "1e+".
                if self._ended or end < len(self._text) - _LONGEST_WORD:
                    part = self._text[self._at : end]
                    if not part.isascii() or "\x7f" in part or _ESCAPED.search(part):
                        value = _with_strings(printable, value)
                    self._at = end
                    return value
            self._read_on()  # doubles the text, so that a long value is parsed few times

    def error(self, message: str, position: int | None = None) -> ValueError:
        """An error in the form of Python's JSON reader, by default at the present position."""
        at = self._at if position is None else position
        lines = self._lines + self._text.count("\n", 0, at)
        start = self._text.rfind("\n", 0, at)
        column = at - start if start >= 0 else self._passed + at - self._line + 1
        return ValueError(f"{message}: line {lines + 1} column {column} (char {self._passed + at})")

    def _read_on(self) -> None:
        used, remaining = self._text[: self._at], self._text[self._at :]
        if (end := used.rfind("\n")) >= 0:
            self._lines, self._line = self._lines + used.count("\n"), self._passed + end + 1
        self._passed += len(used)
        data = self._file.read(max(_CHUNK, len(remaining)))
        self._ended = not data
        self._text, self._at = remaining + self._bytes.decode(data, final=self._ended), 0
