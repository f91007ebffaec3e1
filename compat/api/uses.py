"""The names of a toolchain that the text of a source uses, and their arguments. Pure.

A name is followed through imports, ``import … as …`` and assignments at the top of the module. The
text does not say what an attribute of some value (``x.to(…)``) belongs to, so the attribute is
reported as unresolved. Nothing is imported, and other files are not read.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from attrs import define, evolve, field, frozen

from compat.source.imports import import_origins
from compat.source.parsing import (
    Function,
    FunctionScope,
    bound_names,
    dotted_name,
    needed_statements,
    scope_statements,
)
from compat.toolchains.base import ApiNames

Meanings = Mapping[str, tuple[str, ...]]
"""Name in a scope → the full names that it may stand for; none for a name of other packages."""


@frozen(kw_only=True)
class Call:
    """The arguments of a call."""

    positional: int
    keywords: tuple[str, ...]
    open: bool
    """Whether ``*`` or ``**`` passes more arguments, which the text does not show."""


@frozen(kw_only=True)
class ApiUse:
    """One use of a name."""

    meanings: tuple[str, ...]
    """The full names that it may stand for. Imports under conditions give several; one of them is
    enough.
    """
    line: int
    call: Call | None = None
    condition: int | None = None
    """The line of the innermost ``if`` or ``try`` around it."""
    function: str = ""
    """The kernel, or the helper function, around it; empty outside of them."""
    starred: bool = False
    """Whether only ``from … import *`` can have imported it."""


@frozen(kw_only=True)
class Uses:
    """All uses in a source."""

    uses: tuple[ApiUse, ...]
    unresolved: tuple[str, ...] = ()
    """Attributes in kernels, of values that the text does not determine, in order of their lines.
    """
    not_read: tuple[str, ...] = ()
    """Modules of its own package that it imports, which were not read."""


class NoFunction(ValueError):
    """The source does not define a function of that name. ``names`` are those that it defines."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__("no such function")
        self.names = names


def read_uses(tree: ast.Module, root: str, names: ApiNames, function: str | None = None) -> Uses:
    """Find the names of the package ``root`` that a module uses, or that a function needs.

    The needs of a function include those of the code that it uses. Imports at the top always count,
    because the module cannot be loaded without them. Raises NoFunction.
    """
    reading = _UsesReader(root=root, names=names)
    top = reading.meanings_of(tree.body, {})
    for statement in tree.body if function is None else _needed_statements(tree, function):
        reading.visit(statement, _UseScope(meanings=top, top=True))
    return Uses(
        uses=tuple(sorted(reading.uses, key=lambda use: use.line)),
        unresolved=tuple(name for _, name in sorted(reading.unresolved, key=itemgetter(0))),
        not_read=tuple(dict.fromkeys(reading.not_read)),
    )


def _needed_statements(tree: ast.Module, function: str) -> list[ast.stmt]:
    """The statements that define a function and all that it needs of the module, in their order.

    Imports are among them.
    """
    named = Function | ast.ClassDef
    defining = [
        statement
        for statement in tree.body
        if any(isinstance(node, named) and node.name == function for node in ast.walk(statement))
    ]
    if not defining:
        raise NoFunction(
            tuple(dict.fromkeys(node.name for node in ast.walk(tree) if isinstance(node, Function)))
        )
    imports = (
        statement for statement in tree.body if isinstance(statement, ast.Import | ast.ImportFrom)
    )
    return needed_statements(tree.body, [*defining[-1:], *imports])


@frozen(kw_only=True)
class _UseScope:
    """The context of a node."""

    meanings: Meanings
    condition: int | None = None
    function: str = ""
    local: frozenset[str] = frozenset()
    """The names that a function around it binds."""
    top: bool = False

    def binding(self, names: frozenset[str]) -> _UseScope:
        """The context inside a scope that binds these names to unknown values."""
        return evolve(
            self, meanings={**self.meanings, **dict.fromkeys(names, ())}, local=self.local | names
        )

    def under(self, line: int) -> _UseScope:
        return evolve(self, condition=line)


