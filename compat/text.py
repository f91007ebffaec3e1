"""Text: patterns that are compiled late, what is safe to show, and sizes and times as people write and read them.

Compilers, kernel files and whatever else is quoted may hold escape sequences, NUL bytes, characters that turn the direction of
writing, and halves of surrogate pairs. A terminal, a Markdown viewer or a tracker would act on them, or refuse them. Everything
that people read passes through :func:`printable` where it enters the records; what is evidence stays as it was said.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, AnyStr, cast


class Lazy:
    """What behaves like a compiled pattern, by its methods and attributes. Functions of :mod:`re` do not take it for one."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._written = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[Any]:
        return re.compile(*self._written)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copies it asks before there is anything
            raise AttributeError(name)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"lazy_pattern({self._written[0]!r})"


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """:func:`re.compile`, but later: what is wrong with ``text`` is raised when it is first used."""
    return cast("re.Pattern[AnyStr]", Lazy(text, flags))


_OBEYED = lazy_pattern(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of writing
    "\u2028\u2029"  # line ends to some readers and to others not
    "\ud800-\udfff"  # halves of surrogate pairs: no encoding has them
    "\U000e0000-\U000e007f"  # tags: text that nothing shows
    "]"
)


def printable(text: str) -> str:
    """``text`` with newlines and tabs as they are, and every other control character as a visible escape: ``\\u202e``."""
    return _OBEYED.sub(_escape, text.replace("\r\n", "\n")) if _OBEYED.search(text) else text


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_SIZE = lazy_pattern(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)")
_LONGEST = 30
_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}


def size_of_text(text: str) -> int | None:
    """The bytes that ``4 GiB`` means; ``None`` for what is no size, or none above zero."""
    match = _SIZE.fullmatch(text.strip()) if len(text) < _LONGEST else None
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    return size if size > 0 else None


def in_bytes(count: int) -> str:
    """A size that a reader can compare: ``587.1 MB``."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def in_time(seconds: float) -> str:
    """A length of time as one would say it: ``45 s``, ``3 min``, ``1 h 20 min``."""
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 2 * 60 else f"{minutes // 60} h {minutes % 60} min"
