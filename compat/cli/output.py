"""Standard output and error that take every text, whatever the terminal can show."""

from __future__ import annotations

import codecs
import io
import sys
from typing import TextIO

_IN_ASCII = str.maketrans(
    {
        "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "←": "<-", "≥": ">=", "≤": "<=", "≠": "!=", "×": "x", "·": "-",
        "•": "*", "‘": "'", "’": "'", "“": '"', "”": '"', "✓": "v", "✗": "x", "µ": "u", "─": "-", "━": "-", "│": "|", "┃": "|",
    }
)  # fmt: skip
"""Typographic characters in our output, and their ASCII substitutes."""


class _Ascii(io.TextIOWrapper):
    """A stream that writes ASCII only."""

    def write(self, text: str) -> int:
        plain = text.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode("ascii")
        super().write(plain)
        return len(text)


def prepare() -> None:
    """Have standard output and error take every text from now on."""
    sys.stdout, sys.stderr = _prepared(sys.stdout), _prepared(sys.stderr)


def _prepared(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if codecs.lookup(stream.encoding).name == "ascii":
        # Called Latin-1: click takes a stream that says ASCII for a mistake, and writes UTF-8 past it.
        return _Ascii(stream.detach(), encoding="latin-1", line_buffering=stream.line_buffering)
    stream.reconfigure(errors="backslashreplace")
    return stream


def exit_code(end: SystemExit) -> int:
    """The number that ``sys.exit`` means."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1