@define(kw_only=True)
class _UsesReader:
    """Collects the uses in one module."""

    root: str
    names: ApiNames
    uses: list[ApiUse] = field(factory=list)
    unresolved: list[tuple[int, str]] = field(factory=list)
    """The line and the name of each attribute of an unknown value."""
    not_read: list[str] = field(factory=list)
    starred: list[str] = field(factory=list)

    # --- what names stand for ---

    def meanings_of(self, body: Iterable[ast.stmt], outside: Meanings) -> Meanings:
        """The meanings of the names that a scope binds.

        A name has several if several statements bind it.
        """
        meanings_by_name: dict[str, tuple[str, ...]] = {}
        for statement in scope_statements(body):
            for name, meanings in self._bindings(statement, {**outside, **meanings_by_name}):
                meanings_by_name[name] = tuple(
                    dict.fromkeys((*meanings_by_name.get(name, ()), *meanings))
                )
        return meanings_by_name

    def _bindings(
        self, statement: ast.stmt, meanings: Meanings
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            origins = import_origins([statement], self.names.packages)
            yield from (
                (name, self._toolchain_meanings(origin)) for name, origin in origins.items()
            )
        elif (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            yield statement.targets[0].id, self._chain(statement.value, meanings)
        else:
            yield from (
                (name, ()) for name in bound_names([statement]) if not hasattr(statement, "body")
            )
            if isinstance(statement, Function | ast.ClassDef):
                yield statement.name, ()

    def _toolchain_meanings(self, full: str) -> tuple[str, ...]:
        return (full,) if full == self.root or full.startswith(f"{self.root}.") else ()

    def _chain(self, node: ast.expr, meanings: Meanings) -> tuple[str, ...]:
        """The meanings of ``a.b.c``; empty if ``a`` is not a name of the toolchain.

        Also empty for a node that is not such a chain.
        """
        first, dot, rest = dotted_name(node).partition(".")
        return tuple(f"{meant}{dot}{rest}" for meant in meanings.get(first, ()))

    # --- where they are used ---

    def visit(self, node: ast.AST, scope: _UseScope) -> None:
        """Record all uses in a node."""
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
            case ast.ClassDef():
                self._all([*node.decorator_list, *node.bases, *node.keywords], scope)
                self._all(
                    node.body,
                    evolve(
                        scope,
                        meanings={**scope.meanings, **self.meanings_of(node.body, scope.meanings)},
                        top=False,
                    ),
                )
            case ast.If() | ast.IfExp():
                self.visit(node.test, scope)
                rest = (
                    [node.body, node.orelse]
                    if isinstance(node, ast.IfExp)
                    else [*node.body, *node.orelse]
                )
                self._all(rest, scope.under(node.lineno))
            case ast.Try():
                self._all([*node.body, *node.handlers, *node.orelse], scope.under(node.lineno))
                self._all(node.finalbody, scope)
            case ast.BoolOp():
                self.visit(node.values[0], scope)
                self._all(node.values[1:], scope.under(node.lineno))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                targets = bound_names(generator.target for generator in node.generators)
                self._all(ast.iter_child_nodes(node), scope.binding(targets))
            case ast.Call():
                self._reference(node.func, scope, _call(node))
                self._all([*node.args, *node.keywords], scope)
            case ast.Name() | ast.Attribute():
                self._reference(node, scope, None)
            case _:
                self._all(ast.iter_child_nodes(node), scope)

    def _all(self, nodes: Iterable[ast.AST | None], scope: _UseScope) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node, scope)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: _UseScope) -> None:
        if isinstance(node, ast.ImportFrom) and node.level:
            self.not_read.append("." * node.level + (node.module or ""))
        for alias in node.names:
            if isinstance(node, ast.Import):
                meanings = self._toolchain_meanings(alias.name)
            elif alias.name == "*":
                meanings = () if node.level else self._toolchain_meanings(node.module or "")
                self.starred += meanings
            else:
                meanings = (
                    self._toolchain_meanings(f"{node.module}.{alias.name}")
                    if not node.level
                    else ()
                )
            self._note(node, meanings, scope)

    def _function(self, node: Function | ast.Lambda, scope: _UseScope) -> None:
        own = FunctionScope.of(node)
        self._all(own.outside, scope)
        inside = evolve(scope.binding(own.local), top=False)
        if isinstance(node, Function):
            meanings = self.meanings_of(node.body, scope.meanings)
            inside = evolve(
                inside,
                meanings={
                    **inside.meanings,
                    **{name: meant for name, meant in meanings.items() if name in own.local},
                },
                condition=None if scope.top else scope.condition,
                function=scope.function or (node.name if self._makes_kernel(node, scope) else ""),
            )
        self._all(own.body, inside)

    def _makes_kernel(self, node: Function, scope: _UseScope) -> bool:
        decorators = (
            decorator.func if isinstance(decorator, ast.Call) else decorator
            for decorator in node.decorator_list
        )
        return any(
            not self.names.makes_kernels.isdisjoint(self._chain(decorator, scope.meanings))
            for decorator in decorators
        )

    def _reference(self, node: ast.expr, scope: _UseScope, call: Call | None) -> None:
        meanings = self._chain(node, scope.meanings)
        if meanings:
            self._note(node, meanings, scope, call)
        elif isinstance(node, ast.Attribute):
            root = dotted_name(node).partition(".")[0]
            foreign = root and root not in scope.local
            if scope.function and not foreign:
                self.unresolved.append((node.lineno, node.attr))
            self.visit(node.value, scope)
        elif not isinstance(node, ast.Name):
            self.visit(node, scope)
        elif (
            isinstance(node.ctx, ast.Load)
            and node.id not in scope.meanings
            and not hasattr(builtins, node.id)
        ):
            self._note(
                node,
                tuple(f"{module}.{node.id}" for module in self.starred),
                scope,
                call,
                starred=True,
            )

    def _note(
        self,
        node: ast.expr | ast.stmt,
        meanings: tuple[str, ...],
        scope: _UseScope,
        call: Call | None = None,
        *,
        starred: bool = False,
    ) -> None:
        if meanings:
            self.uses.append(
                ApiUse(
                    meanings=meanings,
                    line=node.lineno,
                    call=call,
                    condition=scope.condition,
                    function=scope.function,
                    starred=starred,
                )
            )


def _call(node: ast.Call) -> Call:
    starred = [arg for arg in node.args if isinstance(arg, ast.Starred)]
    return Call(
        positional=len(node.args) - len(starred),
        keywords=tuple(keyword.arg for keyword in node.keywords if keyword.arg),
        open=bool(starred) or any(keyword.arg is None for keyword in node.keywords),
    )
