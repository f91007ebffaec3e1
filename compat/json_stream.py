"""A JSON file whose large arrays are read item by item, so that it takes the memory of what is made of the items.

The values are those of :func:`compat.json_text.read_json`, and what that refuses is refused here.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from compat.json_text import decoder_of, encodable

_CHUNK = 1 << 18
"""Bytes that are read at a time, at least."""
_SPACE = re.compile(r"[ \t\n\r]*")
_LONGEST_WORD = 16
"""Characters at the end of what was read in which a number or a word may be that goes on; ``-Infinity`` is the longest."""

Take = Callable[[int, Any], Any]
"""Makes something of an item of an array, and of its place there."""


def read_json_stream(file: BinaryIO, arrays: Mapping[str, Take]) -> Any:
    """The value of the JSON in a file. Of an object some arrays, by their keys, are lists of what is made of each item.

    Raises ValueError as :func:`~compat.json_text.read_json` does, what a :data:`Take` raises, and OSError.
    """
    text = _Text(file)
    try:
        found = _object(text, arrays) if text.next() == "{" else text.value()
    except (RecursionError, MemoryError) as error:
        raise ValueError("nested too deeply") from error
    if text.next():
        raise text.error("Extra data")
    return found


def _object(text: _Text, arrays: Mapping[str, Take]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    text.skip("{")
    if text.next() == "}":
        text.skip("}")
        return found
    while True:
        if text.next() != '"':
            raise text.error("Expecting property name enclosed in double quotes")
        name = text.value()
        text.skip(":")
        found[name] = _array(text, arrays[name]) if name in arrays and text.next() == "[" else text.value()
        if text.next() == "}":
            text.skip("}")
            return found
        text.skip(",")


def _array(text: _Text, take: Take) -> list[Any]:
    found: list[Any] = []
    text.skip("[")
    if text.next() == "]":
        text.skip("]")
        return found
    while True:
        found.append(take(len(found), text.value()))
        if text.next() == "]":
            text.skip("]")
            return found
        text.skip(",")


class _Text:
    """A text that is read as it is needed, and let go as it was used."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = decoder_of()
        self._text = ""
        self._at = 0
        self._ended = False
        self._passed = self._lines = self._line = 0
        """Characters that were let go, lines that ended in them, and where the last of these ended."""

    def next(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._read_on()

    def skip(self, character: str) -> None:
        """Go past a character that has to be next."""
        if self.next() != character:
            raise self.error(f"Expecting {character!r} delimiter")
        self._at += 1

    def value(self) -> Any:
        """The next value, whole."""
        self.next()
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or (error.pos < len(self._text) - _LONGEST_WORD and not error.msg.startswith("Unterminated")):
                    raise self.error(error.msg, error.pos) from error
            else:
                if self._ended or end < len(self._text) - _LONGEST_WORD:  # a number may go on: "1.", "1e+"
                    found = encodable(found, self._text, self._at, end)
                    self._at = end
                    return found
            self._read_on()  # as much again as is there, so that a long value is not tried often

    def error(self, words: str, position: int | None = None) -> ValueError:
        """What is wrong, by default here, in the words of Python's reader."""
        at = self._at if position is None else position
        lines = self._lines + self._text.count("\n", 0, at)
        start = self._text.rfind("\n", 0, at)
        column = at - start if start >= 0 else self._passed + at - self._line + 1
        return ValueError(f"{words}: line {lines + 1} column {column} (char {self._passed + at})")

    def _read_on(self) -> None:
        used, left = self._text[: self._at], self._text[self._at :]
        if (end := used.rfind("\n")) >= 0:
            self._lines, self._line = self._lines + used.count("\n"), self._passed + end + 1
        self._passed += len(used)
        data = self._file.read(max(_CHUNK, len(left)))
        self._ended = not data
        self._text, self._at = left + self._bytes.decode(data, final=self._ended), 0
