"""Whether a function's body is written so that every Python from 3.8 on compiles it, if one does.

A file whose text the driver's Python takes can be a SyntaxError in an env's, as newer forms are, and some that the syntax tree does
not show. What is not known to be the same in all of them counts as not portable. Pure.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence

from compat.bundle.parsing import compiles_silently, tree_of

_FORMS = (
    *(ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.arguments, ast.arg, ast.keyword, ast.Return, ast.Delete, ast.Assign),
    *(ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.With, ast.withitem, ast.Raise, ast.Try, ast.ExceptHandler),
    *(ast.Assert, ast.Import, ast.ImportFrom, ast.alias, ast.Global, ast.Expr, ast.Pass, ast.Break, ast.Continue),
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.comprehension, ast.Yield, ast.YieldFrom, ast.Compare, ast.Call, ast.JoinedStr, ast.FormattedValue),
    *(ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Name, ast.List, ast.Tuple),
    *(ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
"""What Python 3.8 knows, ``async``, ``nonlocal`` and ``:=`` aside, whose rules have changed since."""
_DEPTH = 40
"""Nodes inside of nodes: how deep a Python goes differs."""
_PARENTHESES = 20
_JUMPS = ast.Return | ast.Break | ast.Continue


_known: dict[bytes, frozenset[tuple[int, int]]] = {}


def portable_bodies(content: bytes) -> frozenset[tuple[int, int]]:
    """Where the bodies in a file are of which it can be told that each Python that compiles the rest of it compiles them, too.

    As indexes of the first line and of the one after it; none where this Python does not compile the file, or warns of something.
    """
    key = hashlib.sha256(content).digest()
    if key not in _known:
        _known[key] = frozenset(_portable_in(content) if compiles_silently(content) else ())
    return _known[key]


def _portable_in(content: bytes) -> Iterator[tuple[int, int]]:
    lines = content.split(b"\n")
    for node in ast.walk(tree_of(content)):
        if isinstance(node, ast.FunctionDef | ast.If) and _is_portable(node, lines):
            decorators = getattr(node.body[0], "decorator_list", ())
            yield min([node.body[0].lineno, *(each.lineno for each in decorators)]) - 1, node.body[-1].end_lineno or 0


def _is_portable(owner: ast.FunctionDef | ast.If, lines: Sequence[bytes]) -> bool:
    body = owner.body
    own = lines[body[0].lineno - 1 : body[-1].end_lineno]
    indentation = lines[owner.lineno - 1][: owner.col_offset]
    if any(line.strip() and not line.startswith(indentation) for line in own):  # a decorator looks for what all have in common
        return False
    text = b"\n".join(own)
    return _parentheses(text) <= _PARENTHESES and text.isascii() and all(_is_as_ever(node, lines) for node in _nodes(body))


def _nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST | None]:
    """All nodes; ``None`` for what is too deep."""
    waiting: list[tuple[ast.AST, int]] = [(node, 0) for node in body]
    while waiting:
        node, depth = waiting.pop()
        yield node if depth < _DEPTH else None
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)] if depth < _DEPTH else []


def _parentheses(text: bytes) -> int:
    """How deep brackets are nested; those in texts count, too."""
    depth = most = 0
    for each in text:
        depth = depth + 1 if each in b"([{" else max(0, depth - 1) if each in b")]}" else depth
        most = max(most, depth)
    return most


def _is_as_ever(node: ast.AST | None, lines: Sequence[bytes]) -> bool:
    if not isinstance(node, _FORMS) or getattr(node, "type_params", None):
        return False
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return all(isinstance(each, ast.Name | ast.Attribute | ast.Call) for each in node.decorator_list)
        case ast.Subscript(slice=ast.Tuple(elts=elements)):
            return not any(isinstance(each, ast.Starred) for each in elements)
        case ast.Subscript(slice=ast.Starred()) | ast.arg(annotation=ast.Starred()):
            return False
        case ast.For(iter=ast.Tuple(elts=elements)) | ast.Return(value=ast.Tuple(elts=elements)):
            return not any(isinstance(each, ast.Starred) for each in elements)
        case ast.With(items=items):  # parentheses around all items
            return not _at(items[0].context_expr, lines, before=True).rstrip().endswith(b"(")
        case ast.ExceptHandler(type=ast.Tuple() as kinds):
            return _at(kinds, lines).startswith(b"(")
        case ast.Try(finalbody=statements):
            return not any(isinstance(each, _JUMPS) for one in statements for each in ast.walk(one))
        case ast.JoinedStr():
            return _is_plain_format(node, lines)
    return True


def _at(node: ast.expr, lines: Sequence[bytes], *, before: bool = False) -> bytes:
    line = lines[node.lineno - 1]
    return line[: node.col_offset] if before else line[node.col_offset :]


def _is_plain_format(node: ast.JoinedStr, lines: Sequence[bytes]) -> bool:
    """Whether an f-string is one token, on one line, without what only newer Pythons take in it."""
    if node.lineno != node.end_lineno or any(isinstance(each, ast.JoinedStr) for each in _inside(node)):
        return False
    text = lines[node.lineno - 1][node.col_offset : node.end_col_offset].lstrip(b"fFrR")
    quote = text[:3] if text[:3] in (b'"""', b"'''") else text[:1]
    inner = text[len(quote) : -len(quote)]
    return text.endswith(quote) and quote[:1] not in inner and not set(b"\\#") & set(inner)


def _inside(node: ast.JoinedStr) -> Iterator[ast.AST]:
    """What is in the values of an f-string; the format of a value is one itself, and may have values, but no formats of these."""
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            yield from ast.walk(value.value)
            formats = value.format_spec.values if isinstance(value.format_spec, ast.JoinedStr) else ()
            for each in formats:
                yield from ast.walk(each)
