"""Source files as top-level statements, and the meaning of global names through imports."""

from __future__ import annotations

import ast
import builtins
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path

from attrs import define, evolve, field, frozen

from compat.source.imports import file_of
from compat.source.parsing import attributes_set, defined_names, text_of, tree_of, uses, walk
from compat.text import lazy_pattern

Definition = ast.FunctionDef | ast.ClassDef
_PRAGMA = lazy_pattern(
    rb"(?<![ \t])[ \t]*+#[ \t]*+(?:fmt: ?\w+|noqa\b.*|type: ?ignore.*)$", re.MULTILINE
)


@define(kw_only=True, eq=False)
class ParsedFile:
    """A source file, split into its statements."""

    path: Path
    lines: list[bytes]
    """Bytes, because the syntax tree counts its columns in bytes."""
    around: ParsedFile | None = None
    """The enclosing scope, for names that this one does not bind. The scope of a function is inside
    of a file.
    """
    inside: tuple[str, ...] = ()
    """The functions and classes of the file around such a scope, outermost first."""
    decorators: frozenset[str] | None = None
    """The decorators that are kept, by the last part of their names; ``None`` for all."""
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
        file.statements += [
            Statement.of(file, node, defined_names(node)) for node in tree_of(text, path.name).body
        ]
        return file

    def take_apart(self, is_taken: Callable[[ast.If | ast.Try], bool]) -> None:
        """Split ``if`` and ``try`` statements into the statements in their branches.

        A statement is split off if no other statement binds its names: where such a name is used,
        the statement was executed. A function that only raises does not count as a binding, nor
        does ``None``. All other names keep the whole ``if`` or ``try``. ``is_taken`` chooses the
        ``if`` and ``try`` statements to split.
        """
        origins: dict[str, set[str]] = {}
        for leaf in _leaves(statement.node for statement in self.statements):
            for name in () if self._is_stub(leaf) else defined_names(leaf):
                origins.setdefault(name, set()).add(_origin(leaf, name))
        parts: list[Statement] = []
        for statement in self.statements:
            node = statement.node
            if not isinstance(node, ast.If | ast.Try) or not is_taken(node):
                parts.append(statement)
                continue
            alone = [
                leaf
                for leaf in _leaves([node])
                if not self._is_stub(leaf)
                and all(len(origins[name]) == 1 for name in defined_names(leaf))
                and not self.lines[leaf.lineno - 1][: leaf.col_offset].strip()
            ]
            remaining = statement.binds.difference(*map(defined_names, alone))
            parts += [Statement.of(self, leaf, defined_names(leaf)) for leaf in alone]
            if remaining:
                parts.append(evolve(statement, binds=remaining))
        self.statements = parts

    def _is_stub(self, node: ast.stmt) -> bool:
        """Whether a statement only marks a name as missing: with ``None``, or by raising."""
        if isinstance(node, ast.FunctionDef):
            is_kept = any(self.keeps(callable_name(decorator)) for decorator in node.decorator_list)
            return not is_kept and isinstance(node.body[-1], ast.Raise) and len(node.body) <= 2
        return (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and node.value.value is None
        )

    def binding(self, name: str) -> list[Statement]:
        """Return the statements that bind a name.

        If the name is a class, statements that set its attributes are included.
        """
        statements = [statement for statement in self.statements if name in statement.binds]
        if not any(isinstance(statement.node, ast.ClassDef) for statement in statements):
            return statements
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
        """Its ``from __future__`` imports, which change the meaning of the rest of the file."""
        for statement in self.statements:
            if isinstance(statement.node, ast.ImportFrom) and statement.node.module == "__future__":
                yield ast.unparse(statement.node)


