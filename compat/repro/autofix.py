"""The smallest edit that makes a kernel compile: for a term that lacks its axis.

What has which shape is not known from the text, so it is tried: every term of the failing statement that has no ``[:, None]`` or
``[None, :]`` gets one. An edit is good if the kernel compiles then, or fails further down for the same reason.

An edit only inserts characters, at places that the syntax tree names: comments and line breaks stay as they were written.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from compat.bundle.parsing import tree_of
from compat.history.verdict import is_good
from compat.model import Outcome

FAILURE_CLASS = "shape-mismatch"
"""The failure class that this can fix."""
_STATEMENTS = 6
"""Statements that are fixed one after the other at most."""
_ATOMS = ast.Name | ast.Call | ast.Attribute
"""What takes an axis without parentheses of its own."""
_AXES = ("[:, None]", "[None, :]")

Try = Callable[[Sequence[str]], Sequence[Outcome]]
"""Compiles texts of the kernel and says what became of each."""


@frozen(kw_only=True)
class _Span:
    """Where an expression stands: lines from 1, columns in bytes."""

    line: int
    column: int
    end_line: int
    end_column: int
    in_parentheses: bool
    """It has parentheses of its own, right around it."""
    bare: bool
    """It needs parentheses before an axis can follow it."""

    @classmethod
    def of(cls, term: ast.expr, lines: Sequence[bytes]) -> _Span:
        end_line, end_column = term.end_lineno or 0, term.end_col_offset or 0
        before, after = lines[term.lineno - 1][: term.col_offset], lines[end_line - 1][end_column:]
        of_a_call = before[-2:-1].isalnum() or before[-2:-1] in (b"_", b")", b"]")  # not the argument's own
        in_parentheses = before.endswith(b"(") and after.startswith(b")") and not of_a_call
        bare = not in_parentheses and not isinstance(term, _ATOMS)
        return cls(
            line=term.lineno,
            column=term.col_offset,
            end_line=end_line,
            end_column=end_column,
            in_parentheses=in_parentheses,
            bare=bare,
        )


@frozen(kw_only=True)
class _Edit:
    """An axis after an expression, in every statement that says the same."""

    spans: tuple[_Span, ...]
    axis: str

    def apply(self, text: str) -> str:
        inserted: list[tuple[int, int, str]] = []
        for span in self.spans:
            if span.bare:
                inserted.append((span.line, span.column, "("))
            shut = ")" if span.bare else ""
            inserted.append((span.end_line, span.end_column + span.in_parentheses, f"{shut}{self.axis}"))
        lines = [line.encode() for line in text.split("\n")]
        for number, column, new in sorted(inserted, reverse=True):
            line = lines[number - 1]
            lines[number - 1] = line[:column] + new.encode() + line[column:]
        return b"\n".join(lines).decode()


def fix(text: str, try_all: Try) -> str | None:
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
    if failure is None or failure.failure_class != FAILURE_CLASS or not failure.location:
        return None
    return int(failure.location.rpartition(":")[2])


def _edits(text: str, line: int) -> Iterator[_Edit]:
    """What can be tried in the statement at that line: rows before columns, and first what has parentheses or needs none."""
    statements = [each for each in ast.walk(tree_of(text)) if isinstance(each, ast.stmt) and not hasattr(each, "body")]
    here = [each for each in statements if each.lineno <= line <= (each.end_lineno or each.lineno)]
    if not here:
        return
    said = ast.dump(here[0])
    alike = [list(_terms(each)) for each in statements if ast.dump(each) == said]
    lines = [each.encode() for each in text.split("\n")]
    terms = list(zip(*alike, strict=True))
    spans = [tuple(_Span.of(term, lines) for term in same) for same in terms]
    spans.sort(key=lambda same: (not same[0].in_parentheses, same[0].bare))
    for axis in _AXES:
        yield from (_Edit(spans=same, axis=axis) for same in spans)


def _terms(statement: ast.stmt) -> Iterator[ast.expr]:
    """Operands that may lack an axis."""
    for node in ast.walk(statement):
        operands: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        yield from (each for each in operands if not isinstance(each, ast.Constant | ast.Subscript))
