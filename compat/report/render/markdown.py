"""Markdown for code forges: text that is safe in it, and templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from jinja2 import Environment

from compat.files import templates

CODE = r"(?<!`)(``(?!`)[^\n]+?(?<!`)``|`[^`\n]+`)(?!`)"
"""Pattern for code in prose: between backticks, or between two of them if it has one."""
EVIDENCE_LINES = 12
"""Maximum lines of an excerpt; the JSON has all of them."""


def escape(text: str) -> str:
    """``text`` as literal text, safe in a table cell.

    Underscores inside of words mean nothing to Markdown and stay as they are.
    """
    return _literal(" ".join(text.split()))


def prose(text: str) -> str:
    """An author's sentences: code between backticks stays code, all else is literal."""
    parts = re.split(CODE, " ".join(text.split()))
    return "".join(
        shards_text if number % 2 else _literal(shards_text)
        for number, shards_text in enumerate(parts)
    )


def prose_with_bold(text: str) -> str:
    """Render this tool's sentences with quotations: ``**…**`` stays bold, and the rest is prose."""
    parts = re.split(r"\*\*([^*\n]+)\*\*", text)
    texts = (f"**{prose(part)}**" if at % 2 else prose(part) for at, part in enumerate(parts))
    return " ".join(filter(None, texts))


def _literal(text: str) -> str:
    # A code forge makes a link of a URL, and would take a backslash in it as a part of its path.
    return re.sub(
        r"(https?://(?:[\w.~/?#@!$'()+,;=%:-]|&(?!#?\w+;))+)"
        r"|[\\`*\[\]<>|~&]|(?<!_)(?:(?<!\w)_+|_++(?!\w))",
        lambda special: special[1] or "".join(f"\\{character}" for character in special[0]),
        text,
    )


def code(text: str) -> str:
    """``text`` as a code span, whatever backticks it has. In a table, use :func:`table_code`."""
    flat = " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}" if flat else ""


def table_code(text: str) -> str:
    """``text`` as a code span in a table cell, where alone a backslash hides a pipe in code."""
    return code(text).replace("|", r"\|")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table line by line. Its texts are Markdown."""
    for cells in (headings, ["---"] * len(headings), *rows):
        yield f"| {' | '.join(cells)} |"


def fence(text: str, language: str = "text") -> str:
    """``text`` as a fenced block, cut in its middle to :data:`EVIDENCE_LINES`."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if len(lines) > EVIDENCE_LINES:
        half = EVIDENCE_LINES // 2
        lines = [*lines[:half], f"… ({len(lines) - 2 * half} lines left out)", *lines[-half:]]
    body = "\n".join(lines)
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    return f"{ticks}{language}\n{body}\n{ticks}"


def render_template(
    template: str,
    filters: tuple[Callable[..., object], ...] = (),
    *,
    package: str = "compat.report",
    **values: object,
) -> str:
    """Render a template of a package with these values, without consecutive empty lines.

    The template can use ``filters`` by their names.
    """
    environment = _environment(package)
    environment.filters |= {function.__name__: function for function in filters}
    text = environment.get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@cache
def _environment(package: str) -> Environment:
    environment = templates(package)
    environment.filters |= {
        function.__name__: function for function in (escape, prose, code, table_code, fence)
    }
    return environment
