"""Source files as top-level statements, and the meaning of global names through imports."""

from __future__ import annotations

import ast
import builtins
import os
import re
from collections.abc import Iterable, Iterator
from copy import copy
from functools import cached_property
from pathlib import Path

from attrs import define, evolve, field, frozen

from compat.source.imports import file_of
from compat.source.parsing import NameUse, attributes_set, bound_by, text_of, tree_of, uses, walk
from compat.text import lazy_pattern

Definition = ast.FunctionDef | ast.ClassDef
_PRAGMA = lazy_pattern(
    rb"(?<![ \t])[ \t]*+#[ \t]*+(?:fmt: ?\w+|noqa\b.*|type: ?ignore.*)$", re.MULTILINE
)


@define(kw_only=True, eq=False)
class ParsedFile:
    """A source file, taken apart."""

    path: Path
    lines: list[bytes]
    """Bytes, because the syntax tree counts its columns in bytes."""
    around: ParsedFile | None = None
    """The scope that gives a meaning to names that this one does not bind. A function's scope lies
    in a file.
    """
    inside: tuple[str, ...] = ()
    """The functions and classes of the file that such a scope is inside of, outermost first."""
    decorators: frozenset[str] | None = None
    """The decorators that are not left behind, by the last part of their names; ``None`` for
    all.
    """
    statements: list[Statement] = field(factory=list)

    @classmethod
    def of(
        cls,
        path: Path,
        text: str,
        around: ParsedFile | None = None,
        inside: tuple[str, ...] = (),
        decorators: frozenset[str] | None = None,
    ) -> ParsedFile:
        """Parse a file with this text, or a scope inside of another file.

        A scope keeps the decorators that the file around it keeps. Raises SyntaxError.
        """
        lines = [f"{line}\n".encode() for line in text.split("\n")]
        if around is not None:
            inside, decorators = (*around.inside, *inside), around.decorators
        file = cls(path=path, lines=lines, around=around, inside=inside, decorators=decorators)
        file.statements += [Statement.of(file, node) for node in tree_of(text, path.name).body]
        return file

    def binding(self, name: str) -> list[Statement]:
        """Return the statements that give a name its meaning.

        If the name is a class, statements that set its attributes are included.
        """
        found = [statement for statement in self.statements if name in statement.binds]
        if not any(isinstance(statement.node, ast.ClassDef) for statement in found):
            return found
        return [
            statement
            for statement in self.statements
            if name in statement.binds or name in attributes_set(statement.node)
        ]

    def keeps(self, decorator: str) -> bool:
        """Return whether a decorator is kept.

        ``staticmethod`` is not, because it means nothing outside of a class.
        """
        return decorator != "staticmethod" and (
            self.decorators is None or decorator in self.decorators
        )

    def futures(self) -> Iterator[str]:
        """Its ``from __future__`` imports, which change what all the rest means."""
        for statement in self.statements:
            if isinstance(statement.node, ast.ImportFrom) and statement.node.module == "__future__":
                yield ast.unparse(statement.node)


