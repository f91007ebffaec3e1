"""Text that is safe to show: control characters are written out, as in ``\\x1b``.

Compilers, kernel files and whatever else is quoted may hold escape sequences, NUL bytes, characters that turn the direction of
writing, and halves of surrogate pairs. A terminal, a Markdown viewer or a tracker would act on them, or refuse them. Everything
that people read passes through here where it enters the records; what is evidence stays as it was said.
"""

from __future__ import annotations

import re

from compat.patterns import lazy_pattern

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
