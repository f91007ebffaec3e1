"""Standard streams of the command: closed ones, their characters, and their errors."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from compat.errors import MachineError

_OUTPUT = "<stdout>"
"""Python's name of standard output."""
_IN_ASCII = str.maketrans(
    {
        "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "←": "<-", "≥": ">=", "≤": "<=",
        "≠": "!=", "×": "x", "·": "-", "•": "*", "‘": "'", "’": "'", "“": '"', "”": '"', "✓": "v",
        "✗": "x", "µ": "u", "─": "-", "━": "-", "│": "|", "┃": "|",
    }
)  # fmt: skip
"""Typographic characters in our output, and their ASCII substitutes."""


def open_closed_streams() -> None:
    """Open the null device as each standard stream that the parent process closed.

    Without that, the next file that this program opens would get the number of the stream.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def prepare_streams() -> None:
    """Make standard output and standard error accept every text."""
    sys.stdout, sys.stderr = _prepare_stream(sys.stdout), _prepare_stream(sys.stderr)


def _prepare_stream(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if codecs.lookup(stream.encoding).name == "ascii":
        # Named Latin-1, because click takes a stream named ASCII for misconfigured, and writes
        # UTF-8 past it.
        return _AsciiStream(
            stream.detach(), encoding="latin-1", line_buffering=stream.line_buffering
        )
    return NamedStream(
        stream.detach(),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class NamedStream(io.TextIOWrapper):
    """A stream whose errors have its name, like those of a file."""

    def write(self, text: str) -> int:
        with self._name_errors():
            return super().write(text)

    def flush(self) -> None:
        with self._name_errors():
            super().flush()

    @contextmanager
    def _name_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self.name
            raise


class _AsciiStream(NamedStream):
    """A stream that writes ASCII only."""

    def write(self, text: str) -> int:
        plain = text.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode("ascii")
        super().write(plain)
        return len(text)


def output_refusal(error: OSError) -> MachineError | None:
    """Return the error for a refusal of standard output; ``None`` if it is about something else."""
    if error.filename != _OUTPUT:
        return None
    return MachineError(
        f"cannot write: {error.strerror}",
        where="standard output",
        hint="Free space there, or redirect the output. Finished work is saved.",
    )