@define(kw_only=True, eq=False)
class Statement:
    """One top-level statement of a file."""

    file: ParsedFile
    node: ast.stmt
    binds: frozenset[str]
    uses: tuple[NameUse, ...]
    dropped: tuple[ast.expr, ...]
    """Decorators that are left behind."""

    @classmethod
    def of(cls, file: ParsedFile, node: ast.stmt) -> Statement:
        dropped: tuple[ast.expr, ...] = ()
        if isinstance(node, Definition):
            dropped = tuple(
                decorator
                for decorator in node.decorator_list
                if not file.keeps(called_by(decorator))
            )
            node.decorator_list = [
                decorator for decorator in node.decorator_list if decorator not in dropped
            ]
        return cls(
            file=file, node=node, binds=bound_by(node), uses=tuple(uses(node)), dropped=dropped
        )

    def decorated(self) -> Statement:
        """The same with the decorators that are left behind otherwise."""
        if not (self.dropped and isinstance(self.node, Definition)):
            return self
        node = copy(self.node)
        node.decorator_list = sorted(
            [*self.dropped, *node.decorator_list], key=lambda each: each.lineno
        )
        return evolve(self, node=node, uses=tuple(uses(node)), dropped=())

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every name that stands anywhere in it."""
        names = (name for name in walk(self.node) if isinstance(name, ast.Name | ast.arg))
        return frozenset(name.id if isinstance(name, ast.Name) else name.arg for name in names)

    @property
    def start(self) -> int:
        """Index of its first line, with decorators and the comment that stands right above."""
        first = (
            min(
                [
                    self.node.lineno,
                    *(decorator.lineno for decorator in (*self.dropped, *_decorators(self.node))),
                ]
            )
            - 1
        )
        while (
            first
            and self.file.lines[first - 1].startswith(b"#")
            and not self.file.lines[first - 1].startswith(b"#!")
        ):
            first -= 1
        return first

    def text(self, edits: Iterable[tuple[ast.expr, str]], renamed: dict[str, str]) -> str:
        """Its source, with expressions replaced and with what it defines renamed."""
        assert self.node.end_lineno is not None
        lines = dict(enumerate(self.file.lines[self.start : self.node.end_lineno], self.start))
        for node, new in sorted(
            edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True
        ):
            assert node.end_col_offset is not None, (
                "a name and its attributes, which stand on one line"
            )
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = (
                line[: node.col_offset] + new.encode() + line[node.end_col_offset :]
            )
        if isinstance(self.node, Definition) and self.node.name in renamed:
            head = rf"^(def|class)(\s+){self.node.name}\b".encode()
            lines[self.node.lineno - 1] = re.sub(
                head,
                rb"\1\2" + renamed[self.node.name].encode(),
                lines[self.node.lineno - 1],
                count=1,
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


# --- names ----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Ours:
    """A definition in one of our files."""

    file: ParsedFile
    name: str


@frozen(kw_only=True)
class ModulePlace:
    """One of our files itself, without its suffix, or a folder of them."""

    place: Path


@frozen(kw_only=True)
class Installed:
    """Something of an installed package, and the statement that imports it."""

    statement: str


Meaning = Ours | ModulePlace | Installed
_Seen = frozenset[tuple[Path, str]]


@define(kw_only=True)
class Names:
    """Finds out what the global names of files mean, across imports."""

    roots: tuple[Path, ...]
    """The folders from which absolute imports of files are resolved."""
    decorators: frozenset[str] | None = None
    """The decorators that files keep, as in :class:`ParsedFile`."""
    _files: dict[Path, ParsedFile] = field(factory=dict)

    def file(self, path: Path) -> ParsedFile:
        if path not in self._files:
            self._files[path] = ParsedFile.of(path, text_of(path), decorators=self.decorators)
        return self._files[path]

    def meaning(self, file: ParsedFile, name: str, seen: _Seen = frozenset()) -> Meaning | None:
        """Return what a global name of a file means.

        Returns ``None`` for builtins and for names that nothing defines.
        """
        if (file.path, name) in seen:
            return None
        seen |= {(file.path, name)}
        nodes = [statement.node for statement in file.binding(name)]
        if not nodes and file.around is not None:
            return self.meaning(file.around, name, seen)
        if not nodes:
            return self._starred(file, name, seen)
        last = nodes[-1]
        if isinstance(last, ast.Import):
            return self._module(last, name)
        if isinstance(last, ast.ImportFrom):
            return self._imported(file, last, name, seen)
        return Ours(file=file, name=name)

    def member(self, module: ModulePlace, name: str, seen: _Seen = frozenset()) -> Meaning | None:
        """Return what ``module.name`` means.

        A name that the file defines or imports comes before a file in the module's folder.
        """
        path = file_of(module.place)
        if path is not None and (meaning := self.meaning(self.file(path), name, seen)) is not None:
            return meaning
        return ModulePlace(place=module.place / name) if _is_ours(module.place / name) else None

    def _module(self, node: ast.Import, name: str) -> Meaning:
        alias = next(
            name_alias
            for name_alias in node.names
            if (name_alias.asname or name_alias.name.partition(".")[0]) == name
        )
        root = self._root_of(alias.name.partition(".")[0])
        if root is None:
            return Installed(statement=ast.unparse(ast.Import(names=[alias])))
        return ModulePlace(place=root.joinpath(*(alias.name if alias.asname else name).split(".")))

    def _root_of(self, package: str) -> Path | None:
        """The root that a package or module of ours is in; ``None`` for one that is installed."""
        return next((root for root in self.roots if _is_ours(root / package)), None)

    def _imported(
        self, file: ParsedFile, node: ast.ImportFrom, name: str, seen: _Seen
    ) -> Meaning | None:
        alias = next(
            name_alias
            for name_alias in node.names
            if (name_alias.asname or name_alias.name) == name
        )
        place = self._place(file, node)
        if place is not None:
            return self.member(ModulePlace(place=place), alias.name, seen)
        return Installed(
            statement=ast.unparse(ast.ImportFrom(module=node.module, names=[alias], level=0))
        )

    def _starred(self, file: ParsedFile, name: str, seen: _Seen) -> Meaning | None:
        for node in (statement.node for statement in file.statements):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                place = self._place(file, node)
                if (
                    place is not None
                    and (meaning := self.member(ModulePlace(place=place), name, seen)) is not None
                ):
                    return meaning
                if place is None and not hasattr(builtins, name):
                    return Installed(statement=ast.unparse(node))
        return None

    def _place(self, file: ParsedFile, node: ast.ImportFrom) -> Path | None:
        """Return where among our files ``from … import`` looks.

        Returns ``None`` if the import means an installed package.
        """
        parts = node.module.split(".") if node.module else []
        start = file.path.parent if node.level else self._root_of(parts[0])
        for _ in range(node.level - 1):
            start = start.parent if start else None
        return start.joinpath(*parts) if start else None


def _is_ours(place: Path) -> bool:
    return file_of(place) is not None or (os.path.isdir(place) and any(place.glob("*.py")))
