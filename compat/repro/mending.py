"""The smallest edit that makes a kernel compile: for a term that lacks its axis.

What has which shape is not known from the text, so it is tried: every term of the failing statement that has no ``[:, None]`` or
``[None, :]`` gets one. An edit is good if the kernel compiles then, or fails further down for the same reason.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from compat.model import Outcome
from compat.search.verdict import is_good

KIND = "shape-mismatch"
"""The class of failure that this can mend."""
_STATEMENTS = 6
"""Statements that are mended one after the other; a kernel with more is not a slip."""
_ATOMS = ast.Name | ast.Call | ast.Attribute
"""What takes an axis without parentheses of its own."""
_AXES = ("[:, None]", "[None, :]")

Try = Callable[[Sequence[str]], Sequence[Outcome]]
"""Compiles texts of the kernel and says what became of each."""


@frozen(kw_only=True)
class _Edit:
    """An axis after an expression, in every statement that says the same."""

    ends: tuple[tuple[int, int, int, int, bool], ...]
    """Line, column, end line, end column of each expression, and whether it stands in parentheses."""
    axis: str

    def apply(self, text: str) -> str:
        lines = [line.encode() for line in text.split("\n")]
        for row, column, end_row, end_column, in_parentheses in sorted(self.ends, reverse=True):
            end = lines[end_row - 1]
            close = end_column + end[end_column:].index(b")") + 1 if in_parentheses else end_column
            shut = b"" if in_parentheses or row != end_row or _is_atom(end[column:end_column]) else b")"
            lines[end_row - 1] = end[:close] + shut + self.axis.encode() + end[close:]
            if shut:
                lines[row - 1] = lines[row - 1][:column] + b"(" + lines[row - 1][column:]
        return b"\n".join(lines).decode()


def mend(text: str, try_all: Try) -> str | None:
    """The text with the edits that make it compile, or ``None`` where none were found."""
    (outcome,) = try_all([text])
    for _ in range(_STATEMENTS):
        line = _line(outcome)
        if line is None:
            return None
        texts = list(dict.fromkeys(edit.apply(text) for edit in _edits(text, line)))
        tried = list(zip(texts, try_all(texts) if texts else (), strict=True))
        good = next((each for each, found in tried if is_good(found)), None)
        if good is not None:
            return good
        further = [(each, found) for each, found in tried if (_line(found) or 0) > line]
        if not further:
            return None
        text, outcome = further[0]
    return None


def difference(before: str, after: str) -> str:
    """The edits as a diff."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return "\n".join("@@" if line.startswith("@@") else line for line in lines if not line.startswith(("---", "+++")))


def _line(outcome: Outcome) -> int | None:
    """The line at which shapes do not fit."""
    failure = outcome.failure
    if failure is None or failure.kind != KIND or not failure.location:
        return None
    return int(failure.location.rpartition(":")[2])


def _edits(text: str, line: int) -> Iterator[_Edit]:
    """What can be tried in the statement at that line: rows before columns, and first what has parentheses or needs none."""
    statements = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.stmt) and not hasattr(each, "body")]
    here = [each for each in statements if each.lineno <= line <= (each.end_lineno or each.lineno)]
    if not here:
        return
    said = ast.dump(here[0])
    alike = [list(_terms(each)) for each in statements if ast.dump(each) == said]
    lines = [each.encode() for each in text.split("\n")]
    terms = list(zip(*alike, strict=True))
    terms.sort(key=lambda same: (not _place(same[0], lines)[-1], not isinstance(same[0], _ATOMS)))
    places = [tuple(_place(term, lines) for term in same) for same in terms]
    for axis in _AXES:
        yield from (_Edit(ends=same, axis=axis) for same in places)


def _terms(statement: ast.stmt) -> Iterator[ast.expr]:
    """Operands that may lack an axis."""
    for node in ast.walk(statement):
        operands: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        yield from (each for each in operands if not isinstance(each, ast.Constant | ast.Subscript))


def _place(term: ast.expr, lines: Sequence[bytes]) -> tuple[int, int, int, int, bool]:
    row, column, end_row, end_column = term.lineno, term.col_offset, term.end_lineno or 0, term.end_col_offset or 0
    in_parentheses = lines[row - 1][:column].endswith(b"(") and lines[end_row - 1][end_column:].startswith(b")")
    called = in_parentheses and lines[row - 1][: column - 1][-1:].isalnum()  # the parentheses of a call are not its argument's own
    return row, column, end_row, end_column, in_parentheses and not called


def _is_atom(source: bytes) -> bool:
    return isinstance(ast.parse(source.strip(), mode="eval").body, _ATOMS)