@define(kw_only=True, eq=False)
class Statement:
    """One statement of a file, at the top level or in an ``if`` or a ``try`` there."""

    file: ParsedFile
    node: ast.stmt
    binds: frozenset[str]
    dropped: tuple[ast.expr, ...]
    """Decorators that are not kept."""
    omitted: tuple[ast.FunctionDef, ...] = ()
    """Methods that its text leaves out."""

    @classmethod
    def of(cls, file: ParsedFile, node: ast.stmt, binds: frozenset[str]) -> Statement:
        dropped: tuple[ast.expr, ...] = ()
        if isinstance(node, Definition):
            dropped = tuple(
                decorator
                for decorator in node.decorator_list
                if not file.keeps(callable_name(decorator))
            )
            node.decorator_list = [
                decorator for decorator in node.decorator_list if decorator not in dropped
            ]
        return cls(file=file, node=node, binds=binds, dropped=dropped)

    def with_decorators(self) -> Statement:
        """The same statement with the decorators that are otherwise not kept."""
        if not (self.dropped and isinstance(self.node, Definition)):
            return self
        node = copy(self.node)
        node.decorator_list = sorted(
            [*self.dropped, *node.decorator_list], key=lambda decorator: decorator.lineno
        )
        return evolve(self, node=node, dropped=())

    def without_methods(self, kept_decorators: frozenset[str]) -> Statement:
        """The same statement without methods that have other decorators and no use in the class.

        A host calls such a method, which may compile the class and use what no kernel needs.
        """
        if not isinstance(self.node, ast.ClassDef):
            return self
        others = [
            part
            for part in self.node.body
            if isinstance(part, ast.FunctionDef)
            and not {callable_name(decorator) for decorator in part.decorator_list}
            <= kept_decorators
        ]
        kept = [part for part in self.node.body if part not in others]
        used = {
            node.attr for part in kept for node in walk(part) if isinstance(node, ast.Attribute)
        }
        omitted = tuple(part for part in others if part.name not in used)
        if not omitted or len(omitted) == len(self.node.body):
            return self
        node = copy(self.node)
        node.body = [part for part in self.node.body if part not in omitted]
        return evolve(self, node=node, omitted=omitted)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every name in the statement."""
        names = (name for name in walk(self.node) if isinstance(name, ast.Name | ast.arg))
        return frozenset(name.id if isinstance(name, ast.Name) else name.arg for name in names)

    @property
    def start(self) -> int:
        """Index of its first line, with decorators and the comment directly above."""
        kept = self.node.decorator_list if isinstance(self.node, Definition) else []
        first = min([self.node.lineno, *(node.lineno for node in (*self.dropped, *kept))]) - 1
        margin = b" " * self.node.col_offset
        while (
            first
            and self.file.lines[first - 1].startswith(margin + b"#")
            and not self.file.lines[first - 1].startswith(b"#!")
        ):
            first -= 1
        return first

    def text(self, edits: Iterable[tuple[ast.expr, str]], renamed: dict[str, str]) -> str:
        """Its source at the top level, with expressions replaced and its definition renamed."""
        assert self.node.end_lineno is not None
        lines = dict(enumerate(self.file.lines[self.start : self.node.end_lineno], self.start))
        first, last, column = self.node.lineno - 1, self.node.end_lineno - 1, self.node.col_offset
        if lines[last][self.node.end_col_offset :].lstrip().startswith((b";", b"\\")):
            lines[last] = lines[last][: self.node.end_col_offset] + b"\n"
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
        lines[first] = b" " * column + lines[first][column:]  # without statements before it
        if isinstance(self.node, Definition) and self.node.name in renamed:
            head = rf"^(\s*(?:def|class)\s+){self.node.name}\b".encode()
            lines[self.node.lineno - 1] = re.sub(
                head,
                rb"\1" + renamed[self.node.name].encode(),
                lines[self.node.lineno - 1],
                count=1,
            )
        omitted = [
            (
                min(method.lineno, *(part.lineno for part in method.decorator_list)),
                method.end_lineno,
            )
            for method in self.omitted
        ]
        decorators = [(decorator.lineno, decorator.end_lineno) for decorator in self.dropped]
        for start, end in [*omitted, *decorators]:
            for number in range(start - 1, end or start):
                lines.pop(number, None)
        text = b"".join(dedent_lines(lines.items(), self.node))
        return _PRAGMA.sub(b"", text).decode().rstrip()


def dedent_lines(lines: Iterable[tuple[int, bytes]], node: ast.stmt) -> Iterator[bytes]:
    """Yield the lines of a statement as they would stand at the top level.

    ``lines`` are pairs of index and line. Lines inside of a string stay as they are.
    """
    inside = {
        number
        for string in ast.walk(node)
        if isinstance(string, ast.Constant | ast.JoinedStr) and string.end_lineno is not None
        for number in range(string.lineno, string.end_lineno)
    }
    for number, line in lines:
        margin = min(node.col_offset, len(line) - len(line.lstrip(b" \t")))
        yield line if number in inside else line[margin:]


def _accessed_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names whose attributes are read, and those that are passed to a function."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id
        elif isinstance(node, ast.Call):
            yield from (argument.id for argument in node.args if isinstance(argument, ast.Name))


def _leaves(nodes: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and in place of an ``if`` or a ``try`` the statements in its branches."""
    for node in nodes:
        if isinstance(node, ast.If):
            yield from _leaves([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handled = [statement for handler in node.handlers for statement in handler.body]
            yield from _leaves([*node.body, *handled, *node.orelse, *node.finalbody])
        else:
            yield node


def _origin(node: ast.stmt, name: str) -> str:
    """The origin of a name that a statement binds. Two imports of one object have the same."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return str(id(node))
    alias = next(
        candidate
        for candidate in node.names
        if name in (candidate.asname, candidate.name.partition(".")[0], "*")
    )
    module = (node.level * ".", node.module) if isinstance(node, ast.ImportFrom) else ()
    return str((*module, alias.name, alias.asname))


CACHES = frozenset({"cache", "lru_cache"})
"""Decorators of a function that do not change its result."""


def callable_name(decorator: ast.expr) -> str:
    """The last part of a decorator's name.

    It is ``jit`` for ``@triton.jit``, ``@jit`` and ``@triton.jit(noinline=True)``.
    """
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")


# --- names ----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class OwnDefinition:
    """A definition in one of the project's files, which are below the roots."""

    file: ParsedFile
    name: str
    applied: tuple[tuple[Statement, ast.expr], ...] = ()
    """The decorators in calls that lead to it, such as ``jit`` in ``kernel = jit(plain)``,
    innermost first. Each has a statement of its file.
    """


@frozen(kw_only=True)
class ModulePlace:
    """One of these files itself, without its suffix, or a folder of them."""

    place: Path


@frozen(kw_only=True)
class Installed:
    """An object of an installed package, by the statement that imports it."""

    statement: str


Meaning = OwnDefinition | ModulePlace | Installed
_Seen = frozenset[tuple[Path, str]]


@define(kw_only=True)
class Names:
    """Finds the meaning of the global names of files, across imports."""

    roots: tuple[Path, ...]
    """The folders from which absolute imports of files are resolved."""
    decorators: frozenset[str] | None = None
    """The decorators that files keep, as in :class:`ParsedFile`."""
    package: str | None = None
    """The package that kernels import, such as ``triton``.

    If it is given, the ``if`` and ``try`` statements of files are split. Conditions that query the
    package stay whole, because another release may answer otherwise.
    """
    _files: dict[Path, ParsedFile] = field(factory=dict)

    def file(self, path: Path) -> ParsedFile:
        if path not in self._files:
            file = ParsedFile.of(path, text_of(path), decorators=self.decorators)
            self._files[path] = file
            if self.package is not None:
                file.take_apart(lambda node: not self._keeps_condition(file, node))
        return self._files[path]

    def _keeps_condition(self, file: ParsedFile, node: ast.If | ast.Try) -> bool:
        """Whether an ``if`` or a ``try`` is for type checkers, or queries the package."""
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            return True
        return self._asks_package(file, [node.test] if isinstance(node, ast.If) else node.body)

    def _asks_package(
        self, file: ParsedFile, nodes: Sequence[ast.AST], seen: _Seen = frozenset()
    ) -> bool:
        """Whether nodes read attributes of the package, or use definitions that do.

        A test whether the package can be imported does not count.
        """
        inside = [node for part in nodes for node in ast.walk(part)]
        imports = [node for node in inside if isinstance(node, ast.Import | ast.ImportFrom)]
        ours = [node for node in imports if self._is_of_package(ast.unparse(node))]
        if any(isinstance(node, ast.ImportFrom) for node in ours):
            return True
        read_names = set(_accessed_names(inside))
        if any(read_names & defined_names(node) for node in ours):
            return True
        for name in dict.fromkeys(use.name for node in nodes for use in uses(node)):
            meaning = self.meaning(file, name)
            if isinstance(meaning, Installed):
                if name in read_names and self._is_of_package(meaning.statement):
                    return True
            elif (
                isinstance(meaning, OwnDefinition) and (meaning.file.path, meaning.name) not in seen
            ):
                seen |= {(meaning.file.path, meaning.name)}
                binding = [statement.node for statement in meaning.file.binding(meaning.name)]
                if self._asks_package(meaning.file, binding, seen):
                    return True
        return False

    def _is_of_package(self, statement: str) -> bool:
        return re.match(rf"(?:import|from) {self.package}\b", statement) is not None

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
            return self._star_meaning(file, name, seen)
        last = nodes[-1]
        if isinstance(last, ast.Import):
            return self._module(last, name)
        if isinstance(last, ast.ImportFrom):
            return self._import_meaning(file, last, name, seen)
        return OwnDefinition(file=file, name=name)

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
        """The root that a package or module is in; ``None`` for an installed one."""
        return next((root for root in self.roots if _is_ours(root / package)), None)

    def _import_meaning(
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

    def _star_meaning(self, file: ParsedFile, name: str, seen: _Seen) -> Meaning | None:
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
        """Return the path below the roots from which ``from … import`` takes names.

        Returns ``None`` if the import means an installed package.
        """
        parts = node.module.split(".") if node.module else []
        start = file.path.parent if node.level else self._root_of(parts[0])
        for _ in range(node.level - 1):
            start = start.parent if start else None
        return start.joinpath(*parts) if start else None


def _is_ours(place: Path) -> bool:
    return file_of(place) is not None or (os.path.isdir(place) and any(place.glob("*.py")))
