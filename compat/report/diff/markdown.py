"""A comparison as a comment on a pull request: Markdown with collapsed details, short enough for GitHub."""

from __future__ import annotations

from collections.abc import Iterator

from compat.report.compact import Where, counted
from compat.report.diff.comparing import Comparison, Difference, Kind
from compat.report.diff.metrics import JumpGroup
from compat.report.diff.pairs import PairChange
from compat.report.diff.sentences import (
    PAIRS_TITLE,
    TITLES,
    change,
    headline,
    jump_line,
    look,
    pair_line,
    remarks,
    threshold_line,
    title,
    why,
)
from compat.report.markdown import code, escape, fence, prose

LIMIT = 65_536
"""Characters that a comment on GitHub may have."""
MARKER = "<!-- triton-compat diff -->"
"""The first line, by which a program finds the comment again."""
_ROOM = 1_000
"""Characters that are left for what is said after the details."""


def diff_markdown(found: Comparison) -> str:
    """The comparison as Markdown of less than :data:`LIMIT` characters; what is left out for that is said."""
    parts = [f"{MARKER}\n## Triton compatibility\n\n{escape(headline(found))}", _table(found)]
    parts += ["\n".join(f"- {escape(remark)}" for remark in noted)] if (noted := list(remarks(found))) else []
    text, left_out = "", 0
    for part in (*parts, *_sections(found)):
        longer = f"{text}\n\n{part}" if text else part
        if len(longer) > LIMIT - _ROOM:
            left_out += 1
        else:
            text = longer
    said = f"\n\n{counted(left_out, 'part')} of this comparison did not fit here: `compat diff` has all of it." if left_out else ""
    names = f"Compared {code(_short(found.old.name))} with {code(_short(found.new.name))} by triton-compat."
    return f"{text}{said}\n\n{names}\n"


def _table(found: Comparison) -> str:
    rows = (f"| {TITLES[kind]} | {number:,} |" for kind, number in found.counts.items())
    return "\n".join(("| | cells |", "| --- | ---: |", *rows, f"| the same | {found.same:,} |"))


def _sections(found: Comparison) -> Iterator[str]:
    """Collapsed details, a few differences each, so that few are left out where not all fit."""
    for kind in Kind:
        if kind is Kind.METRIC:
            yield from _details(threshold_line(found), [_jump(group) for group in found.jumps])
        elif differences := found.of(kind):
            yield from _details(title(kind, differences), [_difference(each, found) for each in differences])
    yield from _details(PAIRS_TITLE, [_pair(change) for change in found.pairs])


def _details(summary: str, items: list[str]) -> Iterator[str]:
    for at in range(0, len(items), _EACH):
        numbers = f" ({at + 1} to {min(at + _EACH, len(items))})" if len(items) > _EACH else ""
        body = "\n\n".join(items[at : at + _EACH])
        yield f"<details><summary>{summary}{numbers}</summary>\n\n{body}\n\n</details>"


_EACH = 20
"""Differences in one of the details."""


def _difference(difference: Difference, found: Comparison) -> str:
    head = f"**{escape(change(difference))}**: {'; '.join(map(_place, difference.where))}"
    says, advice = why(difference)
    if not says:
        return head
    return "\n\n".join((head, fence(_bounded(says)), *([prose(advice)] if advice else []), fence(look(difference, found), "sh")))


def _jump(group: JumpGroup) -> str:
    return f"{escape(jump_line(group))}: {'; '.join(map(_place, group.where))}"


def _pair(change: PairChange) -> str:
    head = f"**{code(change.name)}** {escape(pair_line(change))}"
    return f"{head}\n\n{fence(_bounded(change.says))}" if change.says else head


def _place(where: Where) -> str:
    return f"{code(where.subject)} on {escape(where.releases)} for {escape(', '.join(where.targets))}"


def _bounded(excerpt: str) -> str:
    return "\n".join(_short(line) for line in excerpt.splitlines())


def _short(text: str, width: int = 300) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
