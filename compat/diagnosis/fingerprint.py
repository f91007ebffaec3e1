"""Words without what does not matter, and a short hash of them: equal for the same defect, different for different ones.

What goes is what differs between two appearances of one defect: paths, lines, addresses, SSA names, temporary files, the wording of
quotes, and sizes, because the same error at another block size is the same failure. What stays is what was *said*: the
compiler's words, names and dtypes, and small numbers that say *which* (``index 1``, ``axis 0``, ``operand 2``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from compat.diagnosis.bounds import readable
from compat.model import DEFAULT_TOOLCHAIN
from compat.text import lazy_pattern

DIGITS = 12
"""Length of the hexadecimal part: 48 bits, enough for the number of distinct failures in a project."""

_WHICH = lazy_pattern(r"\b((?:index|axis|operand|argument|element|result|dimension|dim) #?)(\d+)\b")

_FORGET: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (lazy_pattern(pattern), replacement)
    for pattern, replacement in (
        (r"(?<=explicitly marked illegal)(?s:.*)", ""),  # later releases go on with the operation's whole text
        (r"\x1b\[[0-9;]*m", ""),  # colours
        (r"\bloc\((?:[^()]|\([^()]*\))*\)", ""),  # loc("kernel.py":12:3)
        (r"""["'`]?(?<![\w/])~?(?:/[\w.+@=~-]+)+/?["'`]?""", "<path>"),
        (r"<path>(?::\d+)*", "<path>"),
        (r"(?<![\w.-])([.-]*+)[\w.-]+\.(?:py|cpp|cc|h|hpp|td|mlir|ll)(?::\d+)+", r"\1<path>"),
        (r"\b(?:at )?\d+:\d+(?::|\b)", ""),  # at 3:36:
        (r"(?<=\w)\[\]", ""),  # fp32[]
        (r"\bline \d+\b", "line"),
        (r"\b0x[0-9a-f]+\b", "<address>"),
        (r"%[\w.$-]+(?:[:#]\d+)?", "%"),  # SSA names
        (r"\bt\d+(?=[:,])", "t"),  # nodes of LLVM's selection graph
        (r"#[a-z_]\w*", "#layout"),
        (r"""['"]?constexpr\[(\d+)\]['"]?""", r"\1"),
        (r"""['"](\d+)['"]""", r"\1"),  # <['128'], fp32> in later releases, <[128], fp32> in earlier ones
        (r"\b_(?:builder|semantic)\b", "_semantic"),  # the hidden argument's name, before 3.4 and since
        (r"\b(?:\d+x)+(?=[a-z!])", "#x"),  # tensor<128x64xf32>
        (r"(?<![\w.])-?\d+(?:\.\d+)*(?:e[+-]?\d+)?\b", "#"),
        (r"#(?:, ?#)+", "#"),  # a shape is a shape, whatever its rank's sizes
        (r"""["'`’‘]""", "'"),
        (r"\s+", " "),
        (r" (?=,)", ""),
    )
)


Rules = Sequence[tuple[re.Pattern[str], str]]
"""What to replace, in small letters, and what with."""


def normalise(words: str, own: Rules = ()) -> str:
    """``words`` as the same defect would be told by another release, on another machine, at another block size.

    ``own`` are the toolchain's rules, which come before those that hold for all.
    """
    # Without its "#", which would make a layout of what is spelled.
    text = _WHICH.sub(lambda found: found[1].rstrip("#") + _spelled(found[2]), readable(words).lower())
    for pattern, replacement in (*own, *_FORGET):
        text = pattern.sub(replacement, text)
    return text.strip(" .:;,!\n")


def fingerprint(failure_class: str, words: str, own: Rules = (), *, toolchain: str = DEFAULT_TOOLCHAIN) -> str:
    """``class:hash`` of a failure class and the words that a failure was told in.

    The hash names the toolchain, so that classes of one name in two toolchains stay apart; that of the default one is left out.
    """
    scope = "" if toolchain == DEFAULT_TOOLCHAIN else f"{toolchain}/"
    digest = hashlib.sha256(f"{scope}{failure_class}\n{normalise(words, own)}".encode("utf-8", "backslashreplace")).hexdigest()
    return f"{failure_class}:{digest[:DIGITS]}"


def _spelled(number: str) -> str:
    """A number in letters, so that the rule for sizes lets it pass."""
    return "n" + "".join(chr(ord("a") + int(digit)) for digit in number)
