"""Source files taken apart into their top-level statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path

from attrs import define, evolve, field

from compat.bundle.parsing import text_of, tree_of
from compat.bundle.scopes import Use, bound_by, uses
from compat.patterns import lazy_pattern

Definition = ast.FunctionDef | ast.ClassDef
_KEPT_DECORATORS = frozenset({"jit", "constexpr_function", "aggregate", "dataclass"})
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_PRAGMA = lazy_pattern(rb"(?<![ \t])[ \t]*+#[ \t]*+(?:fmt: ?\w+|noqa\b.*|type: ?ignore.*)$", re.MULTILINE)


@define(kw_only=True, eq=False)
class File:
    """A source file, taken apart."""

    path: Path
    lines: list[bytes]
    """Bytes, since that is what the syntax tree counts its columns in."""
    around: File | None = None
    """Where names mean something that this one does not bind: what is no file, but the scope of a function, lies in one."""
    inside: tuple[str, ...] = ()
    """The functions and classes of the file that such a scope is inside of, outermost first."""
    statements: list[Statement] = field(factory=list)

    @classmethod
    def read(cls, path: Path) -> File:
        """The file at a path. Raises OSError, and SyntaxError where it is not Python."""
        return cls.of(path, text_of(path))

    @classmethod
    def of(cls, path: Path, text: str, around: File | None = None, inside: tuple[str, ...] = ()) -> File:
        """A file with this text, or a scope in another. Raises SyntaxError."""
        lines = [f"{line}\n".encode() for line in text.split("\n")]
        inside = inside if around is None else (*around.inside, *inside)
        file = cls(path=path, lines=lines, around=around, inside=inside)
        file.statements += [Statement.of(file, node) for node in tree_of(text, path.name).body]
        return file

    def binding(self, name: str) -> list[Statement]:
        """The statements that give a name its meaning."""
        return [statement for statement in self.statements if name in statement.binds]

    def futures(self) -> Iterator[str]:
        """Its ``from __future__`` imports, which change what all the rest means."""
        for each in self.statements:
            if isinstance(each.node, ast.ImportFrom) and each.node.module == "__future__":
                yield ast.unparse(each.node)


@define(kw_only=True, eq=False)
class Statement:
    """One top-level statement of a file."""

    file: File
    node: ast.stmt
    binds: frozenset[str]
    uses: tuple[Use, ...]
    dropped: tuple[ast.expr, ...]
    """Decorators that are left behind."""

    @classmethod
    def of(cls, file: File, node: ast.stmt) -> Statement:
        dropped: tuple[ast.expr, ...] = ()
        if isinstance(node, Definition):
            dropped = tuple(each for each in node.decorator_list if called_by(each) not in _KEPT_DECORATORS)
            node.decorator_list = [each for each in node.decorator_list if each not in dropped]
        return cls(file=file, node=node, binds=bound_by(node), uses=tuple(uses(node)), dropped=dropped)

    def decorated(self) -> Statement:
        """The same with the decorators that are left behind otherwise."""
        if not (self.dropped and isinstance(self.node, Definition)):
            return self
        node = copy(self.node)
        node.decorator_list = sorted([*self.dropped, *node.decorator_list], key=lambda each: each.lineno)
        return evolve(self, node=node, uses=tuple(uses(node)), dropped=())

    @property
    def start(self) -> int:
        """Index of its first line, with decorators and the comment that stands right above."""
        first = min([self.node.lineno, *(each.lineno for each in (*self.dropped, *_decorators(self.node)))]) - 1
        while first and self.file.lines[first - 1].startswith(b"#") and not self.file.lines[first - 1].startswith(b"#!"):
            first -= 1
        return first

    def text(self, edits: Iterable[tuple[ast.expr, str]], renamed: dict[str, str]) -> str:
        """Its source, with expressions replaced and with what it defines renamed."""
        assert self.node.end_lineno is not None
        lines = dict(enumerate(self.file.lines[self.start : self.node.end_lineno], self.start))
        for node, new in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
            assert node.end_col_offset is not None, "a name and its attributes, which stand on one line"
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = line[: node.col_offset] + new.encode() + line[node.end_col_offset :]
        if isinstance(self.node, Definition) and self.node.name in renamed:
            head = rf"^(def|class)(\s+){self.node.name}\b".encode()
            lines[self.node.lineno - 1] = re.sub(
                head, rb"\1\2" + renamed[self.node.name].encode(), lines[self.node.lineno - 1], count=1
            )
        for decorator in self.dropped:
            for number in range(decorator.lineno - 1, decorator.end_lineno or decorator.lineno):
                lines.pop(number, None)
        return _PRAGMA.sub(b"", b"".join(lines.values())).decode().rstrip()


def called_by(decorator: ast.expr) -> str:
    """``jit`` of ``@triton.jit``, ``@jit`` and ``@triton.jit(noinline=True)``."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, Definition) else []


def optional_imports(tree: ast.Module) -> Iterator[tuple[str, ast.Import | ast.ImportFrom]]:
    """Each name that an import in a ``try`` binds where a handler goes on after an ``ImportError``, with the import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(_goes_on_without(handler) for handler in node.handlers):
            for each in (inner for statement in node.body for inner in ast.walk(statement)):
                if isinstance(each, ast.Import | ast.ImportFrom):
                    yield from ((alias.asname or alias.name.partition(".")[0], each) for alias in each.names)


def _goes_on_without(handler: ast.ExceptHandler) -> bool:
    caught = {getattr(each, "id", "") for each in ast.walk(handler.type)} if handler.type else _IMPORT_ERRORS
    return bool(caught & _IMPORT_ERRORS) and not any(isinstance(each, ast.Raise) for each in handler.body)
